/**
 * The attempts this runner looks after, and how each one's exit becomes known: by the holder's word, by the exit file when
 * the word was missed, and by proof when the holder itself is gone (then nobody knows the code: both fields stay null).
 */
import type { ProofOfLife } from '../../contract/runner-protocol.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { readExit } from './attempt-files.ts';
import type { HolderClient } from './holder-client.ts';
import type { ExitEvent } from './holder-link.ts';
import type { ExitRecord, Held } from './launcher.ts';
import { isAlive } from './proof.ts';

/** Only for what no holder answers for; there is nothing to wait on. */
const pollMs = 500;

interface Entry {
  held: Held;
  resolve(exit: ExitRecord): void;
}

export interface Watched {
  add(attempt: string, dir: string, proof: ProofOfLife, startedAt: number): Held;
  told(event: ExitEvent): void;
  /** The connection is gone: ask again for each. */
  lost(): void;
  /** Looks after a process that the holder does not know. */
  follow(attempt: string): Promise<void>;
}

export const createWatched = ({ clock }: Kernel, holder: Pick<HolderClient, 'list'>): Watched => {
  const entries = new Map<string, Entry>();
  const settle = (attempt: string, exit: ExitRecord) => {
    entries.get(attempt)?.resolve(exit);
    entries.delete(attempt);
  };

  const look = async (attempt: string): Promise<void> => {
    const entry = entries.get(attempt);
    if (!entry) return;
    const known = await holder.list().catch(() => null);
    if (known?.children.some((c) => c.id === attempt)) return;
    // Before the file is read: the record is written before the process is forgotten, so this order misses nothing.
    const alive = isAlive(entry.held.proof) || known?.unwritten.includes(attempt) === true;
    const exit = readExit(entry.held.dir);
    if (exit) settle(attempt, exit);
    else if (alive) clock.after(pollMs, () => void look(attempt));
    else settle(attempt, { exit_code: null, signal: null, at: clock.now(), spawn_error: null });
  };

  return {
    add: (attempt, dir, proof, startedAt) => {
      const before = entries.get(attempt);
      if (before) return before.held;
      const { promise, resolve } = Promise.withResolvers<ExitRecord>();
      const held: Held = { attempt, dir, proof, started_at: startedAt, exited: promise };
      entries.set(attempt, { held, resolve });
      return held;
    },
    told: ({ id, exit_code, signal, at }) => settle(id, { exit_code, signal, at, spawn_error: null }),
    lost: () => {
      for (const attempt of entries.keys()) void look(attempt);
    },
    follow: look,
  };
};
