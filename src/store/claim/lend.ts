/**
 * Which credential a spawn is lent, decided inside the claim, because the credential's cap is one of its limits (F6). The agent's
 * assigned one, else the least recently used of its pool that is good and has room. Only adapters that log in borrow.
 */
import type { CredentialKind } from '../../contract/credential.ts';
import { type ClaimAgent, type ClaimCredential, count, type World } from './world.ts';

/** Kinds an adapter can log in with, dearest last: work crosses to the next kind only where a pool mixes them (R38). */
const kindsOf: Record<ClaimAgent['adapter'], readonly CredentialKind[]> = {
  claude: ['claude_oauth', 'anthropic_api_key'],
  codex: ['codex_login', 'openai_api_key'],
  gemini: ['gemini_api_key'],
  command: [],
  http: [],
};

export type Lent = { credential_id: string | null } | 'credentials_exhausted' | 'credential_cap';

/** Good now: a limited one is good again when its reset has passed (drill 24). */
const isGood = (c: ClaimCredential, now: number): boolean =>
  c.state === 'ok' || c.state === 'unknown' || (c.state === 'limited' && c.until !== null && c.until <= now);

const candidatesFor = (agent: ClaimAgent, all: readonly ClaimCredential[]): ClaimCredential[] => {
  const kinds = kindsOf[agent.adapter];
  if (kinds.length === 0) return [];
  if (agent.credential_id !== null) return all.filter((c) => c.id === agent.credential_id);
  const ofPool = all.filter((c) => c.pool === agent.pool && kinds.includes(c.kind));
  if (agent.pool !== null) return ofPool;
  const kind = kinds.find((k) => ofPool.some((c) => c.kind === k));
  return ofPool.filter((c) => c.kind === kind);
};

export const lend = (w: World, agent: ClaimAgent): Lent => {
  const mine = candidatesFor(agent, w.credentials);
  // None stored: the login of the host's own user, or an environment that needs none.
  if (mine.length === 0) return { credential_id: null };
  const good = mine.filter((c) => isGood(c, w.now));
  if (good.length === 0) return 'credentials_exhausted';
  const free = good.filter(
    (c) =>
      c.max_parallel === null || count(w.running.credential, c.id) + count(w.kept.credential, c.id) < c.max_parallel,
  );
  if (free.length === 0) return 'credential_cap';
  free.sort((a, b) => (a.last_used_at ?? 0) - (b.last_used_at ?? 0) || (a.id < b.id ? -1 : 1));
  return { credential_id: free[0]!.id };
};

/** Earliest reset (wall clock ms) among the credentials of an agent that has none that is good. */
export const earliestReset = (w: World, agent: ClaimAgent): number | null => {
  const until = candidatesFor(agent, w.credentials)
    .filter((c) => c.state === 'limited' && c.until !== null)
    .map((c) => c.until!);
  return until.length === 0 ? null : Math.min(...until);
};
