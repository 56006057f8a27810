import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { listTree, openInside } from './workspace-files.ts';

let base: string;
let root: string;
let home: string;
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'drover-files-')));
  root = join(base, 'work');
  mkdirSync(join(root, 'src'), { recursive: true });
  mkdirSync(join(root, '.git'));
  home = join(base, 'home');
  mkdirSync(join(home, 'workspaces', 'a'), { recursive: true });
  writeFileSync(join(home, 'owner.token'), 'secret');
  writeFileSync(join(home, 'workspaces', 'a', 'own'), 'hello');
  mkdirSync(join(base, 'work-other'));
  writeFileSync(join(base, 'secret'), 'secret');
  writeFileSync(join(base, 'work-other', 'secret'), 'secret');
  writeFileSync(join(root, 'src', 'a.txt'), 'hello');
  writeFileSync(join(root, '.git', 'config'), 'x');
  symlinkSync(join(base, 'secret'), join(root, 'out'));
  symlinkSync(base, join(root, 'up'));
  symlinkSync('src/a.txt', join(root, 'in'));
  execFileSync('mkfifo', [join(root, 'pipe')]);
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const content = async (path: string): Promise<string | null> => {
  const file = await openInside(root, path, home);
  if (file === null) return null;
  const text = await file.handle.readFile('utf8');
  await file.handle.close();
  return text;
};

describe('the files of a workspace', () => {
  it('are read by a path inside it, through links that stay inside', async () => {
    expect(await content('src/a.txt')).toBe('hello');
    expect(await content('./src/../src/a.txt')).toBe('hello');
    expect(await content('in')).toBe('hello');
  });

  it('never lead outside: not by dots, not by links, not by a folder with the same beginning', async () => {
    for (const path of [
      '../secret',
      'src/../../secret',
      '../work-other/secret',
      join(base, 'secret'),
      '/etc/passwd',
      'out',
      'up/secret',
      'src/a.txt\0',
    ])
      expect([path, await content(path)]).toEqual([path, null]);
  });

  it('are files: a folder, a pipe and a missing one are not', async () => {
    expect(await content('src')).toBeNull();
    expect(await content('pipe')).toBeNull();
    expect(await content('nope')).toBeNull();
  });

  it('are listed as a tree that follows no link and does not open .git', async () => {
    const found = (await listTree(root, '.', home))!;
    expect(found.tree.map((n) => [n.name, n.type])).toEqual([
      ['.git', 'directory'],
      ['in', 'link'],
      ['out', 'link'],
      ['pipe', 'other'],
      ['src', 'directory'],
      ['up', 'link'],
    ]);
    expect(found.tree[0]!.children).toEqual([]);
    expect(found.truncated).toBe(true);
    expect(found.tree.find((n) => n.name === 'src')!.children).toMatchObject([
      { name: 'a.txt', path: 'src/a.txt', type: 'file', size: 5 },
    ]);
  });

  it('are listed below a path inside it only', async () => {
    expect((await listTree(root, 'src', home))!.tree.map((n) => n.path)).toEqual(['src/a.txt']);
    expect(await listTree(root, '..', home)).toBeNull();
    expect(await listTree(root, 'up', home)).toBeNull();
  });

  it(verifies('R45')('are not those of DROVER_HOME, also when the workspace holds it or is it'), async () => {
    for (const [workspace, below] of [
      [home, ''],
      [base, 'home/'],
      [join(home, 'workspaces'), '../'],
      ['/', `${home.slice(1)}/`],
    ] as const)
      expect([workspace, await openInside(workspace, `${below}owner.token`, home)]).toEqual([workspace, null]);
    expect(await listTree(home, '.', home)).toBeNull();
    expect((await listTree(base, '.', home))!.tree.map((n) => n.name)).not.toContain('home');
    expect((await listTree(join(home, 'workspaces', 'a'), '.', home))!.tree.map((n) => n.name)).toEqual(['own']);
    const own = await openInside(join(home, 'workspaces', 'a'), 'own', home);
    expect(await own!.handle.readFile('utf8')).toBe('hello');
    await own!.handle.close();
  });

  it('are bounded in number', async () => {
    const many = join(base, 'many');
    mkdirSync(many);
    for (let i = 0; i < 2_100; i++) writeFileSync(join(many, `f${i}`), '');
    const found = (await listTree(many, '.', home))!;
    expect(found.tree).toHaveLength(2_000);
    expect(found.truncated).toBe(true);
  });
});
