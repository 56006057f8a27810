/**
 * Silence through a whole runner: real processes and the real Claude Code CLI, with a real MCP server that hangs. Only the
 * limit that a test is about is short, and the renewals where one waits for them; all others are those of the product.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diagnose } from '../../src/outcome/diagnose.ts';
import { type ModelApi, startModelApi } from '../model-api/server.ts';
import { fixture, lives } from '../support/held.ts';
import { type RunnerBench, runnerBench } from '../support/runner-bench.ts';
import { verifies } from '../support/verifies.ts';

let provider: ModelApi;
beforeAll(async () => {
  provider = await startModelApi();
});
afterAll(() => provider?.close());

const credential = { id: 'cred', kind: 'anthropic_api_key' as const, env: { ANTHROPIC_API_KEY: 'lent' } };
const claude = (over: object = {}) => ({
  adapter: 'claude' as const,
  model: 'claude-sonnet-4-5',
  env: { ANTHROPIC_BASE_URL: provider.url },
  ...over,
});

describe('a tool that hangs', () => {
  let bench: RunnerBench;
  beforeAll(async () => {
    bench = await runnerBench({ stallMs: { mcp: 700 } });
  });
  afterAll(() => bench?.end());

  it(verifies('R28', 'D22')('is named, though its CLI says all the time that time passes'), async () => {
    const { claim, facts } = await bench.run({
      agent: { adapter: 'claude', executable: fixture('stall-hung-tool.sh'), env: { TOOL: 'mcp__docs__search' } },
    });
    expect(facts.stop).toMatchObject({
      reason: 'stall',
      detail: 'silent for 0.7 s while it waited for the tool mcp__docs__search',
    });
    const verdict = diagnose(facts);
    expect(verdict).toMatchObject({ cause: 'stalled', switch_credential: false });
    expect(verdict.evidence[0]).toContain('mcp__docs__search');
    expect(verdict.message).toContain('a tool of an MCP server');
    expect(bench.server.log(claim.attempt).at(-1)?.text).toContain('mcp__docs__search');
    expect(lives(facts.pid!)).toBe(false);
  });

  it(verifies('R28')('is found with the real CLI and a real MCP server that never answers'), async () => {
    const workspace = join(bench.home, 'with a server');
    mkdirSync(join(workspace, '.claude'), { recursive: true });
    const server = { command: process.execPath, args: [fixture('stall-mcp-server.mjs')], alwaysLoad: true };
    writeFileSync(join(workspace, '.mcp.json'), JSON.stringify({ mcpServers: { docs: server } }));
    writeFileSync(
      join(workspace, '.claude', 'settings.json'),
      JSON.stringify({ enableAllProjectMcpServers: true, enabledMcpjsonServers: ['docs'] }),
    );
    const { facts } = await bench.run({
      message: '[[mode:call name=mcp__docs__search]]',
      credential,
      agent: claude({ workspace, allowed_tools: ['mcp__docs__search'] }),
    });
    expect(facts.stream.mcp_servers).toContainEqual({ name: 'docs', status: 'connected' });
    expect(facts.stop).toMatchObject({ reason: 'stall' });
    expect(facts.stop?.detail).toContain('the tool mcp__docs__search');
    expect(diagnose(facts).cause).toBe('stalled');
  });
});

describe('a model that says nothing', () => {
  let bench: RunnerBench;
  beforeAll(async () => {
    bench = await runnerBench({ stallMs: { model: 700, shell: 700 } });
  });
  afterAll(() => bench?.end());

  it(verifies('R28', 'D22')('is a stall, though the real CLI answers the stop with exit 0'), async () => {
    const { facts } = await bench.run({ message: '[[mode:hang]]', credential, agent: claude() });
    expect(facts.stop).toMatchObject({ reason: 'stall', detail: 'silent for 0.7 s while it waited for the model' });
    expect(diagnose(facts)).toMatchObject({ cause: 'stalled', switch_credential: false });
  });

  it(verifies('D21')('after a first result is no stall: work in the background is waited for'), async () => {
    const { facts } = await bench.run({
      message: '[[mode:bash command="sleep 6; echo late > late.txt" background=1]]',
      credential,
      agent: claude({ allowed_tools: ['Bash'] }),
    });
    expect(facts).toMatchObject({ exit_code: 0, stop: null });
    expect(facts.stream.results_seen).toBe(2);
    expect(readFileSync(join(bench.workspace, 'late.txt'), 'utf8')).toBe('late\n');
  });
});

describe('a run whose execution waits for another agent', () => {
  let bench: RunnerBench;
  beforeAll(async () => {
    bench = await runnerBench({ stallMs: { shell: 700 }, renewMs: 1_000 });
  });
  afterAll(() => bench?.end());

  it(verifies('R7')('is not called silent for it'), async () => {
    const claim = bench.claim({
      agent: { adapter: 'claude', executable: fixture('stall-hung-tool.sh'), env: { TOOL: 'Bash' } },
    });
    let waiting = true;
    bench.server.renewed = (attempt) =>
      attempt === claim.attempt && waiting ? { attempt, state: 'waiting', since: 0 } : { attempt, state: 'ok' };
    bench.server.give(claim);
    const asked = () => bench.server.renewals.filter((r) => r.attempts.some((a) => a.attempt === claim.attempt)).length;
    // A second lies between two of them: many times the limit has passed in silence by then.
    await bench.server.until(() => asked() >= 5);
    expect(bench.server.facts(claim.attempt)).toEqual([]);
    waiting = false;
    const facts = await bench.facts(claim);
    expect(facts.stop).toMatchObject({ reason: 'stall', detail: expect.stringContaining('the tool Bash') });
    expect(facts.waiting_ms).toBeGreaterThan(3_000);
  });
});

describe('a program with plain output', () => {
  let bench: RunnerBench;
  beforeAll(async () => {
    bench = await runnerBench();
  });
  afterAll(() => bench?.end());

  it('may be silent; only a limit of the agent’s own ends it', async () => {
    const command = [fixture('stall-speaks-then-hangs.sh')];
    const free = bench.claim({ agent: { command } });
    bench.server.give(free);
    await bench.server.until(() => bench.server.log(free.attempt).some((e) => e.text === 'working'));
    const { facts } = await bench.run({ agent: { command, stall_s: 1 } });
    expect(facts.stop).toMatchObject({ reason: 'stall', detail: 'silent for 1 s while it waited for its output' });
    expect(facts.stream.response).toContain('working');
    expect(bench.server.facts(free.attempt)).toEqual([]);
    bench.server.stop(free.attempt, 'cancel');
    expect(await bench.facts(free)).toMatchObject({ stop: { reason: 'cancel' } });
  });
});
