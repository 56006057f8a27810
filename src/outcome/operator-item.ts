/**
 * What a person must see after an ending, as values: one alert per agent and kind (`dedup_key`), or none. It names what to
 * change, and how long it must be quiet before a success closes it. Passing troubles raise none alone: they are retried, and
 * only the same one several times in a row is told of. Pure.
 */
import { type Cause, causes } from '../contract/causes.ts';
import type { Facts } from '../contract/facts.ts';
import { itemLimits, type NewOperatorItem } from '../contract/operator.ts';
import type { Verdict } from '../contract/verdict.ts';
import { hostWasShort, oomDelta } from './memory-evidence.ts';

/** A `NewOperatorItem` without its id. */
type OperatorNotice = Omit<NewOperatorItem, 'id'> & { kind: 'alert' };

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
  stalled: 'normal',
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

/** They depend on what one run was asked to do: a later one that was smaller does not show that they are over. */
const ofMemory: readonly Cause[] = ['oom_killed', 'memory_limit', 'memory_pressure_killed', 'heap_oom'];
/** They tell of one moment; all others tell of a state that a success proves to be over. */
const ofOneMoment: readonly Cause[] = [
  ...ofMemory,
  'host_resource_exhausted',
  'runner_lost',
  'killed_unknown',
  'self_killed',
  'crashed',
  'log_limit',
  'stalled',
];
/** Somebody wanted these, or they are not the agent's doing: any number of them in a row says nothing of it. */
const uncounted: readonly Cause[] = ['success', 'cancelled', 'shutdown', 'runner_lost'];

const { eventQuietMs } = itemLimits;

export const operatorItems = (verdict: Verdict, facts: Facts, agent: NoticedAgent): OperatorNotice[] => [
  ...ofCause(verdict, facts, agent),
  ...ofAttention(verdict, facts, agent),
];

/** What is raised when this ending is one of several of its cause in a row; the count is added where it is counted. */
export const repeatedItem = (verdict: Verdict, facts: Facts, agent: NoticedAgent): OperatorNotice | null =>
  uncounted.includes(verdict.cause)
    ? null
    : {
        ...noticeOf(verdict, facts, agent),
        priority: 'high',
        quiet_ms: ofMemory.includes(verdict.cause) ? eventQuietMs : 0,
      };

const noticeOf = (verdict: Verdict, facts: Facts, agent: NoticedAgent): OperatorNotice => ({
  kind: 'alert',
  dedup_key: verdict.cause,
  priority: priorities[verdict.cause] ?? 'normal',
  title: `${agent.name}: ${causes[verdict.cause].title}`,
  evidence: [...details(verdict, facts, agent), ...verdict.evidence.slice(0, 5)],
  quiet_ms: ofOneMoment.includes(verdict.cause) ? eventQuietMs : 0,
});

const ofCause = (verdict: Verdict, facts: Facts, agent: NoticedAgent): OperatorNotice[] =>
  priorities[verdict.cause] === undefined ? [] : [noticeOf(verdict, facts, agent)];

const ofAttention = (verdict: Verdict, facts: Facts, agent: NoticedAgent): OperatorNotice[] =>
  verdict.attention.flatMap((what): OperatorNotice[] => {
    const notice = (
      priority: OperatorNotice['priority'],
      title: string,
      evidence: string[],
      quiet_ms = 0,
    ): OperatorNotice[] => [
      { kind: 'alert', dedup_key: what, priority, title: `${agent.name}: ${title}`, evidence, quiet_ms },
    ];
    switch (what) {
      case 'work_not_kept':
        return notice('high', 'its work could not be kept', [facts.workspace?.keep_error ?? 'the reason is not known']);
      case 'permission_mode_differs':
        return notice('high', 'it ran in another permission mode than asked for', [
          `the CLI reported ${facts.stream.permission_mode}`,
        ]);
      case 'blocked_tools':
        return notice('normal', 'tools were denied', [
          `denied: ${facts.stream.denied_tools.join(', ')}`,
          `Setting: permission_mode or allowed_tools of the agent, if it needs them: drover agent set ${agent.name} --allow-tool TOOL`,
        ]);
      case 'login_differs':
        return notice('high', 'it logged in with something else than it was lent', [
          `the CLI reported apiKeySource ${facts.stream.api_key_source}`,
          'Look for a key in the settings of its workspace or in a wrapper around its CLI. The credential is not blamed.',
        ]);
      case 'tool_oom':
        return notice(
          'low',
          'a tool of it was killed for memory; the run went on',
          memoryDetails(facts, agent),
          eventQuietMs,
        );
      case 'memory_pressure':
        return notice(
          'normal',
          'it was short of memory until its time was up',
          memoryDetails(facts, agent),
          eventQuietMs,
        );
      case 'stragglers':
        return [];
      default:
        return what satisfies never;
    }
  });

const size = (bytes: number | null): string =>
  bytes === null ? 'not known' : `${Math.round(bytes / 1024 / 1024)} MiB`;

const details = (verdict: Verdict, facts: Facts, agent: NoticedAgent): string[] => {
  const { advice } = causes[verdict.cause];
  const out: string[] = [];
  if (verdict.cause === 'oom_killed' || verdict.cause === 'memory_limit') out.push(...memoryDetails(facts, agent));
  if (verdict.cause === 'stalled')
    out.push(`Setting: stall_seconds of the agent, if it needs longer: drover agent set ${agent.name} --stall SECONDS`);
  if (verdict.reset_at !== null) out.push(`reset at ${new Date(verdict.reset_at).toISOString()}`);
  if (advice !== '') out.push(advice);
  return out;
};

const memoryDetails = (facts: Facts, agent: NoticedAgent): string[] => {
  if (hostWasShort(facts) && agent.memory_bytes !== null)
    return [
      `peak ${size(facts.memory?.peak_bytes ?? null)} of its limit ${size(agent.memory_bytes)}: the host itself was short`,
      'Setting: the fleet limit (PUT /api/fleet/limits), or more memory for the host',
    ];
  const limit = facts.memory?.limit_bytes ?? agent.memory_bytes;
  const now = agent.memory_bytes === null ? 'it has none, so the host is the limit' : `now ${size(agent.memory_bytes)}`;
  const twice =
    agent.memory_bytes === null ? '' : `: drover agent set ${agent.name} --memory ${twiceOf(agent.memory_bytes)}`;
  return [
    `limit ${size(limit)}, peak ${size(facts.memory?.peak_bytes ?? null)}, kills ${oomDelta(facts.memory) ?? 'not known'}`,
    `Setting: resources.memory of the agent (${now})${twice}`,
  ];
};

/** A first guess in the form that the setting takes: enough for most, and still a limit. */
const twiceOf = (bytes: number): string => `${Math.ceil((2 * bytes) / 1024 / 1024)}m`;
