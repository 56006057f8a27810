/** What a person is told after an ending, and what raises nothing. */
import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { emptyFacts, type Facts } from '../contract/facts.ts';
import { diagnose } from './diagnose.ts';
import { operatorItem } from './operator-item.ts';

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
const item = (facts: Facts, options = {}) => operatorItem(diagnose(facts, options), facts, agent);

describe('operatorItem', () => {
  it(verifies('R42')('names limit, peak, count and the setting of an out-of-memory kill'), () => {
    const found = item({ ...emptyFacts('claude'), signal: 'SIGKILL', memory });
    expect(found).toMatchObject({ kind: 'alert', dedup_key: 'oom_killed', priority: 'high' });
    expect(found!.evidence[0]).toBe('limit 384 MiB, peak 384 MiB, kills 1');
    expect(found!.evidence[1]).toContain('resources.memory');
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
});
