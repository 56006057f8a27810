/**
 * How the state of a credential follows from evidence: one record per kind of failure, and of them the state that counts.
 *
 *   ok | unknown ──rejected──▶ rejected ──worked, new secret──▶ ok, unknown     (until = when a run may probe it; null = never)
 *   ok | unknown ──limited───▶ limited(until) ──worked after `until`──▶ ok      (until = the provider's reset, else a window)
 *
 * The newest evidence wins, by when it was seen and not by when it was told. Pure; docs/credentials.md has the table made from it.
 */
import type { Cause } from './causes.ts';
import type { CredentialState } from './credential.ts';

/** `seal`: our own record does not open. Only the other four come from a provider. */
export const faultKinds = ['login', 'access', 'limit', 'credit', 'seal'] as const;
export type FaultKind = (typeof faultKinds)[number];

/** The causes that blame a credential, and what of it. All others say nothing of it. */
export const faultOf: Partial<Record<Cause, FaultKind>> = {
  auth_failed: 'login',
  access_denied: 'access',
  usage_limit: 'limit',
  billing: 'credit',
};

/** A limit without a known reset is taken for over after this; a known reset always beats it. */
const skipWindowMs = 2 * 3_600_000;
/** Resets come late (claude-code#15064): told again after its time, a limit is believed for this, doubled each time. */
export const lateResetMs = 30_000;
const lateResetMostMs = 30 * 60_000;
/** A rejected login is tried by one run after these; then only a new secret brings it back. */
const probeAfterMs: readonly number[] = [30 * 60_000, 2 * 3_600_000, 8 * 3_600_000];

interface CredentialFault {
  state: 'limited' | 'rejected';
  until: number | null;
  /** When it was seen. */
  at: number;
  /** How often it was seen again after it had been due: probes of a rejected one, late resets of a limited one. */
  again: number;
}

export type FaultEvidence = { saw: 'failure'; kind: FaultKind; reset_at: number | null } | { saw: 'worked' };

const failed = (
  before: CredentialFault | null,
  kind: FaultKind,
  reset_at: number | null,
  at: number,
): CredentialFault => {
  if (kind === 'seal') return { state: 'rejected', until: null, at, again: 0 };
  const due = before !== null && before.until !== null && before.until <= at;
  if (kind === 'login' || kind === 'access') {
    const again = before?.state === 'rejected' ? before.again + (due ? 1 : 0) : 0;
    const after = probeAfterMs[again];
    return { state: 'rejected', until: after === undefined ? null : at + after, at, again };
  }
  if (reset_at !== null && reset_at > at) return { state: 'limited', until: reset_at, at, again: 0 };
  if (reset_at === null) return { state: 'limited', until: at + skipWindowMs, at, again: 0 };
  const again = before !== null && due ? before.again + 1 : 0;
  return { state: 'limited', until: at + Math.min(lateResetMostMs, lateResetMs * 2 ** again), at, again };
};

/** What is known of one kind after this evidence; null = nothing against it. The same object when it says nothing new. */
export const afterEvidence = (
  before: CredentialFault | null,
  kind: FaultKind,
  evidence: FaultEvidence,
  at: number,
): CredentialFault | null => {
  if (before !== null && at < before.at) return before;
  if (evidence.saw === 'failure') return evidence.kind === kind ? failed(before, kind, evidence.reset_at, at) : before;
  if (before === null || kind === 'seal') return before;
  // A run that began before the limit may end well after it: only one that ends after the reset disproves it.
  return before.state === 'limited' && before.until !== null && before.until > at ? before : null;
};

/** The state that counts: rejected before limited, and of several the longest. */
export const combined = (
  faults: readonly CredentialFault[],
  worked_at: number | null,
): { state: CredentialState; until: number | null } => {
  const rejected = faults.filter((f) => f.state === 'rejected');
  const counts = rejected.length > 0 ? rejected : faults;
  if (counts.length === 0) return { state: worked_at === null ? 'unknown' : 'ok', until: null };
  const never = counts.some((f) => f.until === null);
  return { state: counts[0]!.state, until: never ? null : Math.max(...counts.map((f) => f.until!)) };
};
