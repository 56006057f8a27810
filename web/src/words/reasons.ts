/**
 * Why a row waits, where it stands, and what the whole fleet is held by, in words. Pure; every reason of the contract has
 * its sentence (the type of the table sees to it), and every number in it is one the server gave.
 */

import type { LimitsBody, WaitBody } from '../../../src/client/wire.ts';
import type { WaitReason } from '../../../src/contract/limits.ts';
import { clockTime, count, msOf, plural, span } from './times.ts';

export interface Caps {
  agent: string;
  agentRunning: number | null;
  agentCap: number | null;
  fleetRunning: number | null;
  fleetCap: number | null;
  provider?: string;
}

const ofCap = (running: number | null, cap: number | null): string =>
  running === null || cap === null ? 'at its cap' : `at its cap: ${running} of ${cap} run`;

const sentences: Record<WaitReason, (c: Caps) => string> = {
  fleet_paused: () => 'The fleet is paused',
  agent_stopped: (c) => `${c.agent} is stopped`,
  provider_paused: (c) => `${c.provider ?? 'Its provider'} is paused`,
  budget_spent: () => 'The spending budget is used up',
  not_before: () => 'Next try',
  credentials_exhausted: () => 'No credential it may use is good',
  session_busy: () => 'The turn before it in its session goes on',
  no_runner: () => 'No runner is connected',
  memory: () => 'The host has too little free memory',
  disk: () => 'The host has too little free disk',
  live_bound: (c) => `${c.agent} has too many live processes`,
  agent_cap: (c) => `${c.agent} is ${ofCap(c.agentRunning, c.agentCap)}`,
  credential_cap: () => 'Its credential is at its cap',
  fan_out_cap: () => 'Its fan-out is at its own cap',
  fleet_cap: (c) => `The fleet is ${ofCap(c.fleetRunning, c.fleetCap)}`,
  runner_room: () => 'The runner has no free place',
  turn: () => 'Nothing binds: it goes in its turn',
};

export const reasonInWords = (
  wait: Pick<WaitBody, 'reason' | 'until'> & { about?: string | null },
  caps: Caps,
  now: number,
  zone?: string,
): string => {
  const about = wait.about ?? null;
  const named = wait.reason === 'provider_paused' && about !== null;
  const known = sentences[wait.reason]?.(named ? { ...caps, provider: about } : caps) ?? wait.reason;
  const sentence = named || about === null ? known : `${known} (${about})`;
  const until = msOf(wait.until);
  if (until === null) return sentence;
  const left = until - now;
  if (wait.reason === 'not_before') return left > 0 ? `${sentence} in ${span(left)}` : `${sentence} is due`;
  return `${sentence} until ${clockTime(until, now, zone)}`;
};

/** For sums over many agents: `An agent is at its cap`. */
export const reasonAlone = (reason: WaitReason): string =>
  sentences[reason]?.({ agent: 'An agent', agentRunning: null, agentCap: null, fleetRunning: null, fleetCap: null }) ??
  reason;

/** `next in its lane`, `3rd in its lane, 2 lanes ahead`. */
export const placeInWords = (wait: Pick<WaitBody, 'position' | 'lanes_ahead'>): string => {
  const own = wait.position <= 1 ? 'next in its lane' : `${ordinal(wait.position)} in its lane`;
  return wait.lanes_ahead > 0 ? `${own}, ${plural(wait.lanes_ahead, 'lane')} ahead` : own;
};

export const ordinal = (n: number): string => {
  const tens = n % 100;
  const ending = tens >= 11 && tens <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th');
  return `${count(n)}${ending}`;
};

export interface AgentUse {
  name: string;
  running: number;
  queued: number;
  cap: number | null;
}

interface Banner {
  tone: 'stop' | 'bind';
  text: string;
  /** What to type, when something can be typed. */
  command?: string;
}

/**
 * What to know before reading the lists: the one thing that holds the fleet, and which provider is down; null when nothing is held.
 * `down`: providers with an incident, by name.
 */
