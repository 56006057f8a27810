/**
 * A history as data: a world and its steps, made from a seed. Steps name things by numbers that are taken modulo what is there,
 * so that any steps may be dropped and the rest still means something: that is how a failing history shrinks.
 */
import { type Chance, chanceOf } from './chance.ts';
import type { Exit } from './host.ts';

export type Step =
  /** `session`: a turn in one that is there already. */
  | { do: 'submit'; agent: number; wait: boolean; chat: boolean; batch: boolean; session: number | null }
  | { do: 'cancel' | 'give up'; who: number }
  | { do: 'call'; who: number; agents: number[]; many: boolean; boundMs: number | null; session: number | null }
  | { do: 'poll' | 'renew' | 'kill runner' | 'start runner' | 'kill holder' | 'reboot' | 'cut' | 'join'; host: number }
  | { do: 'deliver'; which: number; times: number }
  | { do: 'lose' | 'double'; which: number }
  | { do: 'exit'; who: number; how: Exit }
  | { do: 'crash' | 'start server' | 'slow disk' | 'full disk' | 'good disk' | 'flush' }
  | { do: 'pass'; ms: number }
  | { do: 'jump'; ms: number }
  /** The wall clock jumps while runs go on, and their leases are renewed right after it. */
  | { do: 'jump and renew'; host: number; ms: number }
  /** The provider is overloaded, or no longer: runs that would end well there do not. */
  | { do: 'weather'; bad: boolean }
  | { do: 'pause provider'; on: boolean }
  /** Everything that can move does, both runners ask for work and renew. */
  | { do: 'round' }
  | { do: 'new secret'; which: number }
  | { do: 'agent cap'; agent: number; cap: number }
  | { do: 'fleet cap'; cap: number }
  | { do: 'pause'; on: boolean }
  | { do: 'stop agent'; agent: number; on: boolean };

export interface History {
  seed: number;
  caps: number[];
  fleet: number;
  depth: number;
  queueTimeoutS: number;
  /** Which agents run a CLI that logs in, and so share a provider and its weather; the others run a plain command. */
  clis: boolean[];
  /** What they log in with: the runs that each bears at once; null = as many as there are. */
  logins: (number | null)[];
  steps: Step[];
}

const exits: Exit[] = [
  ...(['good', 'good', 'good', 'good', 'good', 'good'] as const),
  ...(['bad', 'killed', 'unreachable', 'overloaded', 'limit', 'rejected'] as const),
];
/** Within a renewal, a lease, the grace, and beyond all of them. */
const leaps = [100, 1_000, 3_000, 11_000, 11_000, 46_000, 70_000, 200_000];

