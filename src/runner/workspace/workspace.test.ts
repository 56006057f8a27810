import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gitIn, makeRepo, put, removeAll, stateOf, tempDir } from '../../../test/support/repo.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { diffOf } from './diff.ts';
import { keep, parseNumstat } from './keep.ts';
import { prepare } from './prepare.ts';
import { pruneWorkspaces } from './prune.ts';
import { findWorkspace, type Workspace, type WorkspaceAsk } from './workspace.ts';

let temp: string;
let home: string;
let repo: string;
beforeEach(() => {
  temp = tempDir();
  home = join(temp, 'home');
  repo = join(temp, 'repo');
  mkdirSync(home);
});
afterEach(() => removeAll(temp));

const ask = (
  more: Partial<WorkspaceAsk['agent']> = {},
  execution = 'exec1',
  resume: string | null = null,
): WorkspaceAsk => ({
  home,
  execution,
  agent: { name: 'coder', workspace: repo, workspace_mode: null, max_parallel_tasks: 3, ...more },
  resume_ref: resume,
});
const made = async (a: WorkspaceAsk): Promise<Workspace> => {
  const prepared = await prepare(a);
  if ('problem' in prepared) throw new Error(prepared.problem.message);
  return prepared.workspace;
};
const problem = async (a: WorkspaceAsk) => {
  const prepared = await prepare(a);
  if ('workspace' in prepared) throw new Error('it was prepared');
  return prepared.problem;
};
const show = (ref: string, file: string) => gitIn(repo, 'show', `${ref}:${file}`);
const ref = (attempt = 'att1', execution = 'exec1') => `refs/drover/${execution}/${attempt}`;

