/**
 * One attempt as its steps hand it on: what is to be done, how far it has come, who may change its course, and with what. And
 * the three ways in which it can end for this runner. Data only.
 */
import { emptyFacts, type Facts } from '../contract/facts.ts';
import type { ClaimedWork } from '../contract/runner-protocol.ts';
import { cliOf } from './adapters/all.ts';
import type { Control } from './control.ts';
import type { RunnerParts } from './parts.ts';
import type { Hide } from './redact.ts';
import type { AttemptState } from './spool.ts';

export interface Run {
  readonly claim: ClaimedWork;
  /** Its copy on disk is what a restarted runner goes on from. */
  readonly state: AttemptState;
  readonly control: Control;
  readonly parts: RunnerParts;
  /** Takes out of a text what nothing may show (R45). */
  readonly hide: Hide;
}

export type AttemptEnd =
  /** `transcript` resolves when the server has the whole of it; the facts go after it. */
  | { kind: 'ended'; facts: Facts; transcript: () => Promise<void> }
  /** The server said no at the gate and knows why: nothing was started, nothing is owed. */
  | { kind: 'refused'; why: string }
  /** This runner leaves; the process stays with the holder and the next runner goes on. */
  | { kind: 'left' };

export const ended = (facts: Facts, transcript = async () => {}): AttemptEnd => ({ kind: 'ended', facts, transcript });

/** What is true of every attempt on this host, before anything has happened. */
export const factsOf = ({ claim, parts }: Pick<Run, 'claim' | 'parts'>): Facts => ({
  ...emptyFacts(cliOf(claim.agent.adapter)),
  timeout_s: claim.timeout_s,
  host: parts.hostName,
  // As the adapters set it (adapters/environment.ts).
  tz: claim.secrets?.TZ ?? claim.agent.env.TZ ?? 'UTC',
  isolation: parts.launcher.isolation,
});

/** An ending before there was a process. */
export const endedEarly = (run: Pick<Run, 'claim' | 'parts'>, why: Partial<Facts>): AttemptEnd =>
  ended({ ...factsOf(run), ...why });
