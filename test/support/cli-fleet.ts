/**
 * A whole installation with one agent of an adapter and one login that is lent to it: what the end-to-end tests of the CLIs have
 * in common. Which provider it speaks to is told by the agent's env.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Installation, install } from './installation.ts';

type Body = Record<string, unknown>;
type Answer = Awaited<ReturnType<Installation['api']>>;

export interface CliFleet {
  drover: Installation;
  repo: string;
  git(...args: string[]): string;
  agent(name: string, more?: Body): Promise<void>;
  /** Sends the message and waits for its end: the answer of the route, and the row. */
  task(name: string, message: string, more?: Body): Promise<Answer & { row: Answer['body'] }>;
  /** Starts it and comes back when its process runs. */
  running(name: string, message: string, more?: Body): Promise<string>;
  /** The running process of this installation whose command line holds all of these words. */
  pid(...words: string[]): Promise<number>;
  lend(kind: string, token: string, name?: string): Promise<string>;
  credential(): Promise<Body>;
}

export const cliFleet = async (agents: Body, env: Record<string, string> = {}): Promise<CliFleet> => {
  const drover = await install(env);
  const repo = join(drover.home, 'repo');
  mkdirSync(repo);
  const git = (...args: string[]) => execFileSync('git', ['-C', repo, ...args], { encoding: 'utf8' }).trim();
  execFileSync('git', ['init', '-q', '-b', 'main', repo]);
  writeFileSync(join(repo, 'README'), 'a project\n');
  git('add', '.');
  git('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'start');
  const row = async (id: string) => (await drover.api('GET', `/api/executions/${id}`)).body;
  return {
    drover,
    repo,
    git,
    async agent(name, more = {}) {
      const { env: more_env, ...rest } = more;
      const body = {
        name,
        workspace: repo,
        ...agents,
        env: { ...(agents.env as Body), ...(more_env as Body) },
        ...rest,
      };
      const made = await drover.api('POST', '/api/agents', body);
      expect(made.status, JSON.stringify(made.body)).toBe(201);
    },
    async task(name, message, more = {}) {
      const answer = await drover.api('POST', `/api/agents/${name}/task`, { message, ...more });
      const id = answer.headers.get('x-execution-id');
      expect(id, JSON.stringify(answer.body)).not.toBeNull();
      return { ...answer, row: await drover.ended(id!) };
    },
    async running(name, message, more = {}) {
      const sent = await drover.api('POST', `/api/agents/${name}/task`, { message, async_mode: true, ...more });
      const id = sent.body.execution_id as string;
      await drover.until(
        `${id} runs`,
        () => row(id),
        (e) => e.started_at !== null,
      );
      return id;
    },
    pid: async (...words) => {
      const [first = '', ...rest] = words;
      const among = rest.map((word) => new Set(drover.pids(word)));
      const found = () => drover.pids(first).filter((pid) => among.every((set) => set.has(pid)));
      return (
        await drover.until(
          `a process with ${words.join(', ')}`,
          async () => found(),
          (pids) => pids.length > 0,
        )
      )[0]!;
    },
    async lend(kind, token, name = 'the-login') {
      const made = await drover.api('POST', '/api/subscriptions', { name, kind, token });
      expect(made.status, JSON.stringify(made.body)).toBe(201);
      return made.body.id as string;
    },
    credential: async () => (await drover.api('GET', '/api/subscriptions')).body[0],
  };
};
