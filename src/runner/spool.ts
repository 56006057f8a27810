/**
 * What the runner keeps of its attempts on its own disk, so that it can be killed at any moment: DROVER_HOME/runner/
 * attempts/ATTEMPT/ (0700) with the claim (never the values of a credential), the phase, and the facts, which are synced
 * before they are delivered and kept until they are acknowledged. Streams, exit and stop records stand beside them
 * (launcher.ts). Delivered attempts are kept for a while, by count, for people who look.
 */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Facts } from '../contract/facts.ts';
import { ClaimedWork } from '../contract/runner-protocol.ts';
import type { Log } from '../kernel/log.ts';
import type { Ballast } from './ballast.ts';
import { readJson, writeDurably, writeWhole } from './durable-file.ts';
import { Mark } from './marks.ts';
import { type Hide, lentSecrets, marksOf, redactor } from './redact.ts';

/** Delivered attempts kept: enough to look at the last evening of a small fleet. */
const keptDelivered = 40;
const keptStreamBytes = 1024 * 1024;

/** The claim without its message (it stands in `stdin`) and without the values of what was lent: of those only marks. */
const SpooledClaim = ClaimedWork.extend({
  lent_marks: z.array(Mark).default([]),
});
export type SpooledClaim = z.infer<typeof SpooledClaim>;

export const Place = z.object({
  mode: z.string(),
  /** The directory the process runs in. */
  path: z.string(),
});
export type Place = z.infer<typeof Place>;

/**
 *   claimed ─ nothing was asked, nothing can have been started
 *   begun   ─ the server was asked for the go; a process may or may not have been started
 *   spawned ─ a process was started (adapter http: the service was asked)
 */
export const AttemptState = z.object({
  phase: z.enum(['claimed', 'begun', 'spawned']),
  /** How often a runner picked it up again. */
  restarts: z.number().int(),
  place: Place.nullable(),
  /** Of the spawn: wall clock, and ms since boot (no jump of the wall clock, no restart of the runner moves that). */
  started_at: z.number().int().nullable(),
  started_boot_ms: z.number().int().nullable(),
  pid: z.number().int().nullable(),
  waiting: z.boolean(),
  waiting_ms: z.number().int(),
  /** Ms since boot at which `waiting` was last written. */
  marked_boot_ms: z.number().int().nullable(),
});
export type AttemptState = z.infer<typeof AttemptState>;
export const freshState: AttemptState = {
  phase: 'claimed',
  restarts: 0,
  place: null,
  started_at: null,
  started_boot_ms: null,
  pid: null,
  waiting: false,
  waiting_ms: 0,
  marked_boot_ms: null,
};

export interface Spool {
  dirOf(attempt: string): string;
  create(claim: ClaimedWork): Promise<void>;
  readClaim(attempt: string): Promise<SpooledClaim | null>;
  writeState(attempt: string, state: AttemptState): Promise<void>;
  readState(attempt: string): Promise<AttemptState>;
  /** On disk when it resolves. */
  writeFacts(attempt: string, facts: Facts): Promise<void>;
  readFacts(attempt: string): Promise<Facts | null>;
  markDelivered(attempt: string, answer: string): Promise<void>;
  isDelivered(attempt: string): Promise<boolean>;
  remove(attempt: string): Promise<void>;
  /** What is not understood is kept, out of the way: it may be a newer runner's, or a person's. Resolves with where. */
  setAside(attempt: string): Promise<string>;
  list(): Promise<string[]>;
  /** Removes all delivered attempts but the newest. */
  sweep(): Promise<void>;
}

/** Attempt ids come from the server: only names that stay inside the spool. */
const attemptName = /^[A-Za-z0-9_-]{1,100}$/;

export const openSpool = async (root: string, ballast: Ballast, log: Log): Promise<Spool> => {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const dirOf = (attempt: string): string => {
    if (!attemptName.test(attempt)) throw new Error(`not an attempt's id: ${JSON.stringify(attempt)}`);
    return join(root, attempt);
  };
  const file = (attempt: string, name: string) => join(dirOf(attempt), name);
  const write = (attempt: string, name: string, value: unknown) =>
    writeWhole(file(attempt, name), JSON.stringify(value), ballast);
  const read = async <T>(attempt: string, name: string, schema: z.ZodType<T>): Promise<T | null> => {
    const value = await readJson(file(attempt, name));
    if (value === null) return null;
    const parsed = schema.safeParse(value);
    if (!parsed.success) log.error('a file of the spool cannot be read', { attempt, name, error: parsed.error });
    return parsed.success ? parsed.data : null;
  };
  const exists = (attempt: string, name: string) =>
    stat(file(attempt, name)).then(
      () => true,
      () => false,
    );

  const hideIn = async (path: string, hide: Hide) => {
    const text = await readFile(path, 'utf8');
    const shown = hide(text);
    if (shown !== text) await writeWhole(path, shown, ballast);
  };

  const list = async () =>
    (await readdir(root, { withFileTypes: true }))
      .flatMap((e) => (e.isDirectory() && attemptName.test(e.name) ? [e.name] : []))
      .sort();

  return {
    dirOf,
    async create(claim) {
      await mkdir(dirOf(claim.attempt), { mode: 0o700 });
      const { credential } = claim;
      await write(claim.attempt, 'claim.json', {
        ...claim,
        message: '',
        credential: credential && { id: credential.id, kind: credential.kind, env: {} },
        lent_marks: marksOf(lentSecrets(credential), claim.attempt),
      } satisfies SpooledClaim);
      await write(claim.attempt, 'state.json', freshState);
    },
    readClaim: (attempt) => read(attempt, 'claim.json', SpooledClaim),
    writeState: (attempt, state) => write(attempt, 'state.json', state),
    // A torn state is the careful one: a process may have been started.
    readState: async (attempt) =>
      (await read(attempt, 'state.json', AttemptState)) ?? { ...freshState, phase: 'begun' as const },
    writeFacts: (attempt, facts) => writeDurably(file(attempt, 'facts.json'), JSON.stringify(facts), ballast),
    readFacts: (attempt) => read(attempt, 'facts.json', Facts),
    async markDelivered(attempt, answer) {
      await writeFile(file(attempt, 'delivered'), answer, { mode: 0o600 });
      const hide = redactor([], (await read(attempt, 'claim.json', SpooledClaim))?.lent_marks);
      // The server has the transcript: a long one is not kept twice, and what was lent is not kept at all.
      for (const name of ['stdout', 'stderr']) {
        const size = await stat(file(attempt, name)).then(
          (s) => s.size,
          () => 0,
        );
        if (size > keptStreamBytes) await rm(file(attempt, name), { force: true });
        else if (size > 0) await hideIn(file(attempt, name), hide);
      }
    },
    isDelivered: (attempt) => exists(attempt, 'delivered'),
    remove: (attempt) => rm(dirOf(attempt), { recursive: true, force: true }),
    async setAside(attempt) {
      const aside = join(root, '..', 'unreadable');
      await mkdir(aside, { recursive: true, mode: 0o700 });
      let to = join(aside, attempt);
      for (
        let n = 2;
        await stat(to).then(
          () => true,
          () => false,
        );
        n++
      )
        to = join(aside, `${attempt}.${n}`);
      await rename(dirOf(attempt), to);
      return to;
    },
    list,
    async sweep() {
      const delivered: string[] = [];
      for (const name of await list()) if (await exists(name, 'delivered')) delivered.push(name);
      // Ids sort by time: the oldest come first.
      for (const name of delivered.slice(0, -keptDelivered)) await rm(dirOf(name), { recursive: true, force: true });
    },
  };
};
