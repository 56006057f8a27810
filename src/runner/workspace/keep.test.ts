import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gitIn, makeRepo, put, stateOf } from '../../../test/support/repo.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { keptRef as ref, type WorkspaceBench, workspaceBench } from '../../../test/support/workspaces.ts';
import { diffOf } from './diff.ts';
import { keep, parseNumstat } from './keep.ts';
import { pruneWorkspaces } from './prune.ts';

let bench: WorkspaceBench;
let temp: string;
let home: string;
let repo: string;
beforeEach(() => {
  bench = workspaceBench();
  ({ temp, home, repo } = bench);
});
afterEach(() => bench.end());

describe('a shared workspace', () => {
  const shared = { workspace_mode: 'shared' as const };

  it(
    verifies('R31')('is kept, too, counted from what was there before: index, branch and HEAD stay the person’s'),
    async () => {
      makeRepo(repo, { a: '1\n', b: '1\n' });
      put(repo, { a: 'the person is editing\n', staged: 'yes\n', untracked: 'u\n' });
      gitIn(repo, 'add', 'staged');
      const w = await bench.made(bench.ask(shared));
      expect(w).toMatchObject({ cwd: repo, root: repo });
      put(repo, { b: '2\n', fresh: 'f\n' });
      const before = stateOf(repo);
      const index = readFileSync(join(repo, '.git/index'));
      const kept = await keep({ home, workspace: w, attempt: 'att1' });
      expect(kept).toMatchObject({ files_changed: 2, insertions: 2, deletions: 1, keep_error: null, ref: ref() });
      expect(bench.show(ref(), 'a')).toBe('the person is editing');
      expect(stateOf(repo)).toEqual(before);
      expect(readFileSync(join(repo, '.git/index')).equals(index)).toBe(true);
    },
  );

  it(
    verifies('R31')('that could not be kept is not kept later either: by then it is somebody else’s work'),
    async () => {
      makeRepo(repo, { a: '1\n' });
      const w = await bench.made(bench.ask(shared));
      renameSync(join(repo, '.git'), join(temp, 'away'));
      expect((await keep({ home, workspace: w, attempt: 'att1' })).keep_error).toContain('is gone');
      renameSync(join(temp, 'away'), join(repo, '.git'));
      put(repo, { later: 'the person’s\n' });
      expect(await pruneWorkspaces(home, new Set())).toEqual([]);
      expect(gitIn(repo, 'for-each-ref', 'refs/drover')).toBe('');
    },
  );

  it('without git is a directory and nothing more', async () => {
    mkdirSync(repo);
    const kept = await keep({ home, workspace: await bench.made(bench.ask(shared)), attempt: 'att1' });
    expect(kept).toMatchObject({ mode: 'shared', path: repo, ref: null, commit: null, keep_error: null });
  });

  it('with an empty .git above is a directory and nothing more, as git sees it', async () => {
    mkdirSync(join(repo, '.git'), { recursive: true });
    const kept = await keep({ home, workspace: await bench.made(bench.ask(shared)), attempt: 'att1' });
    expect(kept).toMatchObject({ mode: 'shared', ref: null, keep_error: null });
  });

  it(
    verifies('R45')('never takes DROVER_HOME into a tree, nor a large new file, and names what is not in it'),
    async () => {
      makeRepo(temp, { a: '1\n' });
      put(home, { 'secret.key': 'k' });
      const w = await bench.made(bench.ask({ ...shared, workspace: temp }));
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
    const w = await bench.made(bench.ask(shared));
    makeRepo(join(repo, 'empty'));
    makeRepo(join(repo, 'full'), { x: '1\n' });
    put(repo, { fresh: 'f\n' });
    const kept = await keep({ home, workspace: w, attempt: 'att1' });
    expect(bench.show(ref(), 'fresh')).toBe('f');
    expect(kept.keep_error).toContain('empty');
  });
});

