/** The real Codex CLI through server, runner and holder, against the scripted provider. */
import { readFileSync, statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenAiApi, startOpenAiApi } from '../model-api/openai.ts';
import { type CliFleet, cliFleet } from '../support/cli-fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: CliFleet;
let provider: OpenAiApi;

beforeAll(async () => {
  provider = await startOpenAiApi();
  fleet = await cliFleet({ adapter: 'codex', model: 'gpt-5.5', env: { OPENAI_BASE_URL: `${provider.url}/v1` } });
  await fleet.lend('openai_api_key', 'planted-openai-secret');
  await fleet.agent('coder');
});
afterAll(async () => {
  await fleet?.drover.end();
  await provider?.close();
});

describe('Codex, for real', () => {
  it(verifies('R4', 'R31', 'R33')('succeeds with its usage, and the file that it wrote is kept on a ref'), async () => {
    const { status, body, row } = await fleet.task('coder', 'Write it. [[mode:tool path=made.txt content="by codex"]]');
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.metadata).toMatchObject({ input_tokens: expect.any(Number), output_tokens: 14 });
    expect(row).toMatchObject({ status: 'success', cause: 'success', attention: [], tool_calls: 1 });
    const work = row.attempts[0].workspace;
    expect(fleet.git('show', `${work.ref}:made.txt`)).toBe('by codex');
    expect(fleet.git('status', '--porcelain')).toBe('');
    expect(provider.requests.at(-1)!.bearer).toBe('planted-openai-secret');
  });

  it(verifies('R18')('goes on with its thread in a chat, in the files of the turn before'), async () => {
    await fleet.agent('talker');
    const chat = (message: string) => fleet.drover.api('POST', '/api/agents/talker/chat', { message });
    const first = await chat('One. [[mode:tool path=first.txt]]');
    expect(first.status, JSON.stringify(first.body)).toBe(200);
    const second = await chat('Two. [[mode:memory]]');
    expect(second.body.session_id).toBe(first.body.session_id);
    expect(second.body.response).toContain('2');
    const [attempt] = (await fleet.drover.ended(second.headers.get('x-execution-id')!)).attempts;
    expect(fleet.git('ls-tree', '--name-only', attempt.workspace.ref)).toBe('README\nfirst.txt');
  });

  it(verifies('D19', 'R36', 'R45')('names a rejected login, with proof, and never shows the key'), async () => {
    const { status, headers, row } = await fleet.task('coder', 'Go. [[mode:401 turns=1]]');
    expect(row).toMatchObject({ status: 'failed', cause: 'auth_failed' });
    expect(row.verdict).toMatchObject({ tier: 'structured', confidence: 'proven', switch_credential: true });
    expect([status, headers.get('x-trinity-error-code')]).toEqual([503, 'auth']);
    expect(await fleet.credential()).toMatchObject({ state: 'rejected' });
    expect(JSON.stringify(row) + fleet.drover.output()).not.toContain('planted-openai-secret');
    const { id } = (await fleet.credential()) as { id: string };
    await fleet.drover.api('DELETE', `/api/subscriptions/${id}`);
    await fleet.lend('openai_api_key', 'planted-openai-second');
  });

  it(verifies('R25', 'R28', 'D22')('ends as cancelled, with nothing left running'), async () => {
    const id = await fleet.running('coder', 'Go. [[mode:hang]]');
    const asked = await fleet.drover.api('POST', `/api/agents/coder/executions/${id}/terminate`, {});
    expect(asked.body.status).toBe('terminated');
    expect(await fleet.drover.ended(id)).toMatchObject({ status: 'cancelled', cause: 'cancelled' });
    expect(fleet.drover.pids('--skip-git-repo-check')).toEqual([]);
  });

  it(verifies('D16', 'R35', 'R37')('killed from outside says so, names nobody and blames no login'), async () => {
    const id = await fleet.running('coder', 'Go. [[mode:hang]]');
    process.kill(await fleet.pid('--skip-git-repo-check'), 'SIGKILL');
    const row = await fleet.drover.ended(id);
    expect(row).toMatchObject({ status: 'failed', cause: 'killed_unknown' });
    expect(row.error).toMatch(/^Execution terminated by SIGKILL after 0 tool calls \/ \d turns \(exit code -9\)\./);
    expect(await fleet.credential()).not.toMatchObject({ state: 'rejected' });
    expect(fleet.drover.pids('--skip-git-repo-check')).toEqual([]);
  });

  it(
    verifies('D17', 'R27')('out of memory in the CLI itself is proved by the counters, with one item for it'),
    async (t) => {
      const [runner] = (await fleet.drover.api('GET', '/api/runners')).body;
      if (runner.cgroup === 'none') return t.skip('no cgroup can be had here');
      await fleet.agent('small', { resources: { memory: '20m' } });
      const { status, row } = await fleet.task('small', 'Go. [[mode:ok]]');
      expect(row, JSON.stringify(row.verdict)).toMatchObject({ status: 'failed', cause: 'oom_killed' });
      expect(status).toBe(504);
      const items = (await fleet.drover.api('GET', '/api/operator-queue')).body;
      const own = items.filter((i: { agent_name: string }) => i.agent_name === 'small');
      expect(own).toHaveLength(1);
      expect(JSON.stringify(own)).toMatch(/20 MiB/);
      expect(JSON.stringify(own)).toMatch(/resources\.memory/);
    },
  );

  it(verifies('R36', 'R38')('names a used-up plan with its reset, marks the login, and waits for that'), async () => {
    const id = await fleet.running('coder', 'Go. [[mode:limit in_s=7200]]');
    const row = await fleet.drover.until(
      'its first attempt ended',
      async () => (await fleet.drover.api('GET', `/api/executions/${id}`)).body,
      (e) => e.attempts?.[0]?.verdict != null,
    );
    expect(row.attempts[0].verdict).toMatchObject({ cause: 'usage_limit', tier: 'structured' });
    expect(row.attempts[0].verdict.reset_at).toBeGreaterThan(Date.now() + 7_000_000);
    expect(await fleet.credential()).toMatchObject({ state: 'limited' });
  });
});

