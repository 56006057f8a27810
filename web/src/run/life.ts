/** A row and its attempts → its life as a list of moments, oldest first. Pure; a moment that was not measured is left out. */
import type { AttemptBody, ExecutionBody } from '../../../src/client/wire.ts';
import type { Cause } from '../../../src/contract/causes.ts';
import { triggerWords } from '../words/states.ts';
import { clockTime, lasted, msOf, span } from '../words/times.ts';

interface Moment {
  at: number;
  tone: 'plain' | 'run' | 'wait' | 'good' | 'bad';
  what: string;
  more: string;
}

const ended: Record<string, Moment['tone']> = { success: 'good', failed: 'bad' };

/** `hostOf`: where a runner is; null = not known any more, and its id says nothing to a person. */
export const lifeOf = (
  row: ExecutionBody,
  titleOf: (cause: Cause | null) => string,
  hostOf: (runner: string) => string | null,
  zone?: string,
): Moment[] => {
  const moments: Moment[] = [];
  const add = (at: string | null | undefined, tone: Moment['tone'], what: string, more = '') => {
    const ms = msOf(at);
    if (ms !== null) moments.push({ at: ms, tone, what, more });
  };
  add(row.queued_at, 'wait', 'Queued', `by ${triggerWords[row.triggered_by] ?? row.triggered_by}`);
  const attempts = row.attempts ?? [];
  const several = attempts.length > 1;
  for (const a of attempts) ofAttempt(a, several, add, titleOf, hostOf, zone);
  add(row.cancel_requested_at, 'plain', 'Cancel asked for');
  const own = row.duration_ms === null ? '' : `ran ${lasted(row.duration_ms)}`;
  const waited = row.queued_ms === null || row.queued_ms === undefined ? '' : `waited ${span(row.queued_ms)}`;
  add(
    row.completed_at,
    ended[row.status] ?? 'plain',
    row.status === 'success' ? 'Ended: success' : `Ended: ${titleOf(row.cause)}`,
    [own, waited].filter((t) => t !== '').join(', '),
  );
  // Equal times keep the order in which they were told: stable since ES2019.
  return moments.sort((a, b) => a.at - b.at);
};

type Add = (at: string | null | undefined, tone: Moment['tone'], what: string, more?: string) => void;

const ofAttempt = (
  a: AttemptBody,
  several: boolean,
  add: Add,
  titleOf: (cause: Cause | null) => string,
  hostOf: (runner: string) => string | null,
  zone: string | undefined,
) => {
  const name = several ? `Attempt ${a.number}` : '';
  const host = a.runner_id === null ? null : hostOf(a.runner_id);
  add(a.claimed_at, 'plain', several ? `${name} claimed` : 'Claimed', host === null ? '' : `by the runner of ${host}`);
  add(a.started_at, 'run', several ? `${name} started` : 'Started');
  const decision = a.decision;
  if (a.late)
    return add(a.ended_at, 'bad', `${name} ended late`.trim(), `${titleOf(a.verdict?.cause ?? null)}; the state stays`);
  if (decision?.kind === 'retry')
    add(
      a.ended_at,
      'bad',
      `${name} failed: ${titleOf(a.verdict?.cause ?? null)}`.trim(),
      `tried again after ${span(decision.after_ms)}: ${decision.why}`,
    );
  else if (decision?.kind === 'park')
    add(
      a.ended_at,
      'wait',
      `${name} parked: ${titleOf(a.verdict?.cause ?? null)}`.trim(),
      // Weather has no end of its own: it waits in the queue until somebody has got through.
      decision.until <= (msOf(a.ended_at) ?? 0)
        ? `until it is over: ${decision.why}`
        : `until ${clockTime(decision.until, decision.until, zone)}: ${decision.why}`,
    );
};
