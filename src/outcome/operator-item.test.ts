/** What a person is told after an ending, and what raises nothing. */
import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { emptyFacts, type Facts } from '../contract/facts.ts';
import { diagnose } from './diagnose.ts';
import { operatorItems, repeatedItem } from './operator-item.ts';

const agent = { name: 'builder', memory_bytes: 384 * 1024 * 1024 };
const memory = {
  held_by: 'cgroup_v1' as const,
  limit_bytes: 384 * 1024 * 1024,
  peak_bytes: 384 * 1024 * 1024,
  oom_kills_before: 0,
  oom_kills_after: 1,
  oom_group_kills: null,
  host_oom_kills_before: null,
  host_oom_kills_after: null,
};
const items = (facts: Facts, options = {}) => operatorItems(diagnose(facts, options), facts, agent);
const item = (facts: Facts, options = {}) => items(facts, options)[0] ?? null;

describe('operatorItem', () => {
  it(verifies('R42')('names limit, peak, count and the setting of an out-of-memory kill'), () => {
    const found = item({ ...emptyFacts('claude'), signal: 'SIGKILL', memory });
    expect(found).toMatchObject({ kind: 'alert', dedup_key: 'oom_killed', priority: 'high' });
    expect(found!.evidence[0]).toBe('limit 384 MiB, peak 384 MiB, kills 1');
    expect(found!.evidence[1]).toBe(
      'Setting: resources.memory of the agent (now 384 MiB): drover agent set builder --memory 768m',
    );
  });

  it(verifies('R42')('raises nothing for success, a cancel, a deadline or a passing trouble'), () => {
    expect(item({ ...emptyFacts('command'), exit_code: 0 })).toBeNull();
    expect(
      item({ ...emptyFacts('claude'), signal: 'SIGTERM', stop: { reason: 'cancel', at: 1, detail: null } }),
    ).toBeNull();
    expect(
      item({ ...emptyFacts('claude'), signal: 'SIGTERM', stop: { reason: 'deadline', at: 1, detail: null } }),
    ).toBeNull();
    const http = {
      accepted: false,
      status: null,
      error_code: null,
      message: null,
      termination_reason: null,
      connect_error: 'ECONNREFUSED',
    };
    expect(item({ ...emptyFacts('http'), http })).toBeNull();
  });

  it(verifies('R42')('tells of a run that was stopped for its silence, with the tool and the setting'), () => {
    const detail = 'silent for 1800 s while it waited for the tool mcp__db__query';
    const facts: Facts = { ...emptyFacts('claude'), signal: 'SIGINT', stop: { reason: 'stall', at: 1, detail } };
    const told = item(facts)!;
    expect(told).toMatchObject({ dedup_key: 'stalled', priority: 'normal' });
    expect(told.quiet_ms).toBeGreaterThan(0);
    expect(told.evidence.join()).toMatch(/--stall SECONDS.*mcp__db__query/s);
  });

  it(verifies('R30')('tells of denied tools on a run that went well'), () => {
    const facts = emptyFacts('claude');
    facts.exit_code = 0;
    facts.stream.result = { type: 'result', subtype: 'success', is_error: false };
    facts.stream.denied_tools = ['Write'];
    expect(item(facts)).toMatchObject({ dedup_key: 'blocked_tools', priority: 'normal' });
  });

  it(verifies('R30')('tells of another permission mode than asked for'), () => {
    const facts = emptyFacts('claude');
    facts.exit_code = 0;
    facts.stream.result = { type: 'result', subtype: 'success', is_error: false };
    facts.stream.permission_mode = 'default';
    expect(item(facts, { permissionMode: 'acceptEdits' })).toMatchObject({ dedup_key: 'permission_mode_differs' });
    expect(item(facts, { permissionMode: 'default' })).toBeNull();
  });

  it(verifies('R42')('tells of the cause and of what else a person must see, each once'), () => {
    const facts = { ...emptyFacts('claude'), signal: 'SIGKILL', memory };
    facts.stream.denied_tools = ['Write'];
    expect(items(facts).map((i) => i.dedup_key)).toEqual(['oom_killed', 'blocked_tools']);
  });

  it(
    verifies('R42', 'D17')('of a tool killed for memory it says so quietly, with the setting, and blames no agent'),
    () => {
      const facts = { ...emptyFacts('claude'), exit_code: 0, memory };
      facts.stream.result = { type: 'result', subtype: 'success', is_error: false };
      const [found, ...more] = items(facts);
      expect(more).toEqual([]);
      expect(found).toMatchObject({ dedup_key: 'tool_oom', priority: 'low' });
      expect(found!.evidence.join(' ')).toContain('resources.memory');
    },
  );

  it('says how long it must be quiet: a state not at all, a moment a day', () => {
    const quiet = (facts: Facts) => item(facts)?.quiet_ms;
    expect(quiet({ ...emptyFacts('claude'), signal: 'SIGKILL', memory })).toBe(86_400_000);
    const spawn_error = {
      code: 'ENOENT',
      syscall: 'spawn x',
      path: 'x',
      message: 'spawn x ENOENT',
      cwd_exists: true,
      binary_exists: false,
    };
    expect(quiet({ ...emptyFacts('command'), spawn_error })).toBe(0);
  });
});

describe('repeatedItem', () => {
  const repeated = (facts: Facts) => repeatedItem(diagnose(facts), facts, agent);
  it(verifies('R42')('counts troubles that raise nothing alone, and not what somebody wanted'), () => {
    const stopped = (reason: 'cancel' | 'deadline' | 'shutdown') =>
      repeated({ ...emptyFacts('claude'), signal: 'SIGTERM', stop: { reason, at: 1, detail: null } });
    expect(stopped('deadline')).toMatchObject({ dedup_key: 'timed_out', priority: 'high', quiet_ms: 0 });
    expect(stopped('cancel')).toBeNull();
    expect(stopped('shutdown')).toBeNull();
    expect(repeated({ ...emptyFacts('command'), exit_code: 0 })).toBeNull();
  });
  it('of memory still needs a day of quiet: a smaller task shows nothing', () => {
    expect(repeated({ ...emptyFacts('claude'), signal: 'SIGKILL', memory })).toMatchObject({ quiet_ms: 86_400_000 });
  });
});
