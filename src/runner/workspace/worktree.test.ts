import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gitIn, makeRepo, put, removeAll, stateOf } from '../../../test/support/repo.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { keptRef as ref, type WorkspaceBench, workspaceBench } from '../../../test/support/workspaces.ts';
import { keep } from './keep.ts';
import { keepIfLeft, pruneWorkspaces } from './prune.ts';
import { findWorkspace } from './workspace.ts';

let bench: WorkspaceBench;
let temp: string;
let home: string;
let repo: string;
beforeEach(() => {
  bench = workspaceBench();
  ({ temp, home, repo } = bench);
});
afterEach(() => bench.end());

it(verifies('R31')('is made also while others add worktrees to the same repository'), async () => {
  makeRepo(repo, { a: '1\n' });
  // Three at a time, as a person, another installation, or the git of a killed runner would.
  const others = [1, 2, 3].map((n) =>
    spawn(
      'sh',
      [
        '-c',
        `i=0; while :; do i=$((i+1)); git worktree add --force --detach --no-checkout -q "$0/$i" HEAD; git worktree remove --force "$0/$i"; done`,
        join(temp, `by-${n}`),
      ],
      { cwd: repo, stdio: 'ignore' },
    ),
  );
  try {
    for (let n = 0; n < 12; n++) expect((await bench.made(bench.ask({}, `beside-${n}`))).mode).toBe('worktree');
  } finally {
    for (const other of others) other.kill('SIGKILL');
    await Promise.all(others.map((o) => o.exitCode ?? o.signalCode ?? once(o, 'exit')));
  }
});

describe('the mode', () => {
  it(verifies('R31')('is worktree in a git repository with a cap over 1, else shared'), async () => {
    makeRepo(repo, { a: '1\n' });
    const plain = join(temp, 'plain');
    mkdirSync(plain);
    expect((await bench.made(bench.ask())).mode).toBe('worktree');
    expect((await bench.made(bench.ask({ max_parallel_tasks: 1 }, 'exec2'))).mode).toBe('shared');
    expect((await bench.made(bench.ask({ workspace: plain }, 'exec3'))).mode).toBe('shared');
    expect((await bench.made(bench.ask({ workspace_mode: 'copy' }, 'exec4'))).mode).toBe('copy');
  });

  it('is shared in a directory of its own for an agent without a workspace, also inside a repository around DROVER_HOME', async () => {
    makeRepo(temp, { dotfile: '1\n' });
    const own = await bench.made(bench.ask({ workspace: null }));
    expect(own).toMatchObject({ mode: 'shared', cwd: join(home, 'workspaces', 'coder'), repository: null });
    expect(statSync(own.cwd).mode & 0o777).toBe(0o700);
  });

  it('is shared in a directory that the repository around it ignores', async () => {
    makeRepo(repo, { '.gitignore': 'build/\n' });
    mkdirSync(join(repo, 'build'));
    const ignored = await bench.made(bench.ask({ workspace: join(repo, 'build') }));
    expect(ignored).toMatchObject({ mode: 'shared', repository: null });
    expect(ignored.note).toContain('ignores this directory');
  });

  it('that cannot be had is a problem with advice, not another mode', async () => {
    mkdirSync(repo);
    const none = await bench.problem(bench.ask({ workspace_mode: 'worktree' }));
    expect(none.code).toBe('workspace_unusable');
    expect(none.message).toContain('git init');
    put(temp, { file: '' });
    expect(await bench.problem(bench.ask({ workspace: join(temp, 'absent') }))).toMatchObject({
      code: 'workdir_missing',
    });
    expect((await bench.problem(bench.ask({ workspace: join(temp, 'file') }))).message).toContain('is not a directory');
    const inside = await bench.problem(bench.ask({ workspace: temp, workspace_mode: 'copy' }));
    expect(inside.message).toContain('Move DROVER_HOME out of the workspace');
  });
});

