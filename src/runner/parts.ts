/** What the runner's own pieces are handed: built once in `runner/main.ts`, passed down. */
import type { Facts } from '../contract/facts.ts';
import type { ClaimedWork } from '../contract/runner-protocol.ts';
import type { ReaderFor } from '../evidence/reader.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { AdapterHost, PrepareError } from './adapters/adapter.ts';
import type { Ballast } from './ballast.ts';
import type { Launcher } from './launchers/launcher.ts';
import type { ServerClient } from './server-client.ts';
import type { StallMs } from './silence.ts';
import type { Place, Spool } from './spool.ts';

export interface Workspaces {
  /** The directory the agent works in: made, checked out or simply there. What cannot be had is a value. */
  prepare(claim: ClaimedWork): Promise<Place | PrepareError>;
  /** Keeps what the agent did, at every ending; says in `keep_error` what could not be kept. */
  keep(claim: ClaimedWork, place: Place): Promise<Facts['workspace']>;
}

export interface RunnerParts {
  kernel: Kernel;
  launcher: Launcher;
  workspaces: Workspaces;
  server: ServerClient;
  spool: Spool;
  ballast: Ballast;
  readerFor: ReaderFor;
  adapterHost: AdapterHost;
  hostName: string;
  /** Aborts when this runner leaves: it lets go of the agents, which stay with the holder. */
  leaving: AbortSignal;
  /** Hears from the server how its attempts stand, now. */
  renewed(): Promise<void>;
  /** Attempts this runner holds now: many of them are told about less often. */
  live(): number;
  /** Bytes of one attempt's output before it is stopped. */
  logBytes: number;
  /** Silence after a result, with nothing open in the background, before the process is ended. */
  afterResultMs: number;
  /** Other limits for silence than those of the contract (tests). */
  stallMs?: StallMs;
}
