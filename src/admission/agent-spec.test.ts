import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { AgentPatch, type AgentRow, AgentSpec, credentialEnvNames } from '../contract/agent.ts';
import { isRefusal, type Refusal } from '../contract/errors.ts';
import { type AgentColumns, admitAgent, admitPatch } from './agent-spec.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-spec-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const make = (spec: object, isolated = false) =>
  admitAgent(AgentSpec.parse({ name: 'a', ...spec }), { id: 'x', owner_id: 'u', now: 5 }, { isolated });
const row = async (...args: Parameters<typeof make>): Promise<AgentRow> => {
  const made = await make(...args);
  if (isRefusal(made)) throw new Error(made.message);
  return made;
};
const no = async (...args: Parameters<typeof make>): Promise<Refusal> => {
  const made = await make(...args);
  if (!isRefusal(made)) throw new Error('it was admitted');
  return made;
};
const patch = async (agent: AgentRow, change: object): Promise<AgentColumns | Refusal> =>
  admitPatch(agent, AgentPatch.parse(change), { isolated: false });

describe('what a person writes about an agent', () => {
  it('cleans the name and refuses one with nothing left', async () => {
    expect((await row({ name: 'invalid name with spaces!' })).name).toBe('invalid-name-with-spaces');
    expect(await no({ name: '!!!' })).toMatchObject({ code: 'invalid', details: [{ field: 'name' }] });
  });

  it('keeps nothing that was not given: the defaults are those of the limits at run time', async () => {
    expect(await row({})).toMatchObject({
      adapter: 'claude',
      max_parallel_tasks: null,
      timeout_s: null,
      memory_bytes: null,
      permission_mode: null,
      workspace: null,
      desired_state: 'running',
    });
  });

  it('takes one limit for silence, none as 0, and nothing that a healthy pause would be', async () => {
    expect((await row({ stall_seconds: 600 })).stall_s).toBe(600);
    expect((await row({ stall_seconds: 0 })).stall_s).toBe(0);
    const made = await row({ stall_seconds: 600 });
    expect(await patch(made, { stall_seconds: null })).toEqual({ stall_s: null });
    for (const stall_seconds of [5, -1, 1.5, 86_401])
      expect(AgentSpec.safeParse({ name: 'a', stall_seconds }).success).toBe(false);
  });

  it('reads sizes and cores as people write them', async () => {
    expect(await row({ resources: { memory: '384m', cpu: '500m' } })).toMatchObject({
      memory_bytes: 384 * 1024 * 1024,
      cpu: 0.5,
    });
    expect(await no({ resources: { cpu: 'many' } })).toMatchObject({ details: [{ field: 'resources.cpu' }] });
  });

  it(
    verifies('R29')('refuses every name of a provider credential in env, and lets routing names through'),
    async () => {
      for (const name of credentialEnvNames)
        expect(await no({ env: { [name]: 'v' } })).toMatchObject({
          code: 'credential_in_env',
          message: expect.stringContaining('/api/subscriptions'),
        });
      expect((await row({ env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' } })).env).toEqual({
        ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
      });
    },
  );

  it('never repeats the value of a refused secret', async () => {
    expect(JSON.stringify(await no({ env: { ANTHROPIC_API_KEY: 'sk-very-secret' } }))).not.toContain('sk-very-secret');
  });

  it('takes a workspace that exists and refuses a missing one, a file and a relative path', async () => {
    expect((await row({ workspace: dir })).workspace).toBe(dir);
    expect(await no({ workspace: join(dir, 'nope') })).toMatchObject({ code: 'workspace_missing' });
    writeFileSync(join(dir, 'file'), '');
    expect(await no({ workspace: join(dir, 'file') })).toMatchObject({
      code: 'workspace_missing',
      message: expect.stringContaining('is not a directory'),
    });
    expect(await no({ workspace: 'here' })).toMatchObject({ code: 'invalid' });
  });

  it('refuses adapters without what they need', async () => {
    expect(await no({ adapter: 'command' })).toMatchObject({ details: [{ field: 'command' }] });
    expect(await no({ adapter: 'http' })).toMatchObject({ details: [{ field: 'base_url' }] });
    expect((await row({ adapter: 'command', command: ['cat'] })).command).toEqual(['cat']);
  });

  it(verifies('R30')('refuses bypassPermissions without isolation and names the override'), async () => {
    expect((await no({ permission_mode: 'bypassPermissions' })).message).toContain('allow_bypass_without_isolation');
    expect(await row({ permission_mode: 'bypassPermissions', allow_bypass_without_isolation: true })).toMatchObject({
      allow_bypass_without_isolation: true,
    });
    expect((await row({ permission_mode: 'bypassPermissions' }, true)).permission_mode).toBe('bypassPermissions');
  });

  it('refuses what a program could not be given, or would read as an option', async () => {
    expect(await no({ adapter: 'command', command: ['a\0b'] })).toMatchObject({ code: 'invalid' });
    expect(await no({ env: { A: 'x\0' } })).toMatchObject({ details: [{ field: 'env.A' }] });
    expect(await no({ model: '--dangerously-skip-permissions' })).toMatchObject({ details: [{ field: 'model' }] });
  });
});

describe('a change of an agent', () => {
  it('touches only what was given; null goes back to the default', async () => {
    const agent = await row({ model: 'm1', timeout_seconds: 60, env: { A: '1' } });
    expect(await patch(agent, { model: 'm2' })).toEqual({ model: 'm2' });
    expect(await patch(agent, { timeout_seconds: null })).toEqual({ timeout_s: null });
    expect(await patch(agent, {})).toEqual({});
  });

  it('is checked together with what stays', async () => {
    const agent = await row({ permission_mode: 'bypassPermissions', allow_bypass_without_isolation: true });
    expect(await patch(agent, { allow_bypass_without_isolation: false })).toMatchObject({ code: 'invalid' });
    expect(await patch(agent, { adapter: 'http' })).toMatchObject({ code: 'invalid' });
    expect(await patch(agent, { adapter: 'http', base_url: 'http://127.0.0.1:9' })).toMatchObject({ adapter: 'http' });
  });

  it('does not look again at a workspace that it does not change', async () => {
    const gone = mkdtempSync(join(tmpdir(), 'drover-gone-'));
    const agent = await row({ workspace: gone });
    rmSync(gone, { recursive: true });
    expect(await patch(agent, { model: 'm' })).toEqual({ model: 'm' });
    expect(await patch(agent, { workspace: gone })).toMatchObject({ code: 'workspace_missing' });
  });
});