describe('a worktree', () => {
  it(
    verifies('R31')('is kept as a commit under a ref with what changed, and leaves the person’s repository as it was'),
    async () => {
      makeRepo(repo, { a: '1\n2\n', b: 'x\n', '.gitignore': 'secret\n' });
      put(repo, { a: 'the person is editing\n', staged: 'yes\n' });
      gitIn(repo, 'add', 'staged');
      const before = stateOf(repo);
      const w = await bench.made(bench.ask());
      expect(w.cwd).toBe(join(home, 'runner', 'worktrees', 'exec1'));
      expect(readFileSync(join(w.cwd, 'a'), 'utf8')).toBe('1\n2\n');
      put(w.cwd, { a: '1\n2\n3\n', 'new/file': 'n\n', secret: 's\n' });
      rmSync(join(w.cwd, 'b'));
      const kept = await keep({ home, workspace: w, attempt: 'att1' });
      expect(kept).toEqual({
        mode: 'worktree',
        path: w.cwd,
        ref: ref(),
        commit: gitIn(repo, 'rev-parse', ref()),
        files_changed: 3,
        insertions: 2,
        deletions: 1,
        keep_error: null,
        diff: { text: expect.stringContaining('3 files changed, 2 insertions(+), 1 deletion(-)'), truncated: false },
      });
      expect(bench.show(ref(), 'new/file')).toBe('n');
      expect(() => bench.show(ref(), 'secret')).toThrow();
      expect(existsSync(w.root)).toBe(false);
      expect(findWorkspace(home, 'exec1')).toBeNull();
      expect(stateOf(repo)).toEqual(before);
      expect(gitIn(repo, 'fsck', '--no-dangling')).toBe('');
    },
  );

  it(
    verifies('R31')('keeps what the agent committed, staged and left half done, also with its locks still there'),
    async () => {
      makeRepo(repo, { a: '1\n' });
      const w = await bench.made(bench.ask());
      put(w.cwd, { one: '1\n' });
      gitIn(w.cwd, 'add', 'one');
      gitIn(w.cwd, 'commit', '--quiet', '-m', 'by the agent');
      put(w.cwd, { two: '2\n', three: '3\n' });
      gitIn(w.cwd, 'add', 'two');
      writeFileSync(join(w.git_dir!, 'index.lock'), '');
      writeFileSync(join(w.git_dir!, 'index'), 'torn by a kill');
      const kept = await keep({ home, workspace: w, attempt: 'att1' });
      expect(kept).toMatchObject({ files_changed: 3, insertions: 3, keep_error: null });
      expect(gitIn(repo, 'log', '--format=%s', ref()).split('\n')).toEqual(['Kept by Drover', 'by the agent', 'first']);
    },
  );

  it('without changes is kept as the commit it began from', async () => {
    makeRepo(repo, { a: '1\n' });
    const kept = await keep({ home, workspace: await bench.made(bench.ask()), attempt: 'att1' });
    expect(kept).toMatchObject({
      commit: gitIn(repo, 'rev-parse', 'HEAD'),
      files_changed: 0,
      insertions: 0,
      deletions: 0,
    });
  });

  it(
    verifies('R24', 'R31')('of a retry goes on at the same path from the kept tree; the changes count from the first'),
    async () => {
      makeRepo(repo, { a: '1\n' });
      const first = await bench.made(bench.ask());
      put(first.cwd, { one: '1\n' });
      await keep({ home, workspace: first, attempt: 'att1' });
      const second = await bench.made(bench.ask({}, 'exec1', ref('att1')));
      expect(second.cwd).toBe(first.cwd);
      expect(readFileSync(join(second.cwd, 'one'), 'utf8')).toBe('1\n');
      put(second.cwd, { two: '2\n' });
      expect(await keep({ home, workspace: second, attempt: 'att2' })).toMatchObject({
        files_changed: 2,
        insertions: 2,
      });
      const other = await bench.made(bench.ask({}, 'exec9', ref('att2')));
      expect(readdirSync(other.cwd).sort()).toEqual(['.git', 'a', 'one', 'two']);
      expect(await keep({ home, workspace: other, attempt: 'att3' })).toMatchObject({ files_changed: 0 });
    },
  );

  it(verifies('R31')('that a killed runner left is used again, its unkept work and all'), async () => {
    makeRepo(repo, { a: '1\n' });
    const left = await bench.made(bench.ask());
    put(left.cwd, { half: 'done\n' });
    const again = await bench.made(bench.ask());
    expect(again).toEqual(left);
    expect(readFileSync(join(again.cwd, 'half'), 'utf8')).toBe('done\n');
  });

  it('that was only half made when its runner was killed is made anew', async () => {
    makeRepo(repo, { a: '1\n' });
    put(join(home, 'runner', 'worktrees', 'exec1'), { '.git': 'gitdir: /nowhere\n', half: 'h\n' });
    put(join(home, 'runner', 'copies', 'exec2'), { half: 'h\n' });
    expect(readdirSync((await bench.made(bench.ask())).cwd).sort()).toEqual(['.git', 'a']);
    const copy = await bench.made(bench.ask({ workspace_mode: 'copy' }, 'exec2'));
    expect(readdirSync(copy.cwd).sort()).toEqual(['.git', 'a']);
  });

  it(verifies('R31')('that nobody works in any more is kept and removed at the next start'), async () => {
    makeRepo(repo, { a: '1\n' });
    const left = await bench.made(bench.ask());
    const used = await bench.made(bench.ask({}, 'exec2'));
    put(left.cwd, { half: 'done\n' });
    const kept = await pruneWorkspaces(home, new Set(['exec2']));
    expect(kept.map((k) => k.ref)).toEqual(['refs/drover/exec1/left']);
    expect(bench.show('refs/drover/exec1/left', 'half')).toBe('done');
    expect([existsSync(left.root), existsSync(used.root)]).toEqual([false, true]);
  });

  it('begins in the agent’s own directory below the top, also one that git does not know yet', async () => {
    makeRepo(repo, { 'app/a': '1\n', other: 'o\n' });
    mkdirSync(join(repo, 'fresh'));
    const known = await bench.made(bench.ask({ workspace: join(repo, 'app') }));
    expect(known.cwd).toBe(join(known.root, 'app/'));
    expect(existsSync(join(known.root, 'other'))).toBe(true);
    const fresh = await bench.made(bench.ask({ workspace: join(repo, 'fresh') }, 'exec2'));
    expect(readdirSync(fresh.cwd)).toEqual([]);
  });

  it(verifies('R31')('of a repository without any commit begins from its files as they are'), async () => {
    makeRepo(repo);
    put(repo, { draft: 'd\n' });
    const w = await bench.made(bench.ask());
    expect(readFileSync(join(w.cwd, 'draft'), 'utf8')).toBe('d\n');
    put(w.cwd, { more: 'm\n' });
    expect(await keep({ home, workspace: w, attempt: 'att1' })).toMatchObject({ files_changed: 1, keep_error: null });
    expect(gitIn(repo, 'status', '--porcelain')).toBe('?? draft');
    expect(() => gitIn(repo, 'rev-parse', '--verify', '--quiet', 'HEAD')).toThrow();
  });

  it(verifies('R31')('is had by six at once in one repository'), async () => {
    makeRepo(repo, { a: '1\n' });
    const names = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6'];
    const all = await Promise.all(names.map((name) => bench.made(bench.ask({}, name))));
    for (const [i, w] of all.entries()) put(w.cwd, { a: `${i}\n` });
    const kept = await Promise.all(all.map((workspace) => keep({ home, workspace, attempt: 'att1' })));
    expect(kept.map((k) => k.keep_error)).toEqual(names.map(() => null));
    expect(names.map((name) => bench.show(ref('att1', name), 'a'))).toEqual(['0', '1', '2', '3', '4', '5']);
    expect(stateOf(repo).worktrees!.match(/^worktree /gm)).toHaveLength(1);
  });

  it(
    verifies('R31')('that could not be kept at its ending is kept when its work goes on, and that begins there'),
    async () => {
      makeRepo(repo, { a: '1\n' });
      const before = stateOf(repo);
      const w = await bench.made(bench.ask());
      put(w.cwd, { work: 'w\n' });
      writeFileSync(join(repo, '.git', 'refs', 'drover'), 'in the way of every ref');
      expect(await keep({ home, workspace: w, attempt: 'att1' })).toMatchObject({ ref: null });
      rmSync(join(repo, '.git', 'refs', 'drover'));
      await keepIfLeft(home, ref('left'), () => true);
      expect([gitIn(repo, 'for-each-ref', ref('left')), existsSync(w.root)]).toEqual(['', true]);
      await keepIfLeft(home, ref('left'), () => false);
      const next = await bench.made(bench.ask({}, 'exec2', ref('left')));
      expect(readFileSync(join(next.cwd, 'work'), 'utf8')).toBe('w\n');
      expect(bench.show(ref('left'), 'work')).toBe('w');
      expect([existsSync(w.root), findWorkspace(home, 'exec1'), next.note]).toEqual([false, null, null]);
      await keep({ home, workspace: next, attempt: 'att2' });
      expect(stateOf(repo)).toEqual(before);
    },
  );

  it('says where the files are when its tree cannot be kept, and leaves them there', async () => {
    makeRepo(repo, { a: '1\n' });
    const w = await bench.made(bench.ask());
    put(w.cwd, { work: 'w\n' });
    removeAll(join(repo, '.git'));
    const kept = await keep({ home, workspace: w, attempt: 'att1' });
    expect(kept).toMatchObject({ ref: null, commit: null, files_changed: null });
    expect(kept.keep_error).toContain(`The files are still in ${w.root}`);
    expect(readFileSync(join(w.cwd, 'work'), 'utf8')).toBe('w\n');
  });

  it(
    verifies('R31')('that its agent removed is kept as what it left: nothing, behind the commits it had made'),
    async () => {
      makeRepo(repo, { a: '1\n' });
      const w = await bench.made(bench.ask());
      put(w.cwd, { work: 'w\n' });
      gitIn(w.cwd, 'add', '.');
      gitIn(w.cwd, 'commit', '--quiet', '-m', 'by the agent');
      rmSync(w.root, { recursive: true });
      const kept = await keep({ home, workspace: w, attempt: 'att1' });
      expect(kept).toMatchObject({ files_changed: 1, deletions: 1, keep_error: null, ref: ref() });
      expect(bench.show(`${ref()}^`, 'work')).toBe('w');
      expect(existsSync(w.root)).toBe(false);
      expect(stateOf(repo).worktrees!.match(/^worktree /gm)).toHaveLength(1);
    },
  );

  it('does not forget a worktree of the person whose disk is away', async () => {
    makeRepo(repo, { a: '1\n' });
    gitIn(repo, 'worktree', 'add', '--quiet', '-b', 'mine', join(temp, 'mine'));
    removeAll(join(temp, 'mine'));
    await keep({ home, workspace: await bench.made(bench.ask()), attempt: 'att1' });
    expect(stateOf(repo).worktrees).toContain(join(temp, 'mine'));
  });
});