describe('the mode', () => {
  it(verifies('R31')('is worktree in a git repository with a cap over 1, else shared'), async () => {
    makeRepo(repo, { a: '1\n' });
    const plain = join(temp, 'plain');
    mkdirSync(plain);
    expect((await made(ask())).mode).toBe('worktree');
    expect((await made(ask({ max_parallel_tasks: 1 }, 'exec2'))).mode).toBe('shared');
    expect((await made(ask({ workspace: plain }, 'exec3'))).mode).toBe('shared');
    expect((await made(ask({ workspace_mode: 'copy' }, 'exec4'))).mode).toBe('copy');
  });

  it('is shared in a directory of its own for an agent without a workspace, also inside a repository around DROVER_HOME', async () => {
    makeRepo(temp, { dotfile: '1\n' });
    const own = await made(ask({ workspace: null }));
    expect(own).toMatchObject({ mode: 'shared', cwd: join(home, 'workspaces', 'coder'), repository: null });
    expect(statSync(own.cwd).mode & 0o777).toBe(0o700);
  });

  it('is shared in a directory that the repository around it ignores', async () => {
    makeRepo(repo, { '.gitignore': 'build/\n' });
    mkdirSync(join(repo, 'build'));
    const ignored = await made(ask({ workspace: join(repo, 'build') }));
    expect(ignored).toMatchObject({ mode: 'shared', repository: null });
    expect(ignored.note).toContain('ignores this directory');
  });

  it('that cannot be had is a problem with advice, not another mode', async () => {
    mkdirSync(repo);
    const none = await problem(ask({ workspace_mode: 'worktree' }));
    expect(none.code).toBe('workspace_unusable');
    expect(none.message).toContain('git init');
    put(temp, { file: '' });
    expect(await problem(ask({ workspace: join(temp, 'absent') }))).toMatchObject({ code: 'workdir_missing' });
    expect((await problem(ask({ workspace: join(temp, 'file') }))).message).toContain('is not a directory');
    const inside = await problem(ask({ workspace: temp, workspace_mode: 'copy' }));
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
      const w = await made(ask());
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
      });
      expect(show(ref(), 'new/file')).toBe('n');
      expect(() => show(ref(), 'secret')).toThrow();
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
      const w = await made(ask());
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
    const kept = await keep({ home, workspace: await made(ask()), attempt: 'att1' });
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
      const first = await made(ask());
      put(first.cwd, { one: '1\n' });
      await keep({ home, workspace: first, attempt: 'att1' });
      const second = await made(ask({}, 'exec1', ref('att1')));
      expect(second.cwd).toBe(first.cwd);
      expect(readFileSync(join(second.cwd, 'one'), 'utf8')).toBe('1\n');
      put(second.cwd, { two: '2\n' });
      expect(await keep({ home, workspace: second, attempt: 'att2' })).toMatchObject({
        files_changed: 2,
        insertions: 2,
      });
      const other = await made(ask({}, 'exec9', ref('att2')));
      expect(readdirSync(other.cwd).sort()).toEqual(['.git', 'a', 'one', 'two']);
      expect(await keep({ home, workspace: other, attempt: 'att3' })).toMatchObject({ files_changed: 0 });
    },
  );

  it(verifies('R31')('that a killed runner left is used again, its unkept work and all'), async () => {
    makeRepo(repo, { a: '1\n' });
    const left = await made(ask());
    put(left.cwd, { half: 'done\n' });
    const again = await made(ask());
    expect(again).toEqual(left);
    expect(readFileSync(join(again.cwd, 'half'), 'utf8')).toBe('done\n');
  });

  it(verifies('R31')('that nobody works in any more is kept and removed at the next start'), async () => {
    makeRepo(repo, { a: '1\n' });
    const left = await made(ask());
    const used = await made(ask({}, 'exec2'));
    put(left.cwd, { half: 'done\n' });
    const kept = await pruneWorkspaces(home, new Set(['exec2']));
    expect(kept.map((k) => k.ref)).toEqual(['refs/drover/exec1/left']);
    expect(show('refs/drover/exec1/left', 'half')).toBe('done');
    expect([existsSync(left.root), existsSync(used.root)]).toEqual([false, true]);
  });

  it('begins in the agent’s own directory below the top, also one that git does not know yet', async () => {
    makeRepo(repo, { 'app/a': '1\n', other: 'o\n' });
    mkdirSync(join(repo, 'fresh'));
    const known = await made(ask({ workspace: join(repo, 'app') }));
    expect(known.cwd).toBe(join(known.root, 'app/'));
    expect(existsSync(join(known.root, 'other'))).toBe(true);
    const fresh = await made(ask({ workspace: join(repo, 'fresh') }, 'exec2'));
    expect(readdirSync(fresh.cwd)).toEqual([]);
  });

  it(verifies('R31')('of a repository without any commit begins from its files as they are'), async () => {
    makeRepo(repo);
    put(repo, { draft: 'd\n' });
    const w = await made(ask());
    expect(readFileSync(join(w.cwd, 'draft'), 'utf8')).toBe('d\n');
    put(w.cwd, { more: 'm\n' });
    expect(await keep({ home, workspace: w, attempt: 'att1' })).toMatchObject({ files_changed: 1, keep_error: null });
    expect(gitIn(repo, 'status', '--porcelain')).toBe('?? draft');
    expect(() => gitIn(repo, 'rev-parse', '--verify', '--quiet', 'HEAD')).toThrow();
  });

  it(verifies('R31')('is had by six at once in one repository'), async () => {
    makeRepo(repo, { a: '1\n' });
    const names = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6'];
    const all = await Promise.all(names.map((name) => made(ask({}, name))));
    for (const [i, w] of all.entries()) put(w.cwd, { a: `${i}\n` });
    const kept = await Promise.all(all.map((workspace) => keep({ home, workspace, attempt: 'att1' })));
    expect(kept.map((k) => k.keep_error)).toEqual(names.map(() => null));
    expect(names.map((name) => show(ref('att1', name), 'a'))).toEqual(['0', '1', '2', '3', '4', '5']);
    expect(stateOf(repo).worktrees!.match(/^worktree /gm)).toHaveLength(1);
  });

  it('says where the files are when its tree cannot be kept, and leaves them there', async () => {
    makeRepo(repo, { a: '1\n' });
    const w = await made(ask());
    put(w.cwd, { work: 'w\n' });
    removeAll(join(repo, '.git'));
    const kept = await keep({ home, workspace: w, attempt: 'att1' });
    expect(kept).toMatchObject({ ref: null, commit: null, files_changed: null });
    expect(kept.keep_error).toContain(`The files are still in ${w.root}`);
    expect(readFileSync(join(w.cwd, 'work'), 'utf8')).toBe('w\n');
  });

  it('does not forget a worktree of the person whose disk is away', async () => {
    makeRepo(repo, { a: '1\n' });
    gitIn(repo, 'worktree', 'add', '--quiet', '-b', 'mine', join(temp, 'mine'));
    removeAll(join(temp, 'mine'));
    await keep({ home, workspace: await made(ask()), attempt: 'att1' });
    expect(stateOf(repo).worktrees).toContain(join(temp, 'mine'));
  });
});

