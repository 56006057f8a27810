import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeRepo } from '../../../test/support/repo.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { timeOrderedIds } from '../../kernel/ids.ts';
import { pruneCopies } from './prune-copies.ts';
import { pruneRefs, rememberRepository } from './prune-refs.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'drover-refs-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

it(
  verifies('R31')('drops kept trees after as many days as rows are kept, and nothing else of the repository'),
  async () => {
    const repo = join(home, 'repo');
    makeRepo(repo, { a: '1\n' });
    const git = (...args: string[]) => execFileSync('git', ['-C', repo, ...args], { encoding: 'utf8' }).trim();
    const day = 86_400_000;
    const now = 1_760_000_000_000;
    const idAt = (ms: number) => timeOrderedIds({ bytes: (n) => new Uint8Array(n).fill(7) }).next(ms);
    const [old, young] = [idAt(now - 31 * day), idAt(now - 29 * day)];
    for (const ref of [
      `drover/${old}/a1`,
      `drover/${old}/base`,
      `drover/${young}/a1`,
      'drover/notes/mine',
      'heads/own',
    ])
      git('update-ref', `refs/${ref}`, 'HEAD');
    const before = git('for-each-ref', '--format=%(refname)').split('\n');
    const gitDir = join(repo, '.git');
    mkdirSync(join(home, 'no repository'));
    for (const dir of [join(home, 'no repository'), gitDir, gitDir, join(home, 'gone')]) rememberRepository(home, dir);
    // What cannot be read keeps nothing else.
    const odd: unknown[] = [];
    const prune = (days: number) => pruneRefs(home, now, days, { warn: (...said) => odd.push(said) });
    expect(await prune(40)).toBe(0);
    expect(await prune(30)).toBe(2);
    const after = git('for-each-ref', '--format=%(refname)').split('\n');
    expect(before.filter((ref) => !after.includes(ref))).toEqual([`refs/drover/${old}/a1`, `refs/drover/${old}/base`]);
    expect(await prune(30)).toBe(0);
    expect(odd).toHaveLength(3);
  },
);

it(verifies('R31')('drops copies outside of git after as many days, and nothing else that lies there'), async () => {
  const now = 1_760_000_000_000;
  const idAt = (ms: number, byte = 7) => timeOrderedIds({ bytes: (n) => new Uint8Array(n).fill(byte) }).next(ms);
  const [old, busy, young] = [idAt(now - 2_000), idAt(now - 2_000, 9), idAt(now)];
  for (const name of [old, busy, young, 'a person’s'])
    mkdirSync(join(home, 'runner', 'copies', name), { recursive: true });
  expect(await pruneCopies(home, now - 1_000, (execution) => execution === busy)).toBe(1);
  expect(readdirSync(join(home, 'runner', 'copies')).sort()).toEqual([busy, young, 'a person’s'].sort());
});