const otherUser =
  process.getuid?.() === 0 && readFileSync('/etc/passwd', 'utf8').includes('\nnobody:') ? 'nobody' : null;

describe.skipIf(otherUser === null)('as another user (needs root and a user nobody)', () => {
  it(verifies('R32', 'R29')('works in its worktree, remembers its thread, and is cancelled'), async () => {
    const other = await cliFleet(
      { adapter: 'codex', model: 'gpt-5.5', env: { OPENAI_BASE_URL: `${provider.url}/v1` } },
      { DROVER_AGENT_USER: otherUser! },
    );
    try {
      await other.lend('openai_api_key', 'planted-openai-third');
      await other.agent('coder', { custom_instructions: 'be kind' });
      const { row } = await other.task('coder', '[[mode:tool path=made.txt content="by nobody"]]');
      expect(row, JSON.stringify(row.verdict)).toMatchObject({ status: 'success', attention: [] });
      expect(other.git('show', `${row.attempts[0].workspace.ref}:made.txt`)).toBe('by nobody');
      const chat = (message: string) => other.drover.api('POST', '/api/agents/coder/chat', { message });
      expect((await chat('One. [[mode:memory]]')).body.response).toContain('1');
      expect((await chat('Two. [[mode:memory]]')).body.response).toContain('2');
      const id = await other.running('coder', '[[mode:hang]]');
      expect(statSync(`/proc/${await other.pid('--skip-git-repo-check')}`).uid).not.toBe(0);
      await other.drover.api('POST', `/api/agents/coder/executions/${id}/terminate`, {});
      expect(await other.drover.ended(id)).toMatchObject({ cause: 'cancelled' });
    } finally {
      await other.drover.end();
    }
  });
});
