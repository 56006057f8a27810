/** Chance of a history: the same seed gives the same numbers everywhere, also in ids and tokens. Never the system's. */
import type { Random } from '../../src/kernel/ids.ts';

export interface Chance extends Random {
  /** A whole number from 0 to `n` − 1. */
  below(n: number): number;
  /** True once in `n` times. */
  once(n: number): boolean;
}

/** mulberry32: 32 bits of state, good enough to spread histories. */
export const chanceOf = (seed: number): Chance => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
  const below = (n: number) => next() % n;
  return {
    below,
    once: (n) => below(n) === 0,
    bytes: (n) => Uint8Array.from({ length: n }, () => below(256)),
  };
};
