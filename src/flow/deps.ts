/** What the server's parts are handed: built once in main.ts, passed down. */
import type { Config } from '../config.ts';
import type { EventRow } from '../contract/events.ts';
import type { Sealer } from '../credentials/seal.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { FleetLimits } from '../store/rows.ts';
import type { ClaimLimits, Stirred, Store } from '../store/store.ts';

/** In-process news of what was committed. For waking and watching only: the truth is in the store. */
export interface Endings {
  /**
   * Resolves true when the execution is terminal, false when `ms` (null = no bound) passed or the signal fired, or when it stands in
   * the queue and `putAside` says that it does so for long.
   */
  wait(
    executionId: string,
    ms: number | null,
    signal?: AbortSignal,
    putAside?: (executionId: string) => Promise<boolean>,
  ): Promise<boolean>;
  /** `back` when the execution that has this token runs (again); `ended` when the token speaks for nobody; `left` by the signal. */
  back(executionId: string, token: string, signal?: AbortSignal): Promise<'back' | 'ended' | 'left'>;
}

export interface Feed {
  /** Events after `after`, in id order, each once, without a gap; `line` is the ready SSE frame, made once for all. */
  subscribe(after: number, send: (event: EventRow, line: string) => void, reset: (last: number) => void): () => void;
  readonly last: number;
}

export interface Deps {
  kernel: Kernel;
  config: Readonly<Config>;
  store: Store;
  sealer: Sealer;
  endings: Endings;
  feed: Feed;
  claimLimits(): ClaimLimits;
  /** The effective limits and their source; kept in memory and read again after a change. */
  fleetLimits(): Promise<FleetLimits>;
  /** Told after every write: looks at `stirred` and moves what can move. */
  stir(stirred: Stirred): void;
}