describe('a shared workspace', () => {
  const shared = { workspace_mode: 'shared' as const };

  it(
    verifies('R31')('is kept, too, counted from what was there before: index, branch and HEAD stay the person’s'),
    async () => {
      makeRepo(repo, { a: '1\n', b: '1\n' });
      put(repo, { a: 'the person is editing\n', staged: 'yes\n', untracked: 'u\n' });
      gitIn(repo, 'add', 'staged');
      const w = await made(ask(shared));
      expect(w).toMatchObject({ cwd: repo, root: repo });
      put(repo, { b: '2\n', fresh: 'f\n' });
      const before = stateOf(repo);
      const index = readFileSync(join(repo, '.git/index'));
      const kept = await keep({ home, workspace: w, attempt: 'att1' });
      expect(kept).toMatchObject({ files_changed: 2, insertions: 2, deletions: 1, keep_error: null, ref: ref() });
      expect(show(ref(), 'a')).toBe('the person is editing');
      expect(stateOf(repo)).toEqual(before);
      expect(readFileSync(join(repo, '.git/index')).equals(index)).toBe(true);
    },
  );

  it('without git is a directory and nothing more', async () => {
    mkdirSync(repo);
    const kept = await keep({ home, workspace: await made(ask(shared)), attempt: 'att1' });
    expect(kept).toMatchObject({ mode: 'shared', path: repo, ref: null, commit: null, keep_error: null });
  });

  it(
    verifies('R45')('never takes DROVER_HOME into a tree, nor a large new file, and names what is not in it'),
    async () => {
      makeRepo(temp, { a: '1\n' });
      put(home, { 'secret.key': 'k' });
      const w = await made(ask({ ...shared, workspace: temp }));
      put(temp, { fresh: 'f\n', 'odd [*] name': 'o\n' });
      const large = join(temp, 'large*');
      writeFileSync(large, '');
      truncateSync(large, 101 * 1024 * 1024);
      const kept = await keep({ home, workspace: w, attempt: 'att1' });
      expect(kept.keep_error).toBe('Not in the kept tree: large* is a new file above 100 MiB');
      const names = gitIn(temp, 'ls-tree', '-r', '--name-only', ref()).split('\n');
      expect(names).toEqual(['a', 'fresh', 'odd [*] name']);
    },
  );

  it('with a repository inside, even an empty one, is kept without it', async () => {
    makeRepo(repo, { a: '1\n' });
    const w = await made(ask(shared));
    makeRepo(join(repo, 'empty'));
    makeRepo(join(repo, 'full'), { x: '1\n' });
    put(repo, { fresh: 'f\n' });
    const kept = await keep({ home, workspace: w, attempt: 'att1' });
    expect(show(ref(), 'fresh')).toBe('f');
    expect(kept.keep_error).toContain('empty');
  });
});

describe('a copy', () => {
  const copy = { workspace_mode: 'copy' as const };

  it(verifies('R31')('of a repository is kept in it and removed; the original is not touched'), async () => {
    makeRepo(repo, { a: '1\n', '.gitignore': 'modules\n' });
    put(repo, { a: 'editing\n', 'modules/m': 'm\n' });
    const before = stateOf(repo);
    const w = await made(ask(copy));
    expect(readFileSync(join(w.cwd, 'modules/m'), 'utf8')).toBe('m\n');
    put(w.cwd, { a: 'by the agent\n' });
    gitIn(w.cwd, 'checkout', '--quiet', '-b', 'agents-branch');
    const kept = await keep({ home, workspace: w, attempt: 'att1' });
    expect(kept).toMatchObject({ mode: 'copy', files_changed: 1, insertions: 1, deletions: 1, keep_error: null });
    expect(show(ref(), 'a')).toBe('by the agent');
    expect(existsSync(w.root)).toBe(false);
    expect(stateOf(repo)).toEqual(before);
  });

  it('of a directory below the top is kept at its place in the tree', async () => {
    makeRepo(repo, { 'app/a': '1\n', other: 'o\n' });
    const w = await made(ask({ ...copy, workspace: join(repo, 'app') }));
    put(w.cwd, { a: '2\n' });
    expect(await keep({ home, workspace: w, attempt: 'att1' })).toMatchObject({ files_changed: 1, keep_error: null });
    expect([show(ref(), 'app/a'), show(ref(), 'other')]).toEqual(['2', 'o']);
  });

  it(verifies('R31')('of a person’s linked worktree does not lead back to its index and HEAD'), async () => {
    makeRepo(repo, { a: '1\n' });
    const linked = join(temp, 'linked');
    gitIn(repo, 'worktree', 'add', '--quiet', '-b', 'mine', linked);
    const before = stateOf(linked);
    const w = await made(ask({ ...copy, workspace: linked }));
    put(w.cwd, { a: '2\n' });
    expect(() => gitIn(w.cwd, 'rev-parse', '--git-dir')).toThrow();
    expect(await keep({ home, workspace: w, attempt: 'att1' })).toMatchObject({ files_changed: 1, keep_error: null });
    expect(stateOf(linked)).toEqual(before);
  });

  it(verifies('R31')('of a retry starts from the kept tree, deletions too'), async () => {
    makeRepo(repo, { a: '1\n', b: '1\n' });
    const first = await made(ask(copy));
    put(first.cwd, { one: '1\n' });
    rmSync(join(first.cwd, 'b'));
    await keep({ home, workspace: first, attempt: 'att1' });
    const second = await made(ask(copy, 'exec1', ref('att1')));
    expect(readdirSync(second.cwd).sort()).toEqual(['.git', 'a', 'one']);
    expect(await keep({ home, workspace: second, attempt: 'att2' })).toMatchObject({ files_changed: 2 });
  });

  it('without git stays where it is, since nothing else holds its work', async () => {
    put(repo, { a: '1\n' });
    symlinkSync('a', join(repo, 'link'));
    const w = await made(ask(copy));
    put(w.cwd, { a: '2\n' });
    const kept = await keep({ home, workspace: w, attempt: 'att1' });
    expect(kept).toMatchObject({ path: w.cwd, ref: null, keep_error: null });
    expect(readFileSync(join(w.cwd, 'link'), 'utf8')).toBe('2\n');
    expect(readFileSync(join(repo, 'a'), 'utf8')).toBe('1\n');
  });
});

