/**
 * Kept trees do not stay for good: at the start of a runner, and each day, the refs under refs/drover/ of executions older than
 * DROVER_RETENTION_DAYS are deleted, in every repository that it ever kept a tree in; as long as the rows of ended executions are
 * kept. Only refs of Drover's own: branches, tags, index and worktrees of people are never touched. Git's own collection then
 * frees the space.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Log } from '../../kernel/log.ts';
import { git, longMs } from './git.ts';

const dayMs = 86_400_000;
const listFile = (home: string) => join(home, 'runner', 'repositories');

const known = (home: string): string[] => {
  const file = listFile(home);
  return existsSync(file) ? [...new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean))] : [];
};

/** `gitDir`: where the ref of a tree was just written. */
export const rememberRepository = (home: string, gitDir: string): void => {
  if (known(home).includes(gitDir)) return;
  mkdirSync(dirname(listFile(home)), { recursive: true, mode: 0o700 });
  appendFileSync(listFile(home), `${gitDir}\n`, { mode: 0o600 });
};

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
/** An execution's id begins with its time: 48 bits of ms in ten characters. Null: not one of ours. */
export const bornAt = (execution: string): number | null => {
  if (!/^[0-9a-hjkmnp-tv-z]{26}$/.test(execution)) return null;
  return [...execution.slice(0, 10)].reduce((ms, c) => ms * 32 + alphabet.indexOf(c), 0);
};

const pruneIn = async (gitDir: string, before: number): Promise<number> => {
  const run = { cwd: gitDir, gitDir, ownerOf: gitDir, timeoutMs: longMs };
  const { stdout } = await git(['for-each-ref', '--format=%(refname)', 'refs/drover/'], run);
  const old = stdout.split('\n').filter((ref) => {
    const born = bornAt(ref.split('/')[2] ?? '');
    return born !== null && born < before;
  });
  if (old.length > 0)
    await git(['update-ref', '--stdin'], { ...run, input: old.map((ref) => `delete ${ref}\n`).join('') });
  return old.length;
};

/** Resolves with how many refs were deleted. A repository that is gone is passed over, and one that cannot be read keeps no other. */
export const pruneRefs = async (home: string, now: number, days: number, log: Pick<Log, 'warn'>): Promise<number> => {
  let deleted = 0;
  for (const gitDir of known(home).filter((dir) => existsSync(dir)))
    deleted += await pruneIn(gitDir, now - days * dayMs).catch((error) => {
      log.warn('old kept trees stay', { repository: gitDir, error });
      return 0;
    });
  return deleted;
};