export const bannerOf = (
  l: LimitsBody,
  agents: readonly AgentUse[],
  runnersSeen: number | null,
  down: readonly string[] = [],
): Banner | null => {
  const binds = bindingOf(l, agents, runnersSeen);
  if (down.length === 0) return binds;
  const held = l.waiting_by_reason.provider_paused ?? 0;
  const waits =
    held === 0 ? '' : `: ${count(held)} ${held === 1 ? 'waits' : 'wait'} for ${down.length === 1 ? 'it' : 'them'}`;
  const text = `${down.join(' and ')} ${down.length === 1 ? 'is' : 'are'} in trouble${waits}.`;
  return binds === null ? { tone: 'bind', text: text } : { ...binds, text: `${binds.text} ${text}` };
};

const bindingOf = (l: LimitsBody, agents: readonly AgentUse[], runnersSeen: number | null): Banner | null => {
  const run =
    l.running === 0
      ? 'Nothing runs'
      : `${count(l.running)} ${l.running === 1 ? 'runs on and ends' : 'run on and end'} by ${l.running === 1 ? 'itself' : 'themselves'}`;
  const waits = `${count(l.queued)} ${l.queued === 1 ? 'waits' : 'wait'}`;
  if (l.paused) return { tone: 'stop', text: `The fleet is paused: no new work starts. ${run}; ${waits}.` };
  const held = l.waiting_by_reason;
  // With work in the queue the server's own reason decides; with none, the list of runners is all there is to go by.
  if ((held.no_runner ?? 0) > 0)
    return { tone: 'stop', text: `No runner is connected: nothing can start. ${waits}.`, command: 'bin/drover runner' };
  if (runnersSeen === 0 && l.queued === 0 && l.running === 0)
    return { tone: 'stop', text: 'No runner is connected: new work will wait.', command: 'bin/drover runner' };
  const hosts = (['memory', 'disk'] as const).filter((r) => (held[r] ?? 0) > 0);
  if (hosts.length > 0)
    return {
      tone: 'stop',
      text: `The host is short of ${hosts.join(' and ')}: new work waits until there is room. ${waits}.`,
    };
  if ((held.credentials_exhausted ?? 0) > 0)
    return {
      tone: 'stop',
      text: `No good credential: ${count(held.credentials_exhausted)} put aside until a reset, or until one is stored.`,
    };
  if ((held.fleet_cap ?? 0) > 0)
    return {
      tone: 'bind',
      text: `The fleet is at its limit: ${l.running} of ${l.agent_call_limit} run, ${count(held.fleet_cap)} ${held.fleet_cap === 1 ? 'waits' : 'wait'} for a slot.`,
    };
  if ((held.agent_cap ?? 0) > 0) {
    const full = agents.filter((a) => a.queued > 0 && a.cap !== null && a.running >= a.cap);
    const who =
      full.length === 0
        ? 'An agent is at its cap'
        : full.length === 1
          ? `${full[0]!.name} is at its cap (${full[0]!.running} of ${full[0]!.cap})`
          : `${full.length} agents are at their caps (${full
              .slice(0, 3)
              .map((a) => a.name)
              .join(', ')}${full.length > 3 ? ', …' : ''})`;
    return {
      tone: 'bind',
      text: `${who}: ${count(held.agent_cap)} more ${held.agent_cap === 1 ? 'waits' : 'wait'}.`,
    };
  }
  if ((held.runner_room ?? 0) > 0)
    return {
      tone: 'bind',
      text: `The runner has no free place: ${count(held.runner_room)} ${held.runner_room === 1 ? 'waits' : 'wait'} for one.`,
    };
  return null;
};

const attentions: Record<string, string> = {
  blocked_tools: 'tools were blocked',
  permission_mode_differs: 'the CLI ran in another permission mode',
  tool_oom: 'a tool was killed: out of memory',
  memory_pressure: 'it was short of memory all the time',
  stragglers: 'processes outlived it and were ended',
  login_differs: 'it logged in with another login than it was lent',
  work_not_kept: 'its work was not kept',
};
/** An unknown flag of a newer server is shown as it is, not hidden. */
export const attentionInWords = (flag: string): string => attentions[flag] ?? flag.replaceAll('_', ' ');
