/**
 * How a process is isolated and held. The runner orders, the holder spawns and is the parent; what a launcher knows it can
 * find again from the attempt's spool directory after a restart. The streams are files in that directory, never pipes.
 *
 * Files of an attempt's directory (0700), besides what `runner/spool` writes:
 *   stdin, stdout, stderr   the streams
 *   held.json               pid, start time, boot id, cgroup, limits: written by the launcher right after the spawn
 *   stop.json               the stop reason, written before the first signal; the first one wins
 *   exit.json               exit code or signal, or the spawn error: written by the holder
 */
import type { Isolation, MemoryFacts, SpawnError } from '../../contract/facts.ts';
import type { CgroupKind, ProofOfLife } from '../../contract/runner-protocol.ts';
import type { Stop, StopReason } from '../../contract/stop-reasons.ts';

export interface SpawnOrder {
  /** The attempt's id: also the marker `DROVER_ATTEMPT` in the child's environment, by which stragglers are found. */
  attempt: string;
  dir: string;
  argv: string[];
  cwd: string;
  /** The whole environment of the child: an allow-list plus the lent credential. Never written to disk. */
  env: Record<string, string>;
  stdin: string;
  memory_bytes: number | null;
  cpu: number | null;
}

export interface ExitRecord {
  exit_code: number | null;
  signal: string | null;
  /** Wall clock ms at which the holder saw it. */
  at: number;
  spawn_error: SpawnError | null;
}

export interface Held {
  attempt: string;
  dir: string;
  proof: ProofOfLife;
  started_at: number;
  /** Resolves once, when the leader has exited (not when its streams close). */
  exited: Promise<ExitRecord>;
}

/** Of the whole tree of an attempt. */
export interface Usage {
  cpu_ms: number;
  rss_bytes: number;
}

export interface Launcher {
  readonly isolation: Isolation;
  readonly cgroup: CgroupKind;
  /** Starts the process. A spawn error is a value: the agent's sins never throw. */
  spawn(order: SpawnOrder): Promise<Held | { spawn_error: SpawnError }>;
  /**
   * Finds an attempt again after a restart: held still, ended (exit.json), or gone without a record. `never_started`: proven,
   * since no order was given, or the holder it was given to lives and does not know it.
   */
  reattach(
    attempt: string,
    dir: string,
  ): Promise<Held | { ended: ExitRecord } | { gone: true; never_started: boolean }>;
  /**
   * Writes the reason, then SIGINT, 5 s, SIGTERM, 5 s, SIGKILL to the whole tree; resolves after the first signal. Idempotent:
   * the first reason stays. `atOnce`: SIGKILL right away (the attempt is not this runner's any more). Null: the process had
   * exited before, so nothing was stopped and no stop is recorded.
   */
  stop(held: Held, reason: StopReason, detail?: string, atOnce?: boolean): Promise<Stop | null>;
  /** The recorded stop, if any: also after a restart. */
  stopped(dir: string): Promise<Stop | null>;
  /** Called after the exit: ends what is left of the tree, reads the counters, removes the cgroup. */
  tearDown(attempt: string, dir: string): Promise<{ memory: MemoryFacts; stragglers: number }>;
  /** After a restart: removes the empty cgroups of attempts that nobody follows any more (their makers were killed). */
  sweep(followed: (attempt: string) => boolean): void;
  /** Of the whole tree, for renewals and the RSS watch; null when it cannot be read. */
  usage(held: Held): Promise<Usage | null>;
}
