/** The fleet as text: planned, applied, exported and applied again; and every problem by its line, with nothing done. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { templates } from '../../src/api/manifest/templates.ts';
import { type Fleet, openFleet } from '../support/fleet.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet();
});
afterEach(() => fleet.end());

const apply = async (manifest: string, dry_run = false) => fleet.api('POST', '/api/apply', { manifest, dry_run });
const text = `version: 1
limits:
  agent_call_limit: 5
agents:
  - name: Lead Agent
    adapter: command
    command: [cat]
    max_parallel_tasks: 2
    resources: { memory: 384m }
    permitted_agents: [helper]
    schedules:
      - name: nightly
        cron_expression: "0 3 * * *"
        timezone: Europe/Berlin
        message: tidy up
  - name: helper
    adapter: command
    command: [cat]
`;

describe('a manifest', () => {
  it('is planned without doing anything, applied, and then there is nothing left to do', async () => {
    const dry = await apply(text, true);
    expect(dry.body).toMatchObject({ dry_run: true, summary: { create: 3, change: 2, unchanged: 0 }, result: null });
    expect((await fleet.api('GET', '/api/agents')).body).toEqual([]);
    const done = await apply(text);
    expect(done.body.result.map((r: { ok: boolean }) => r.ok)).toEqual([true, true, true, true, true]);
    expect((await fleet.api('GET', '/api/agents/lead-agent')).body).toMatchObject({
      max_parallel_tasks: 2,
      resources: { memory_bytes: 384 * 1024 * 1024 },
    });
    expect((await fleet.api('GET', '/api/agents/lead-agent/permissions')).body.permitted_agents).toEqual(['helper']);
    expect((await fleet.api('GET', '/api/agents/lead-agent/schedules')).body[0]).toMatchObject({ name: 'nightly' });
    expect((await fleet.api('GET', '/api/fleet/limits')).body.agent_call_limit).toBe(5);
    expect((await apply(text)).body).toMatchObject({ summary: { create: 0, change: 0, unchanged: 5 }, result: [] });
    const changed = await apply(
      text.replace('0 3 * * *', '0 4 * * *').replace('max_parallel_tasks: 2', 'max_parallel_tasks: 4'),
    );
    expect(changed.body.plan.filter((s: { action: string }) => s.action === 'change')).toMatchObject([
      { kind: 'agent', fields: ['max_parallel_tasks'] },
      { kind: 'schedule', fields: ['cron_expression'] },
    ]);
    expect((await fleet.api('GET', '/api/agents/lead-agent/schedules')).body[0].cron_expression).toBe('0 4 * * *');
  });

  it('exported and applied again changes nothing, and makes the same elsewhere', async () => {
    await apply(text);
    const exported = await fleet.api('GET', '/api/export');
    expect(exported.headers['content-type']).toContain('yaml');
    expect((await apply(exported.text, true)).body.summary).toEqual({ create: 0, change: 0, unchanged: 5 });
    for (const a of ['lead-agent', 'helper']) await fleet.api('DELETE', `/api/agents/${a}`);
    expect((await apply(exported.text)).body.result.every((r: { ok: boolean }) => r.ok)).toBe(true);
    expect((await fleet.api('GET', '/api/export')).text).toBe(exported.text);
    expect((await fleet.api('GET', '/api/export?format=json')).body.agents).toHaveLength(2);
  });

  it('with problems names the line of each, and nothing is done', async () => {
    const lines = async (manifest: string): Promise<[number, string][]> => {
      const { status, body } = await apply(manifest);
      expect(status).toBe(422);
      expect(body.error.message).toContain(`line ${body.error.details[0].line}`);
      return body.error.details.map((d: { line: number; path: string }) => [d.line, d.path]);
    };
    expect(await lines(text.replace('"0 3 * * *"', 'whenever'))).toEqual([
      [13, 'agents.0.schedules.0.cron_expression'],
    ]);
    expect(await lines(text.replace('max_parallel_tasks: 2', 'max_parallel_tasks: many'))).toEqual([
      [8, 'agents.0.max_parallel_tasks'],
    ]);
    expect(await lines(text.replace('[helper]', '[nobody]'))).toEqual([[10, 'agents.0.permitted_agents']]);
    expect(await lines(text.replace('name: helper', 'name: lead agent'))).toContainEqual([16, 'agents.1.name']);
    expect(await lines('agents:\n  - name: x\n    adapter: command\n')).toEqual([[2, 'agents.0.command']]);
    expect(await lines('agents:\n  - name: x\n   bad: [\n')).not.toEqual([]);
    expect(await lines('agents:\n  - name: x\n    colour: red\n')).toEqual([[2, 'agents.0']]);
    expect(await lines('agents:\n  - name: x\n    env: { ANTHROPIC_API_KEY: s }\n')).toEqual([
      [3, 'agents.0.env.ANTHROPIC_API_KEY'],
    ]);
    expect((await fleet.api('GET', '/api/agents')).body).toEqual([]);
  });

  it.each(templates.map((t) => [t.name, t.manifest]))(
    'template %s can be applied as it stands',
    async (_, manifest) => {
      expect((await fleet.api('GET', '/api/templates')).body.map((t: { name: string }) => t.name)).toContain(_);
      expect((await apply(manifest)).body.result.every((r: { ok: boolean }) => r.ok)).toBe(true);
    },
  );
});
