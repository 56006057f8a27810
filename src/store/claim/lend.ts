/**
 * Which credential a spawn is lent, decided inside the claim, because the credential's cap is one of its limits (F6). The agent's
 * assigned one; else of its pool the one the row goes on with, else the least recently used that is good and has room. Only
 * adapters that log in borrow. Where something is stored and nothing of it is good, nothing else is used instead.
 */
import { type CredentialKind, lendsNothing, planKinds } from '../../contract/credential.ts';
import { type ClaimAgent, type ClaimCredential, count, type World } from './world.ts';

/** Kinds an adapter can log in with, dearest last: work crosses to the next kind only where its pool says so (R38). */
const kindsOf: Record<ClaimAgent['adapter'], readonly CredentialKind[]> = {
  claude: ['claude_oauth', 'anthropic_api_key'],
  codex: ['codex_login', 'openai_api_key'],
  gemini: ['gemini_api_key'],
  command: [],
  http: [],
};

export type Lent = { credential_id: string | null } | 'credentials_exhausted' | 'credential_cap';

/** `once`: a limit whose reset has passed, or a rejected login whose probe is due: one run at a time shows whether it is good. */
type Standing = 'good' | 'once' | 'probe' | 'shut';

export const standing = (c: ClaimCredential, now: number): Standing => {
  if (c.state === 'ok' || c.state === 'unknown') return 'good';
  if (c.until === null || c.until > now) return 'shut';
  return c.state === 'limited' ? 'once' : 'probe';
};

/** Two logins of a kind that were rejected within this of each other are a trouble of more than one login (CC#3256). */
export const alikeMs = 10 * 60_000;
/** After this nobody learns anything more from them. */
const suspectMs = 30 * 60_000;

/** Other logins of the kind that were rejected within minutes of each other, with no run on this one that went well since. */
export const suspects = (w: World, c: ClaimCredential): ClaimCredential[] => {
  const rejected = w.credentials.filter(
    (o) => o.id !== c.id && o.kind === c.kind && o.state === 'rejected' && (o.state_at ?? 0) > w.now - suspectMs,
  );
  return rejected.filter((o) => (c.worked_at ?? 0) < o.state_at!);
};

const near = (all: readonly ClaimCredential[]): boolean =>
  all.some((a) => all.some((b) => a !== b && Math.abs(a.state_at! - b.state_at!) <= alikeMs));

/** Tiers in order: work goes to the next only when nothing of the one before is good. */
export const tiersOf = (w: World, agent: ClaimAgent): ClaimCredential[][] => {
  const kinds = kindsOf[agent.adapter];
  if (agent.credential_id !== null)
    return [w.credentials.filter((c) => c.id === agent.credential_id && (kinds.length > 0 || c.kind === 'env'))];
  const ofPool = w.credentials.filter((c) => c.pool === agent.pool && c.agent_id === null && kinds.includes(c.kind));
  const tiers = kinds.map((k) => ofPool.filter((c) => c.kind === k)).filter((t) => t.length > 0);
  const open = w.spill.includes(agent.pool ?? '') ? tiers : tiers.slice(0, 1);
  return open.map((t) => t.filter((c) => isFor(c, agent)));
};

/** A plan is its owner's: another's agents don't run on it (R41). */
const isFor = (c: ClaimCredential, agent: ClaimAgent): boolean =>
  !planKinds.includes(c.kind) || c.owner_id === null || c.owner_id === agent.owner_id;

const capOf = (w: World, c: ClaimCredential): number => {
  const caution = standing(c, w.now) !== 'good' || near(suspects(w, c)) ? 1 : Number.POSITIVE_INFINITY;
  const pace = c.pace === null ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(c.pace));
  return Math.min(c.max_parallel ?? Number.POSITIVE_INFINITY, pace, caution);
};

export const hasRoom = (w: World, c: ClaimCredential): boolean =>
  count(w.running.credential, c.id) + count(w.kept.credential, c.id) < capOf(w, c);

/** A window that is nearly full ends a run in its middle: others go first while there are any. */
const nearlyFull = 0.95;

const byTurn = (a: ClaimCredential, b: ClaimCredential): number =>
  Number((a.used ?? 0) >= nearlyFull) - Number((b.used ?? 0) >= nearlyFull) ||
  (a.last_used_at ?? 0) - (b.last_used_at ?? 0) ||
  (a.id < b.id ? -1 : 1);

/** What may be used now, first choice first: a probe of a rejected one only where nothing else is left. */
export const usable = (w: World, agent: ClaimAgent): ClaimCredential[] => {
  const tiers = tiersOf(w, agent);
  for (const wanted of ['good', 'probe'] as const)
    for (const tier of tiers) {
      const found = tier.filter((c) => {
        const is = standing(c, w.now);
        return is === wanted || (wanted === 'good' && is === 'once');
      });
      if (found.length > 0) return found.sort(byTurn);
    }
  return [];
};

/** `wanted`: the one that the row goes on with, while it is good. */
export const lend = (w: World, agent: ClaimAgent, wanted: string | null = null): Lent => {
  const kinds = kindsOf[agent.adapter];
  if (agent.pool === lendsNothing && agent.credential_id === null) return { credential_id: null };
  const tiers = tiersOf(w, agent);
  // None stored: the login of the host's own user, or an environment that needs none. A pool by name is meant to hold some.
  if (tiers.length === 0 && (agent.pool === null || kinds.length === 0)) return { credential_id: null };
  if (agent.credential_id !== null && kinds.length === 0 && tiers[0]!.length === 0) return { credential_id: null };
  const good = usable(w, agent);
  if (good.length === 0) return 'credentials_exhausted';
  const free = [...good.filter((c) => c.id === wanted), ...good].find((c) => hasRoom(w, c));
  return free === undefined ? 'credential_cap' : { credential_id: free.id };
};

/** Earliest time (wall clock ms) at which a credential of an agent may be used again by time alone. */
export const earliestReset = (w: World, agent: ClaimAgent): number | null => {
  const until = tiersOf(w, agent)
    .flat()
    .filter((c) => (c.state === 'limited' || c.state === 'rejected') && c.until !== null)
    .map((c) => c.until!);
  return until.length === 0 ? null : Math.min(...until);
};

const stateWords = { ok: 'good', unknown: 'not tried yet', limited: 'used up', rejected: 'rejected' } as const;
/** More would be no sentence. */
const namesMost = 5;

/** What an agent could be lent, by name and state; or why there is nothing. */
export const loginsTold = (w: World, agent: ClaimAgent): string => {
  const tiers = tiersOf(w, agent);
  const all = tiers.flat();
  if (tiers.length === 0) return `pool ${agent.pool} holds nothing that adapter ${agent.adapter} can log in with`;
  if (all.length === 0)
    return `what ${agent.pool === null ? 'is stored' : `pool ${agent.pool} holds`} is another owner’s, and lent to agents of that owner only`;
  const told = all.slice(0, namesMost).map((c) => `${c.name} is ${stateWords[c.state]}`);
  return [...told, ...(all.length > namesMost ? [`and ${all.length - namesMost} more`] : [])].join(', ');
};
