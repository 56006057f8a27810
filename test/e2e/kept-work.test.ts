/**
 * R31 as a table: however a run ends, its tree is a commit on its ref, what it changed is on the row, its transcript is there, and
 * the person's repository (branch, index, files, configuration) is byte for byte what it was. Real processes, in worktrees of one
 * repository in which a person is in the middle of something; all rows that no kill of ours touches run at once.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noCgroup } from '../support/held.ts';
import { type Installation, install } from '../support/installation.ts';
import { gitIn, makeRepo, put } from '../support/repo.ts';
import { verifies } from '../support/verifies.ts';

let drover: Installation;
let repo: string;

/** What git makes for our refs and worktrees; everything else in the directory is the person's. */
const ours = /^\.git\/(objects|refs\/drover|worktrees)(\/|$)/;
const bytesOf = (dir: string): Record<string, string> => {
  const seen: Record<string, string> = {};
  const walk = (at: string) => {
    for (const entry of readdirSync(join(dir, at), { withFileTypes: true })) {
      const path = join(at, entry.name);
      if (ours.test(path)) continue;
      if (entry.isDirectory()) walk(path);
      else {
        const file = join(dir, path);
        const { mode, mtimeMs } = statSync(file);
        seen[path] = `${mode} ${mtimeMs} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`;
      }
    }
  };
  walk('');
  return seen;
};

/** What each of them does before it ends: changes, deletes and adds a file, stages, commits, and leaves the index locked. */
const work = [
  'echo "begins here"; echo leader $$',
  'echo changed > a; rm b; echo committed > c; git add c',
  'git -c user.name=agent -c user.email=a@a commit -qm "by the agent" -- c',
  'echo staged > staged; git add staged; echo new > work',
  'touch "$(git rev-parse --git-dir)/index.lock"',
  'echo "has worked"',
].join('\n');
const kept = ['a', 'c', 'keep', 'staged', 'work'];

interface Row {
  ending: string;
  /** After the work. */
  script: string;
  agent?: object;
  task?: object;
  /** What is done to it from outside, once it has worked. */
  strike?: (id: string) => unknown;
  expected: object;
}
const waits = 'exec sleep 600';
/** As it said itself. */
const leader = async (id: string): Promise<number> => {
  const { agent_name } = (await drover.api('GET', `/api/executions/${id}`)).body;
  return Number(/leader (\d+)/.exec(await logOf(agent_name, id))![1]);
};

const rows: Row[] = [
  { ending: 'a success', script: 'exit 0', expected: { status: 'success', cause: 'success' } },
  { ending: 'a failure', script: 'exit 3', expected: { status: 'failed', attempts: [{ exit_code: 3 }] } },
  {
    ending: 'a cancel',
    script: waits,
    strike: (id) => drover.api('POST', `/api/agents/a-cancel/executions/${id}/terminate`),
    expected: { status: 'cancelled', cause: 'cancelled' },
  },
  {
    ending: 'a deadline',
    script: waits,
    task: { timeout_seconds: 10 },
    expected: { status: 'failed', cause: 'timed_out' },
  },
  {
    ending: 'a SIGKILL',
    script: waits,
    strike: async (id) => process.kill(await leader(id), 'SIGKILL'),
    expected: { status: 'failed', cause: 'killed_unknown', attempts: [{ signal: 'SIGKILL' }] },
  },
  ...(noCgroup() === null
    ? [
        {
          ending: 'out of memory',
          script: `exec ${resolve('test/fixtures/agents/held-eats-memory')}`,
          agent: { resources: { memory: '64m' } },
          expected: { status: 'failed', cause: 'oom_killed' },
        },
      ]
    : []),
];
const shot: Row[] = [
  {
    ending: 'a lost holder',
    script: waits,
    strike: async (id) => {
      const pid = await leader(id);
      for (const holder of drover.pids('/holder.js')) process.kill(holder, 'SIGKILL');
      process.kill(pid, 'SIGKILL');
    },
    expected: { status: 'failed', attempts: [{ exit_code: null, signal: null }] },
  },
  {
    ending: 'a lost runner, with holder and agent',
    script: waits,
    strike: async (id) => {
      const pid = await leader(id);
      for (const part of ['/runner.js', '/holder.js']) for (const p of drover.pids(part)) process.kill(p, 'SIGKILL');
      process.kill(pid, 'SIGKILL');
    },
    expected: { status: 'failed', attempts: [{ exit_code: null, signal: null }] },
  },
  {
    ending: 'a lost runner, while the agent goes on',
    script: 'while ! [ -e "$HOME/go" ]; do sleep 0.05; done; exit 4',
    strike: async () => {
      for (const p of drover.pids('/runner.js')) process.kill(p, 'SIGKILL');
      writeFileSync(join(drover.home, 'go'), '');
    },
    expected: { status: 'failed', attempts: [{ exit_code: 4 }] },
  },
];
const nameOf = (row: Row) => row.ending.replaceAll(/[^A-Za-z]+/g, '-').toLowerCase();

