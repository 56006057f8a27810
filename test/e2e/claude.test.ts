/** The real Claude Code CLI through server, runner and holder, against the scripted provider. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diagnose } from '../../src/outcome/diagnose.ts';
import { openStore } from '../../src/store/open.ts';
import { type ModelApi, startModelApi } from '../model-api/server.ts';
import { claudeBin, type Installation, install } from '../support/installation.ts';
import { verifies } from '../support/verifies.ts';

let drover: Installation;
let provider: ModelApi;
let repo: string;

const git = (...args: string[]) => execFileSync('git', ['-C', repo, ...args], { encoding: 'utf8' }).trim();
const agent = async (name: string, more: Record<string, unknown> = {}) => {
  const r = await drover.api('POST', '/api/agents', {
    name,
    executable: claudeBin,
    model: 'claude-sonnet-4-5',
    workspace: repo,
    env: { ANTHROPIC_BASE_URL: provider.url },
    ...more,
  });
  expect(r.status, JSON.stringify(r.body)).toBe(201);
};
const task = (name: string, message: string, more: Record<string, unknown> = {}) =>
  drover.api('POST', `/api/agents/${name}/task`, { message, ...more });
const start = async (name: string, message: string, more: Record<string, unknown> = {}): Promise<string> =>
  (await task(name, message, { async_mode: true, ...more })).body.execution_id;
const credentialStates = async () =>
  (await drover.api('GET', '/api/subscriptions')).body.map((c: { state: string }) => c.state);

beforeAll(async () => {
  provider = await startModelApi();
  drover = await install();
  repo = join(drover.home, 'repo');
  mkdirSync(repo);
  execFileSync('git', ['init', '-q', '-b', 'main', repo]);
  writeFileSync(join(repo, 'README'), 'a project\n');
  git('add', '.');
  git('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'start');
  expect(
    (
      await drover.api('POST', '/api/subscriptions', {
        name: 'key',
        kind: 'anthropic_api_key',
        token: 'sk-ant-planted-secret',
      })
    ).status,
  ).toBe(201);
  await agent('coder');
});
afterAll(async () => {
  await drover?.end();
  await provider?.close();
});

describe('Claude Code, for real', () => {
  it(
    verifies(
      'R4',
      'R31',
      'R33',
    )('succeeds with usage and cost, and the file that it wrote is kept on a ref of its own'),
    async () => {
      const r = await task('coder', 'Write it. [[mode:tool path=made.txt content="by the agent"]]');
      expect(r.status, JSON.stringify(r.body)).toBe(200);
      expect(r.body.metadata.cost_usd).toBeGreaterThan(0);
      expect(r.body.metadata.input_tokens).toBeGreaterThan(0);
      expect(r.body.execution_log.length).toBeGreaterThan(0);
      const e = await drover.ended(r.body.task_execution_id);
      expect(e).toMatchObject({ status: 'success', cause: 'success', attention: [], tool_calls: 1 });
      const work = e.attempts[0].workspace;
      expect(work).toMatchObject({ mode: 'worktree', files_changed: 1 });
      expect(git('show', `${work.ref}:made.txt`)).toBe('by the agent');
      expect(existsSync(join(repo, 'made.txt'))).toBe(false);
      expect(git('status', '--porcelain')).toBe('');
      expect(provider.requests.at(-1)!.apiKey).toBe('sk-ant-planted-secret');
    },
  );

  it(verifies('R30')('shows a denied tool as blocked_tools although the CLI says success'), async () => {
    await agent('careful', { permission_mode: 'default' });
    const r = await task('careful', 'Write it. [[mode:tool path=denied.txt]]');
    const e = await drover.ended(r.headers.get('x-execution-id')!);
    expect(e.status).toBe('success');
    expect(e.attention).toContain('blocked_tools');
  });

  it(verifies('R18')('goes on with its session in a chat'), async () => {
    await agent('talker');
    const first = await drover.api('POST', '/api/agents/talker/chat', { message: 'One. [[mode:memory]]' });
    expect(first.status, JSON.stringify(first.body)).toBe(200);
    const second = await drover.api('POST', '/api/agents/talker/chat', { message: 'Two. [[mode:memory]]' });
    expect(second.body.session_id).toBe(first.body.session_id);
    expect(first.body.response).toContain('1');
    expect(second.body.response).toContain('2');
    // The CLI reports the session's total; the second turn costs its own part only.
    expect(second.body.metadata.cost_usd).toBeLessThan(first.body.metadata.cost_usd * 1.9);
    const history = await drover.api('GET', '/api/agents/talker/chat/history');
    expect(history.body.map((m: { role: string }) => m.role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });

  it(verifies('R18', 'R31')('finds in the next turn of a chat what the turn before wrote'), async () => {
    await agent('builder');
    const chat = (message: string) => drover.api('POST', '/api/agents/builder/chat', { message });
    expect((await chat('One. [[mode:tool path=first.txt content=1]]')).status).toBe(200);
    const second = await chat('Two. [[mode:tool path=second.txt content=2]]');
    const [attempt] = (await drover.ended(second.headers.get('x-execution-id')!)).attempts;
    expect(git('ls-tree', '--name-only', attempt.workspace.ref)).toBe('README\nfirst.txt\nsecond.txt');
    // Its own change alone counts as its own.
    expect(attempt.workspace.files_changed).toBe(1);
    expect(git('status', '--porcelain')).toBe('');
  });

  it(verifies('R36', 'R45')('names a rejected login, with proof, and never shows the key'), async () => {
    const r = await task('coder', 'Go. [[mode:401]]');
    const e = await drover.ended(r.headers.get('x-execution-id')!);
    expect(e).toMatchObject({ status: 'failed', cause: 'auth_failed' });
    expect(e.verdict).toMatchObject({ tier: 'structured', confidence: 'proven', switch_credential: true });
    expect(r.status).toBe(503);
    expect(r.headers.get('x-trinity-error-code')).toBe('auth');
    expect(JSON.stringify(e)).not.toContain('planted-secret');
    expect(drover.output()).not.toContain('planted-secret');
    // Replaced by hand, as an operator would.
    const [c] = (await drover.api('GET', '/api/subscriptions')).body;
    await drover.api('DELETE', `/api/subscriptions/${c.id}`);
    await drover.api('POST', '/api/subscriptions', { name: 'key2', kind: 'anthropic_api_key', token: 'sk-ant-second' });
  });

  it(verifies('R36')('takes the page of a proxy for what it is and blames no login'), async () => {
    const e = await drover.ended((await task('coder', 'Go. [[mode:403page]]')).headers.get('x-execution-id')!);
    expect(e).toMatchObject({ status: 'failed', cause: 'edge_blocked' });
    expect(await credentialStates()).not.toContain('rejected');
    expect((await drover.api('GET', '/api/subscriptions/events')).body).toHaveLength(1);
  });

  it(verifies('D22', 'R25', 'R28')('ends as cancelled when it is cancelled, with nothing left running'), async () => {
    const id = await start('coder', 'Go. [[mode:hang]]');
    await drover.until(
      'it runs',
      async () => (await drover.api('GET', `/api/executions/${id}`)).body,
      (e) => e.started_at !== null,
    );
    const asked = await drover.api('POST', `/api/agents/coder/executions/${id}/terminate`, {
      reason: 'changed my mind',
    });
    expect(asked.body.status).toBe('terminated');
    expect(await drover.ended(id)).toMatchObject({ status: 'cancelled', cause: 'cancelled' });
    expect(drover.pids('stream-json')).toEqual([]);
  });

  it(verifies('D22', 'R7')('ends as timed_out at its deadline, counted from the spawn'), async () => {
    const id = await start('coder', 'Go. [[mode:hang]]', { timeout_seconds: 10 });
    const e = await drover.ended(id);
    expect(e).toMatchObject({ status: 'failed', cause: 'timed_out' });
    expect(e.duration_ms).toBeGreaterThanOrEqual(10_000);
    expect(e.attempts[0].stop_reason).toBe('deadline');
  });

  it(
    verifies('D16', 'R35', 'R37')('says that it was killed and not by whom, when something outside kills it'),
    async () => {
      const before = await credentialStates();
      const answer = task('coder', 'Go. [[mode:hang]]');
      const [pid] = await drover.until(
        'the CLI runs',
        async () => drover.pids('stream-json'),
        (p) => p.length > 0,
      );
      process.kill(pid!, 'SIGKILL');
      const r = await answer;
      expect(r.status).toBe(504);
      expect(r.body.detail).toMatch(
        /^Execution terminated by SIGKILL after 0 tool calls \/ 0 turns \(exit code -9\)\./,
      );
      expect(await drover.ended(r.headers.get('x-execution-id')!)).toMatchObject({ cause: 'killed_unknown' });
      expect(await credentialStates()).toEqual(before);
    },
  );

  it(verifies('R36')('names a used-up plan with its reset, and marks the credential until then'), async () => {
    // The windows of a plan belong to a login by subscription: with an API key the same answer is a short throttle.
    const [key] = (await drover.api('GET', '/api/subscriptions')).body;
    await drover.api('DELETE', `/api/subscriptions/${key.id}`);
    await drover.api('POST', '/api/subscriptions', { name: 'plan', kind: 'claude_oauth', token: 'sk-ant-oat-planted' });
    await agent('limited');
    const id = await start('limited', 'Go. [[mode:429]]');
    const e = await drover.until(
      'its first attempt ended',
      async () => (await drover.api('GET', `/api/executions/${id}`)).body,
      (x) => x.attempts?.[0]?.verdict != null,
    );
    expect(e.attempts[0].verdict).toMatchObject({ cause: 'usage_limit', tier: 'structured' });
    expect(e.attempts[0].verdict.reset_at).toBeGreaterThan(Date.now());
    const [c] = (await drover.api('GET', '/api/subscriptions')).body;
    expect(c.state).toBe('limited');
    expect(readFileSync(join(repo, 'README'), 'utf8')).toBe('a project\n');
  });

  it(verifies('R5')('keeps the facts of every attempt, from which the same verdict comes out again'), async () => {
    const rows = (await drover.api('GET', '/api/executions?limit=100')).body;
    const ids: string[] = (Array.isArray(rows) ? rows : rows.executions).map((e: { id: string }) => e.id);
    expect(ids.length).toBeGreaterThan(7);
    expect(await drover.stop()).toBe(0);
    const store = await openStore({ home: drover.home });
    try {
      const causes = new Set<string>();
      for (const id of ids)
        for (const attempt of await store.read('attempts', { execution_id: id })) {
          const facts = (await store.read('facts', { attempt_id: attempt.id }))!;
          expect(diagnose(facts, { now: facts.ended_at! })).toMatchObject({
            cause: attempt.verdict!.cause,
            switch_credential: attempt.verdict!.switch_credential,
          });
          causes.add(attempt.verdict!.cause);
        }
      expect(causes.size).toBeGreaterThan(5);
    } finally {
      await store.close();
    }
  });
});
