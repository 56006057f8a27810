/**
 * The attempts of this runner, from the claim until their facts are acknowledged: who they are, how to reach them, what there
 * is to prove. Room, renewals and stops all read it; it decides nothing.
 */
import type { ClaimedWork, RenewItem } from '../contract/runner-protocol.ts';
import type { Control } from './control.ts';

interface Listed {
  claim: ClaimedWork;
  control: Control;
  /** Its process has ended, its facts are on their way: holds no place, keeps its lease. */
  ended: boolean;
}

export interface Roster {
  add(claim: ClaimedWork, control: Control): Listed;
  /** Its place is free for another. */
  ended(listed: Listed): void;
  remove(attempt: string): void;
  has(attempt: string): boolean;
  control(attempt: string): Control | null;
  /** Attempts with a process, or on the way to one. */
  live(): number;
  size(): number;
  /** Every attempt that is known here, ended ones too. */
  attempts(): string[];
  executions(): string[];
  /** Resolves when no ended attempt waits for its delivery. */
  untilDelivered(): Promise<void>;
  /** Those that were told to stop and are not gone yet. */
  stopping(): string[];
  /** What a renewal says of each. */
  items(): Promise<RenewItem[]>;
}

export const createRoster = (onChange: () => void): Roster => {
  const all = new Map<string, Listed>();
  let waiting: (() => void)[] = [];
  const allDelivered = () => [...all.values()].every((l) => !l.ended);
  return {
    add(claim, control) {
      const listed: Listed = { claim, control, ended: false };
      all.set(claim.attempt, listed);
      onChange();
      return listed;
    },
    ended(listed) {
      listed.ended = true;
      onChange();
    },
    remove(attempt) {
      all.delete(attempt);
      onChange();
      if (!allDelivered()) return;
      for (const resolve of waiting.splice(0)) resolve();
      waiting = [];
    },
    has: (attempt) => all.has(attempt),
    control: (attempt) => all.get(attempt)?.control ?? null,
    live: () => [...all.values()].filter((l) => !l.ended).length,
    size: () => all.size,
    attempts: () => [...all.keys()],
    executions: () => [...all.values()].map((l) => l.claim.execution_id),
    untilDelivered: () => (allDelivered() ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    stopping: () => [...all.values()].filter((l) => l.control.stopAsked !== null).map((l) => l.claim.attempt),
    items: () =>
      Promise.all(
        [...all.values()].map(async ({ claim, control }) => {
          const usage = await control.usage();
          return {
            attempt: claim.attempt,
            token: claim.token,
            proof: control.proof,
            started_at: control.startedAt,
            cpu_ms: usage === null ? null : Math.round(usage.cpu_ms),
            rss_bytes: usage === null ? null : Math.round(usage.rss_bytes),
            ...(control.modelSpoke && { model_spoke: true }),
          };
        }),
      ),
  };
};