/** Starts it, lets it work, and does to it what the row says. */
const begin = async (row: Row): Promise<string> => {
  const name = nameOf(row);
  const command = ['sh', '-c', `${work}\n${row.script}`];
  const made = await drover.api('POST', '/api/agents', {
    name,
    adapter: 'command',
    command,
    workspace: repo,
    workspace_mode: 'worktree',
    ...row.agent,
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const given = await drover.api('POST', `/api/agents/${name}/task`, { message: 'x', async_mode: true, ...row.task });
  const id: string = given.body.execution_id;
  await drover.until(
    'it has worked',
    () => logOf(nameOf(row), id),
    (log) => log.includes('has worked'),
  );
  await row.strike?.(id);
  return id;
};
const logOf = async (agent: string, id: string) =>
  JSON.stringify((await drover.api('GET', `/api/agents/${agent}/executions/${id}/log`)).body.log ?? []);

const endings = new Map<string, string>();
let before: Record<string, string>;
beforeAll(async () => {
  drover = await install();
  repo = makeRepo(join(drover.home, 'repo'), { a: '1\n', b: '1\n', keep: 'k\n' });
  gitIn(repo, 'branch', 'other');
  put(repo, { a: 'the person is editing\n', 'untracked file': 'u\n', half: 'h\n' });
  gitIn(repo, 'add', 'half');
  before = bytesOf(repo);
  const begun = await Promise.all(rows.map(begin));
  for (const [i, id] of begun.entries()) endings.set(rows[i]!.ending, id);
  for (const id of begun) await drover.ended(id);
  for (const row of shot) {
    const id = await begin(row);
    endings.set(row.ending, id);
    await drover.ended(id);
  }
});
afterAll(() => drover?.end());

describe(`the work is kept${noCgroup() === null ? '' : ` (out of memory is left out: ${noCgroup()})`}`, () => {
  for (const row of [...rows, ...shot])
    it(verifies('R31')(`after ${row.ending}`), async () => {
      const id = endings.get(row.ending)!;
      const e = await drover.ended(id);
      expect(e).toMatchObject(row.expected);
      const { workspace, id: attempt } = e.attempts.at(-1);
      const ref = `refs/drover/${id}/${attempt}`;
      expect(workspace).toMatchObject({
        mode: 'worktree',
        ref,
        keep_error: null,
        files_changed: 5,
        insertions: 4,
        deletions: 2,
      });
      expect(gitIn(repo, 'rev-parse', ref)).toBe(workspace.commit);
      expect(gitIn(repo, 'ls-tree', '--name-only', ref).split('\n')).toEqual(kept);
      expect(gitIn(repo, 'log', '--format=%s', ref).split('\n')).toEqual(['Kept by Drover', 'by the agent', 'first']);
      const { diff } = (await drover.api('GET', `/api/executions/${id}/diff`)).body;
      for (const line of ['+changed', '+committed', '+staged', '+new', '-1']) expect(diff.split('\n')).toContain(line);
      const log = await logOf(nameOf(row), id);
      for (const line of ['begins here', 'has worked']) expect(log.match(new RegExp(line, 'g'))).toHaveLength(1);
    });

  it(verifies('R31')('and the person’s repository is byte for byte as it was'), () => {
    expect(bytesOf(repo)).toEqual(before);
    expect(gitIn(repo, 'worktree', 'list').split('\n')).toHaveLength(1);
    expect(gitIn(repo, 'fsck', '--no-dangling')).toBe('');
  });
});
