/** Agents of different CLIs that call each other, with the real Codex, Gemini and Claude Code CLIs: each through its own MCP client. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GoogleRequest, startGoogleApi } from '../model-api/google.ts';
import { type OpenAiApi, startOpenAiApi } from '../model-api/openai.ts';
import type { Scripted } from '../model-api/scripted.ts';
import { type ModelApi, startModelApi } from '../model-api/server.ts';
import { type CliFleet, cliFleet } from '../support/cli-fleet.ts';
import { claudeBin } from '../support/installation.ts';
import { verifies } from '../support/verifies.ts';

let fleet: CliFleet;
let anthropic: ModelApi;
let openai: OpenAiApi;
let google: Scripted<GoogleRequest>;

beforeAll(async () => {
  [anthropic, openai, google] = await Promise.all([startModelApi(), startOpenAiApi(), startGoogleApi()]);
  fleet = await cliFleet({ max_parallel_tasks: 1 }, { DROVER_RUNNER_SLOTS: '12' });
  await fleet.lend('anthropic_api_key', 'sk-ant-planted');
  await fleet.lend('openai_api_key', 'planted-openai', 'openai');
  await fleet.lend('gemini_api_key', 'planted-google', 'google');
  await fleet.agent('claude', {
    executable: claudeBin,
    model: 'claude-sonnet-4-5',
    env: { ANTHROPIC_BASE_URL: anthropic.url },
  });
  await fleet.agent('codex', {
    adapter: 'codex',
    model: 'gpt-5.5',
    env: { OPENAI_BASE_URL: `${openai.url}/v1` },
  });
  await fleet.agent('gemini', {
    adapter: 'gemini',
    model: 'gemini-2.5-pro',
    env: { GOOGLE_GEMINI_BASE_URL: google.url },
  });
});
afterAll(async () => {
  await fleet?.drover.end();
  await Promise.all([anthropic, openai, google].map((api) => api?.close()));
});

const tools: Record<string, string> = {
  claude: 'mcp__drover__chat_with_agent',
  codex: 'mcp__drover__chat_with_agent',
  gemini: 'mcp_drover_chat_with_agent',
};
/** `through(['codex', 'claude'], 'hi')`: what to say to codex, so that it says to claude: say hi. */
const through = (agents: string[], text: string, more = ''): string => {
  const [agent = '', ...rest] = agents;
  if (rest.length === 0) return text;
  const message = through(rest, text).replace(/[\\"]/g, '\\$&');
  return `Go. [[mode:mcp tool=${tools[agent]} agent=${rest[0]} ${more} message="${message}"]]`;
};
const say = (text: string): string => `Say it. [[mode:ok text="${text}"]]`;
const chain = async (id: string) => (await fleet.drover.api('GET', `/api/executions/${id}/chain`)).body.executions;
const limit = (agent_call_limit: number) => fleet.drover.api('PUT', '/api/fleet/limits', { agent_call_limit });

const chains = [
  ['codex', 'claude'],
  ['claude', 'codex', 'claude'],
  ['codex', 'gemini', 'codex'],
  ['gemini', 'claude', 'gemini'],
];

describe('calls between CLIs of different makers', () => {
  it.each(chains.map((agents) => [agents.join(' → '), agents] as const))(
    verifies('D11', 'R17', 'R21')('%s completes with every cap 1 and the fleet at 1'),
    async (_, agents) => {
      await limit(1);
      const { row } = await fleet.task(agents[0]!, through(agents, say('from the depth')));
      expect(row, JSON.stringify(row)).toMatchObject({ status: 'success', cause: 'success', attention: [] });
      expect(row.response).toContain('from the depth');
      const executions = await chain(row.id);
      expect(executions.map((e: { agent_name: string }) => e.agent_name)).toEqual(agents);
      expect(new Set(executions.map((e: { status: string }) => e.status))).toEqual(new Set(['success']));
      await limit(8);
    },
  );

  it.each(['codex', 'gemini'])(
    verifies('R21')('%s asks two side by side when it may, and is told both answers'),
    async (caller) => {
      const { row } = await fleet.task(caller, through([caller, 'claude'], say('again'), 'parallel=true times=2'));
      expect(row, JSON.stringify(row)).toMatchObject({ status: 'success', tool_calls: 2 });
      expect(row.response.match(/again/g)).toHaveLength(2);
    },
  );

  it.each(['codex', 'gemini'])(
    verifies('D13', 'R20', 'R25')('%s is cancelled while it waits: both end, cancelled, and no line is left'),
    async (caller) => {
      const id = await fleet.running(caller, through([caller, 'claude'], 'Go. [[mode:hang]]'));
      const [, child] = await fleet.drover.until(
        'its child runs',
        () => chain(id),
        (all) => all.length > 1 && all[1].started_at !== null,
      );
      expect((await fleet.drover.api('GET', `/api/executions/${id}`)).body.status).toBe('waiting');
      await fleet.drover.api('POST', `/api/executions/${id}/terminate`, {});
      expect(await fleet.drover.ended(id)).toMatchObject({ cause: 'cancelled' });
      expect(await fleet.drover.ended(child.id)).toMatchObject({ cause: 'cancelled' });
      expect(fleet.drover.pids('drover-calls')).toEqual([]);
    },
  );

  it.each(['codex', 'gemini'])(
    verifies('R20', 'R45')('%s reads a refusal and goes on; the token of its line is never shown'),
    async (caller) => {
      const { row } = await fleet.task(caller, through([caller, 'nobody'], say('never')));
      expect(row, JSON.stringify(row)).toMatchObject({ status: 'success', attention: [] });
      expect(row.response).toContain('not_found');
      const log = (await fleet.drover.api('GET', `/api/agents/${caller}/executions/${row.id}/log`)).body;
      expect(JSON.stringify(log)).not.toMatch(/drx_|Bearer /);
    },
  );
});