describe('git is run', () => {
  it(
    verifies('R31')('without hooks, signing, filters of a foreign monitor, or a name in the configuration'),
    async () => {
      makeRepo(repo, { a: '1\n' });
      const ran = join(temp, 'ran');
      for (const hook of ['post-checkout', 'pre-commit', 'reference-transaction', 'post-index-change']) {
        put(join(repo, '.git/hooks'), { [hook]: `#!/bin/sh\necho ${hook} >> ${ran}\nexit 1\n` });
        chmodSync(join(repo, '.git/hooks', hook), 0o755);
      }
      put(repo, { '../monitor': `#!/bin/sh\necho monitor >> ${ran}\n` });
      chmodSync(join(temp, 'monitor'), 0o755);
      gitIn(repo, 'config', 'commit.gpgSign', 'true');
      gitIn(repo, 'config', 'gpg.program', '/nowhere/gpg');
      gitIn(repo, 'config', 'core.fsmonitor', join(temp, 'monitor'));
      rmSync(ran, { force: true });
      const w = await made(ask());
      put(w.cwd, { a: '2\n' });
      expect(await keep({ home, workspace: w, attempt: 'att1' })).toMatchObject({ files_changed: 1, keep_error: null });
      expect(existsSync(ran)).toBe(false);
      expect(gitIn(repo, 'log', '-1', '--format=%an %ae', ref())).toBe('Drover drover@localhost');
    },
  );

  it('where whoever started Drover had pointed git elsewhere', async () => {
    makeRepo(repo, { a: '1\n' });
    process.env.GIT_DIR = '/nowhere';
    process.env.GIT_INDEX_FILE = '/nowhere/index';
    try {
      expect((await made(ask())).mode).toBe('worktree');
    } finally {
      delete process.env.GIT_DIR;
      delete process.env.GIT_INDEX_FILE;
    }
  });

  const why = process.getuid?.() === 0 ? null : 'only root meets it';
  it.skipIf(why !== null)(
    verifies('R31')(`in a repository of another owner, as that owner (${why ?? 'as root'})`),
    async () => {
      makeRepo(repo, { a: '1\n' });
      chmodSync(temp, 0o755);
      const give = (path: string): void => {
        chownSync(path, 65534, 65534);
        if (statSync(path).isDirectory()) for (const name of readdirSync(path)) give(join(path, name));
      };
      give(repo);
      const w = await made(ask());
      writeFileSync(join(w.cwd, 'by-root'), 'r\n', { mode: 0o600 });
      const kept = await keep({ home, workspace: w, attempt: 'att1' });
      expect(kept).toMatchObject({ files_changed: 1, keep_error: null });
      expect(statSync(join(repo, '.git', ref())).uid).toBe(65534);
      expect(statSync(join(repo, '.git', dirname(ref()))).uid).toBe(65534);
    },
  );
});

describe('what changed', () => {
  it('is summed over files; a binary one has no lines', () => {
    expect(parseNumstat('3\t1\ta\0-\t-\tpicture\0' + '0\t9\tb c\0')).toEqual({
      files_changed: 3,
      insertions: 3,
      deletions: 10,
    });
    expect(parseNumstat('')).toEqual({ files_changed: 0, insertions: 0, deletions: 0 });
  });

  it(verifies('R31')('is shown as text, bounded'), async () => {
    makeRepo(repo, { a: '1\n' });
    const w = await made(ask());
    put(w.cwd, { a: '2\n', big: 'line\n'.repeat(50_000) });
    await keep({ home, workspace: w, attempt: 'att1' });
    const short = await diffOf(repo, w.base!, ref(), 10_000);
    expect(short.truncated).toBe(true);
    expect(Buffer.byteLength(short.text)).toBeLessThanOrEqual(10_000);
    const whole = await diffOf(repo, w.base!, ref(), 1_000_000);
    expect(whole).toMatchObject({ truncated: false });
    expect(whole.text).toContain('-1\n+2\n');
  });
});
