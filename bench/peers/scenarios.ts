/**
 * The nested and grouped work that Drover and its peers are given side by side, and how their running is counted: who computes at an
 * instant, of one agent and of all. A caller that waits for another does not compute. A tree computes, calls all it names at once,
 * waits for their answers, and computes again.
 */
export interface Tree {
  agent: string;
  calls: Tree[];
}
export interface Scenario {
  name: string;
  /** Computing at once, of all agents together and of each. */
  fleet: number;
  agent: number;
  trees: Tree[];
}
export interface Measured {
  ended: number;
  of: number;
  stuck: boolean;
  ms: number;
  /** How often something began to compute, and how often that was over a cap. */
  starts: number;
  over: number;
  most: number;
}

const leaf = (agent: string): Tree => ({ agent, calls: [] });
const chain = (first: string, ...rest: string[]): Tree => {
  const [next, ...more] = rest;
  return { agent: first, calls: next === undefined ? [] : [chain(next, ...more)] };
};
const times = <T>(n: number, of: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => of(i));
const three = (i: number): string => ['a', 'b', 'c'][i % 3]!;

export const scenarios: readonly Scenario[] = [
  { name: 'three hops and a cycle', fleet: 1, agent: 1, trees: [chain('a', 'b', 'c', 'a')] },
  { name: 'depth 20', fleet: 1, agent: 1, trees: [chain('a', ...times(20, (i) => three(i + 1)))] },
  {
    name: 'two pairs that cross',
    fleet: 8,
    agent: 1,
    trees: times(4, (i) => (i % 2 === 0 ? chain('x', 'y') : chain('y', 'x'))),
  },
  {
    name: 'an agent calls itself ten times',
    fleet: 8,
    agent: 3,
    trees: [{ agent: 'a', calls: times(10, () => leaf('a')) }],
  },
  { name: 'nine chains of three', fleet: 8, agent: 8, trees: times(9, () => chain('a', 'b', 'c')) },
  { name: 'sixty in three groups, no calls', fleet: 8, agent: 3, trees: times(60, (i) => leaf(three(i))) },
];

/** One piece of computing. */
const computeMs = 50;
/** Nothing has begun for this long though not all has ended: stuck. The slowest contender looks for work once a second. */
const stuckMs = 15_000;

export const counter = ({ fleet, agent: cap }: Scenario) => {
  const running = new Map<string, number>();
  let all = 0;
  const seen = { starts: 0, over: 0, most: 0 };
  return {
    seen,
    enter(agent: string) {
      running.set(agent, (running.get(agent) ?? 0) + 1);
      all += 1;
      seen.starts += 1;
      if (all > fleet || running.get(agent)! > cap) seen.over += 1;
      seen.most = Math.max(seen.most, all);
    },
    leave(agent: string) {
      running.set(agent, (running.get(agent) ?? 0) - 1);
      all -= 1;
    },
    /** What a peer does instead of an agent's work. */
    compute: () => pause(computeMs),
  };
};
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Runs a scenario until all of it has ended or nothing moves any more. `run` tells each tree that has ended. */
export const measure = async (
  scenario: Scenario,
  seen: { starts: number; over: number; most: number },
  run: (ended: () => void) => Promise<void>,
): Promise<Measured> => {
  const began = performance.now();
  let ended = 0;
  let over = false;
  const all = run(() => {
    ended += 1;
  }).then(() => {
    over = true;
  });
  let moved = performance.now();
  for (let last = -1; !over; ) {
    if (last !== seen.starts + ended) moved = performance.now();
    last = seen.starts + ended;
    if (performance.now() - moved > stuckMs) break;
    await Promise.race([all, pause(100)]);
  }
  const ms = Math.round((over ? performance.now() : moved) - began);
  return { ended, of: scenario.trees.length, stuck: !over, ms, ...seen };
};
