/**
 * The bad night, as a world that does not know who works in it: when the provider is overloaded, which logins stop when, which
 * agent eats its memory, when the disk is full, when the server goes down, and what work comes when. The same seed gives the same
 * night to every policy. `fateOf` says how a run that starts now would end; nobody who schedules may ask it before.
 */
import { type Chance, chanceOf } from '../../test/sim/chance.ts';

const minute = 60_000;
export const hour = 60 * minute;

interface Span {
  from: number;
  to: number;
}
export interface Work {
  /** From 0, in the order in which it comes. */
  n: number;
  agent: string;
  /** ms after the start of the night. */
  at: number;
  runMs: number;
}
interface NightAgent {
  name: string;
  pool: 'plans' | 'key';
  /** Its runs are killed for memory, whatever it is given to do. */
  hungry: boolean;
}
export interface Night {
  seed: number;
  length: number;
  agents: NightAgent[];
  works: Work[];
  credentials: { id: string; pool: NightAgent['pool'] }[];
  outage: Span;
  /** Plans by id: used up from, until the reset. */
  exhausted: Record<string, Span>;
  /** Logins by id: rejected from then on. */
  revoked: Record<string, number>;
  diskFull: Span;
  /** The server is killed as soon as `live` runs are alive after this, and is back after `downMs`. */
  restart: { after: number; live: number; downMs: number };
  fleetCap: number;
  agentCap: number;
}

/** Claude Code tries a 529 again for about three minutes before it gives up. */
const patienceMs = 3 * minute;
const dollarsPerMinute = 0.05;

export const nightOf = (seed: number, size: 'whole' | 'small' = 'whole'): Night => {
  const chance: Chance = chanceOf(seed);
  const small = size === 'small';
  const length = small ? 3 * hour : 8 * hour;
  const about = (at: number, spread: number) => at + chance.below(spread);
  const agents: NightAgent[] = [
    ...Array.from(
      { length: small ? 3 : 6 },
      (_, i): NightAgent => ({ name: `plan-${i}`, pool: 'plans', hungry: false }),
    ),
    ...Array.from({ length: small ? 2 : 3 }, (_, i): NightAgent => ({ name: `key-${i}`, pool: 'key', hungry: false })),
    { name: 'hungry', pool: 'key', hungry: true },
  ];
  const count = small ? 36 : 150;
  const works: Work[] = Array.from({ length: count }, (_, n) => ({
    n,
    // The hungry one has one in fifteen.
    agent: n % 15 === 7 ? 'hungry' : agents[chance.below(agents.length - 1)]!.name,
    // Most stand in the queue when the night begins; the rest come in its first half.
    at: n < count * 0.8 ? 0 : chance.below(length / 2),
    runMs: 4 * minute + chance.below(16 * minute),
  }));
  works.sort((a, b) => a.at - b.at || a.n - b.n);
  const outage = about(small ? 15 * minute : 40 * minute, 20 * minute);
  const first = about(small ? 70 * minute : 150 * minute, 20 * minute);
  const disk = about(small ? 120 * minute : 250 * minute, 10 * minute);
  return {
    seed,
    length,
    agents,
    works,
    credentials: [
      { id: 'plan-a', pool: 'plans' },
      { id: 'plan-b', pool: 'plans' },
      { id: 'plan-c', pool: 'plans' },
      { id: 'plan-d', pool: 'plans' },
      { id: 'key-a', pool: 'key' },
    ],
    outage: { from: outage, to: outage + 40 * minute },
    exhausted: {
      'plan-a': { from: first, to: first + (small ? 30 : 120) * minute },
      'plan-b': { from: first + 10 * minute, to: first + (small ? 40 : 150) * minute },
    },
    revoked: { 'plan-c': about(small ? 5 * minute : 20 * minute, 5 * minute) },
    diskFull: { from: disk, to: disk + 12 * minute },
    restart: { after: small ? 60 * minute : 110 * minute, live: small ? 6 : 12, downMs: 90_000 },
    fleetCap: small ? 6 : 12,
    agentCap: 3,
  };
};

type How = 'good' | 'overloaded' | 'limit' | 'rejected' | 'oom' | 'no_space';
export interface Fate {
  how: How;
  ranMs: number;
  cost: number;
  /** Of `limit`: ms after the start of the night. */
  resetAt: number | null;
}

const within = (s: Span, at: number): boolean => at >= s.from && at < s.to;

/** How a run of this work that starts at `at` on this login ends. */
export const fateOf = (night: Night, work: Work, at: number, credential: string | null): Fate => {
  const cost = (ranMs: number) => Math.round((ranMs / minute) * dollarsPerMinute * 1e4) / 1e4;
  const at_once = (how: How, ranMs: number, resetAt: number | null = null): Fate => ({ how, ranMs, cost: 0, resetAt });
  if (within(night.diskFull, at)) return at_once('no_space', 2_000);
  const revoked = credential === null ? undefined : night.revoked[credential];
  if (revoked !== undefined && at >= revoked) return at_once('rejected', 6_000);
  const limit = credential === null ? undefined : night.exhausted[credential];
  if (limit !== undefined && within(limit, at)) return at_once('limit', 5_000, limit.to);
  if (within(night.outage, at) && at + patienceMs < night.outage.to) return at_once('overloaded', patienceMs);

  // An outage that ends while the CLI is still trying only takes time.
  const late = within(night.outage, at) ? night.outage.to - at : 0;
  const whole = work.runMs + late;
  const ends: { how: How; ranMs: number; resetAt: number | null }[] = [{ how: 'good', ranMs: whole, resetAt: null }];
  if (night.agents.find((a) => a.name === work.agent)!.hungry)
    ends.push({ how: 'oom', ranMs: Math.round(0.6 * whole), resetAt: null });
  const meets = (moment: number): boolean => moment > at && moment < at + whole;
  if (meets(night.outage.from))
    ends.push({ how: 'overloaded', ranMs: night.outage.from + patienceMs - at, resetAt: null });
  if (limit !== undefined && meets(limit.from)) ends.push({ how: 'limit', ranMs: limit.from - at, resetAt: limit.to });
  if (revoked !== undefined && meets(revoked)) ends.push({ how: 'rejected', ranMs: revoked - at, resetAt: null });
  if (meets(night.diskFull.from)) ends.push({ how: 'no_space', ranMs: night.diskFull.from - at, resetAt: null });
  ends.sort((a, b) => a.ranMs - b.ranMs);
  const end = ends[0]!;
  return { ...end, cost: cost(end.ranMs) };
};

export interface Outcome {
  policy: string;
  submitted: number;
  /** Ended well by the morning. */
  good: number;
  failed: number;
  /** Still in the queue or running in the morning. */
  left: number;
  spawns: number;
  wastedSpawns: number;
  cost: number;
  wastedCost: number;
  /** What a person was called for. */
  items: number;
  /** Ms of the night until the last good run. */
  lastGoodAt: number;
  byCause: Record<string, number>;
}