describe('a copy', () => {
  const copy = { workspace_mode: 'copy' as const };

  it(verifies('R31')('of a repository is kept in it and removed; the original is not touched'), async () => {
    makeRepo(repo, { a: '1\n', '.gitignore': 'modules\n' });
    put(repo, { a: 'editing\n', 'modules/m': 'm\n' });
    const before = stateOf(repo);
    const w = await bench.made(bench.ask(copy));
    expect(readFileSync(join(w.cwd, 'modules/m'), 'utf8')).toBe('m\n');
    put(w.cwd, { a: 'by the agent\n' });
    gitIn(w.cwd, 'checkout', '--quiet', '-b', 'agents-branch');
    const kept = await keep({ home, workspace: w, attempt: 'att1' });
    expect(kept).toMatchObject({ mode: 'copy', files_changed: 1, insertions: 1, deletions: 1, keep_error: null });
    expect(bench.show(ref(), 'a')).toBe('by the agent');
    expect(existsSync(w.root)).toBe(false);
    expect(stateOf(repo)).toEqual(before);
  });

  it('of a directory below the top is kept at its place in the tree', async () => {
    makeRepo(repo, { 'app/a': '1\n', other: 'o\n' });
    const w = await bench.made(bench.ask({ ...copy, workspace: join(repo, 'app') }));
    put(w.cwd, { a: '2\n' });
    expect(await keep({ home, workspace: w, attempt: 'att1' })).toMatchObject({ files_changed: 1, keep_error: null });
    expect([bench.show(ref(), 'app/a'), bench.show(ref(), 'other')]).toEqual(['2', 'o']);
  });

  it(verifies('R31')('of a person’s linked worktree does not lead back to its index and HEAD'), async () => {
    makeRepo(repo, { a: '1\n' });
    const linked = join(temp, 'linked');
    gitIn(repo, 'worktree', 'add', '--quiet', '-b', 'mine', linked);
    const before = stateOf(linked);
    const w = await bench.made(bench.ask({ ...copy, workspace: linked }));
    put(w.cwd, { a: '2\n' });
    expect(() => gitIn(w.cwd, 'rev-parse', '--git-dir')).toThrow();
    expect(await keep({ home, workspace: w, attempt: 'att1' })).toMatchObject({ files_changed: 1, keep_error: null });
    expect(stateOf(linked)).toEqual(before);
  });

  it(verifies('R31')('of a retry starts from the kept tree, deletions too'), async () => {
    makeRepo(repo, { a: '1\n', b: '1\n' });
    const first = await bench.made(bench.ask(copy));
    put(first.cwd, { one: '1\n' });
    rmSync(join(first.cwd, 'b'));
    await keep({ home, workspace: first, attempt: 'att1' });
    const second = await bench.made(bench.ask(copy, 'exec1', ref('att1')));
    expect(readdirSync(second.cwd).sort()).toEqual(['.git', 'a', 'one']);
    expect(await keep({ home, workspace: second, attempt: 'att2' })).toMatchObject({ files_changed: 2 });
  });

  it(
    verifies('R31')('without git stays where it is, since nothing else holds its work: what goes on begins from there'),
    async () => {
      put(repo, { a: '1\n' });
      symlinkSync('a', join(repo, 'link'));
      const w = await bench.made(bench.ask(copy));
      put(w.cwd, { a: '2\n' });
      const kept = await keep({ home, workspace: w, attempt: 'att1' });
      expect(kept).toMatchObject({ path: w.cwd, ref: null, keep_error: null });
      expect(readFileSync(join(w.cwd, 'link'), 'utf8')).toBe('2\n');
      expect(readFileSync(join(repo, 'a'), 'utf8')).toBe('1\n');
      expect(await pruneWorkspaces(home, new Set())).toEqual([]);
      const retry = await bench.made(bench.ask(copy));
      expect(readFileSync(join(retry.cwd, 'a'), 'utf8')).toBe('2\n');
      const next = await bench.made(bench.ask(copy, 'exec2', ref('left')));
      expect([readFileSync(join(next.cwd, 'a'), 'utf8'), next.note]).toEqual(['2\n', null]);
      rmSync(w.root, { recursive: true });
      const fresh = await bench.made(bench.ask(copy, 'exec3', ref('left')));
      expect([readFileSync(join(fresh.cwd, 'a'), 'utf8'), fresh.note]).toEqual([
        '1\n',
        expect.stringContaining('is gone'),
      ]);
    },
  );
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
      const w = await bench.made(bench.ask());
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
      expect((await bench.made(bench.ask())).mode).toBe('worktree');
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
      const w = await bench.made(bench.ask());
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
    const w = await bench.made(bench.ask());
    put(w.cwd, { a: '2\n', big: 'line\n'.repeat(50_000) });
    await keep({ home, workspace: w, attempt: 'att1' });
    const short = await diffOf(join(repo, '.git'), w.base!, ref(), 10_000);
    expect(short.truncated).toBe(true);
    expect(Buffer.byteLength(short.text)).toBeLessThanOrEqual(10_000);
    const whole = await diffOf(join(repo, '.git'), w.base!, ref(), 1_000_000);
    expect(whole).toMatchObject({ truncated: false });
    expect(whole.text).toContain('-1\n+2\n');
  });
});
