/**
 * What a person must see after an ending, as a value: one alert per agent and kind (`dedup_key`), or nothing. It names what to
 * change. Passing troubles raise none: they are retried, and `weather` speaks for many at once. Pure.
 */
import { type Cause, causes } from '../contract/causes.ts';
import type { Facts } from '../contract/facts.ts';
import type { Verdict } from '../contract/verdict.ts';
import { oomDelta } from './memory-evidence.ts';

/** A `NewOperatorItem` of the store without its id. */
interface OperatorNotice {
  kind: 'alert';
  dedup_key: string;
  priority: 'low' | 'normal' | 'high';
  title: string;
  evidence: string[];
}

interface NoticedAgent {
  name: string;
  /** resources.memory; null = no limit of its own. */
  memory_bytes: number | null;
}

const priorities: Partial<Record<Cause, OperatorNotice['priority']>> = {
  oom_killed: 'high',
  memory_limit: 'high',
  memory_pressure_killed: 'high',
  host_resource_exhausted: 'high',
  runner_lost: 'high',
  auth_failed: 'high',
  auth_missing: 'high',
  access_denied: 'high',
  billing: 'high',
  credentials_exhausted: 'high',
  usage_limit: 'normal',
  killed_unknown: 'normal',
  self_killed: 'normal',
  crashed: 'normal',
  heap_oom: 'normal',
  log_limit: 'low',
  spawn_not_found: 'normal',
  spawn_not_executable: 'normal',
  spawn_args_too_long: 'normal',
  workdir_missing: 'normal',
  bad_cli_usage: 'normal',
  bad_config: 'normal',
  model_unavailable: 'normal',
  tls_failure: 'normal',
  edge_blocked: 'normal',
};

export const operatorItem = (verdict: Verdict, facts: Facts, agent: NoticedAgent): OperatorNotice | null => {
  const priority = priorities[verdict.cause];
  if (priority !== undefined)
    return {
      kind: 'alert',
      dedup_key: verdict.cause,
      priority,
      title: `${agent.name}: ${causes[verdict.cause].title}`,
      evidence: [...details(verdict, facts, agent), ...verdict.evidence.slice(0, 5)],
    };
  if (verdict.attention.includes('work_not_kept'))
    return attention(agent, 'work_not_kept', 'high', 'its work could not be kept', [
      facts.workspace?.keep_error ?? 'the reason is not known',
    ]);
  if (verdict.attention.includes('permission_mode_differs'))
    return attention(agent, 'permission_mode_differs', 'high', 'it ran in another permission mode than asked for', [
      `the CLI reported ${facts.stream.permission_mode}`,
    ]);
  if (verdict.attention.includes('blocked_tools'))
    return attention(agent, 'blocked_tools', 'normal', 'tools were denied', [
      `denied: ${facts.stream.denied_tools.join(', ')}`,
      'Change permission_mode or allowed_tools of the agent if it needs them.',
    ]);
  return null;
};

const attention = (
  agent: NoticedAgent,
  dedup_key: string,
  priority: OperatorNotice['priority'],
  what: string,
  evidence: string[],
): OperatorNotice => ({ kind: 'alert', dedup_key, priority, title: `${agent.name}: ${what}`, evidence });

const size = (bytes: number | null): string =>
  bytes === null ? 'not known' : `${Math.round(bytes / 1024 / 1024)} MiB`;

const details = (verdict: Verdict, facts: Facts, agent: NoticedAgent): string[] => {
  const { advice } = causes[verdict.cause];
  const out: string[] = [];
  if (verdict.cause === 'oom_killed' || verdict.cause === 'memory_limit') {
    const limit = facts.memory?.limit_bytes ?? agent.memory_bytes;
    out.push(
      `limit ${size(limit)}, peak ${size(facts.memory?.peak_bytes ?? null)}, kills ${oomDelta(facts.memory) ?? 'not known'}`,
    );
    const set =
      agent.memory_bytes === null ? 'it has none, so the host is the limit' : `now ${size(agent.memory_bytes)}`;
    out.push(`Setting: resources.memory of the agent (${set}).`);
  }
  if (verdict.reset_at !== null) out.push(`reset at ${new Date(verdict.reset_at).toISOString()}`);
  if (advice !== '') out.push(advice);
  return out;
};