type Kinds = [weight: number, make: (c: Chance) => Step][];
const kinds: Kinds = [
  [
    10,
    (c) => ({
      do: 'submit',
      agent: c.below(3),
      wait: c.once(3),
      chat: c.once(3),
      batch: c.once(2),
      session: c.once(4) ? c.below(9) : null,
    }),
  ],
  [30, (c) => ({ do: 'deliver', which: c.below(100), times: 1 + c.below(8) })],
  [12, (c) => ({ do: 'poll', host: c.below(2) })],
  [
    8,
    (c) => ({
      do: 'call',
      who: c.below(50),
      agents: some(c),
      many: c.once(3),
      boundMs: c.once(3) ? 20_000 : null,
      session: c.once(6) ? c.below(9) : null,
    }),
  ],
  [8, (c) => ({ do: 'exit', who: c.below(50), how: exits[c.below(exits.length)]! })],
  [5, (c) => ({ do: 'renew', host: c.below(2) })],
  [7, (c) => ({ do: 'pass', ms: leaps[c.below(leaps.length)]! })],
  [4, (c) => ({ do: 'lose', which: c.below(100) })],
  [3, (c) => ({ do: 'double', which: c.below(100) })],
  [3, (c) => ({ do: 'cancel', who: c.below(50) })],
  [1, (c) => ({ do: 'give up', who: c.below(50) })],
  [2, () => ({ do: 'crash' })],
  [4, () => ({ do: 'start server' })],
  [2, (c) => ({ do: 'kill runner', host: c.below(2) })],
  [4, (c) => ({ do: 'start runner', host: c.below(2) })],
  [1, (c) => ({ do: 'kill holder', host: c.below(2) })],
  [1, (c) => ({ do: 'reboot', host: c.below(2) })],
  [1, (c) => ({ do: 'cut', host: c.below(2) })],
  [2, (c) => ({ do: 'join', host: c.below(2) })],
  [2, (c) => ({ do: c.once(3) ? 'full disk' : 'slow disk' })],
  [4, (c) => ({ do: c.once(2) ? 'good disk' : 'flush' })],
  [1, (c) => ({ do: 'jump', ms: (c.below(3) - 1) * 3_600_000 })],
  [1, (c) => ({ do: 'jump and renew', host: c.below(2), ms: (c.once(2) ? 1 : -1) * 3_600_000 })],
  [2, (c) => ({ do: 'weather', bad: c.once(2) })],
  [1, (c) => ({ do: 'pause provider', on: c.once(2) })],
  [1, (c) => ({ do: 'new secret', which: c.below(3) })],
  [1, (c) => ({ do: 'pause', on: c.once(2) })],
  [1, (c) => ({ do: 'stop agent', agent: c.below(3), on: c.once(2) })],
  [1, (c) => ({ do: 'agent cap', agent: c.below(3), cap: 1 + c.below(3) })],
  [1, (c) => ({ do: 'fleet cap', cap: 1 + c.below(4) })],
];
const some = (c: Chance) => Array.from({ length: 1 + c.below(3) }, () => c.below(3));

/** What hardly comes about by chance alone: a provider in trouble for several agents, and turns that want one session. */
const themes: Record<Theme, Kinds> = {
  any: kinds,
  provider: [
    ...kinds,
    [10, () => ({ do: 'round' })],
    [4, (c) => ({ do: 'weather', bad: !c.once(3) })],
    [14, (c) => ({ do: 'exit', who: c.below(50), how: ofProvider[c.below(ofProvider.length)]! })],
    [6, (c) => ({ do: 'submit', agent: c.below(3), wait: false, chat: false, batch: c.once(2), session: null })],
  ],
  sessions: [
    ...kinds,
    [10, () => ({ do: 'round' })],
    [14, (c) => ({ do: 'submit', agent: c.below(2), wait: false, chat: true, batch: false, session: c.below(2) })],
    [10, (c) => ({ do: 'exit', who: c.below(50), how: exits[c.below(exits.length)]! })],
  ],
};
type Theme = 'any' | 'provider' | 'sessions';
const ofProvider: Exit[] = [
  'good',
  'overloaded',
  'overloaded',
  'overloaded',
  'overloaded',
  'limit',
  'limit',
  'rejected',
];

const stepOf = (c: Chance, of: Kinds): Step => {
  let n = c.below(of.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, make] of of) {
    if (n < weight) return make(c);
    n -= weight;
  }
  throw new Error('unreachable');
};

export const historyOf = (seed: number): History => {
  const c = chanceOf(seed);
  const theme = (['any', 'provider', 'sessions'] as const)[seed % 3]!;
  return {
    seed,
    caps: Array.from({ length: 3 }, () => 1 + c.below(3)),
    fleet: 1 + c.below(4),
    depth: 1 + c.below(3),
    queueTimeoutS: [0, 10, 100, 3_600][c.below(4)]!,
    clis: Array.from({ length: 3 }, () => theme === 'provider' || c.once(2)),
    logins: Array.from(
      { length: theme === 'provider' ? 1 + c.below(3) : c.below(3) },
      () => [1, 1, 2, null][c.below(4)]!,
    ),
    // A round is worth many steps: the themes come as far with fewer.
    steps: Array.from({ length: theme === 'any' ? 20 + c.below(60) : 15 + c.below(35) }, () =>
      stepOf(c, themes[theme]),
    ),
  };
};
