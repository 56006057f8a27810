/**
 * The reading side of one attempt: its files become evidence and transcript. It begins with what an earlier runner had read
 * (files and journal are the truth, nothing of it was in memory only) and goes on with what comes.
 */
import { join } from 'node:path';
import type { StreamFacts } from '../contract/facts.ts';
import type { Awaits } from '../evidence/awaits.ts';
import type { LineSeen } from '../evidence/reader.ts';
import { cliOf } from './adapters/all.ts';
import { type Delivery, startDelivery } from './deliver.ts';
import { openJournal } from './journal.ts';
import { plainAnswer } from './plain-answer.ts';
import type { Run } from './run.ts';
import { openStreams } from './streams.ts';
import { startTail, type Tail } from './tail.ts';

/** A runner sends at most this many batches a second over all its attempts: 8 agents are told about every 40 ms. */
const batchesPerSecond = 200;
const shortestDelayMs = 25;
const longestDelayMs = 1_000;
/** With more than this unsent the server is away or slow: fewer, larger slices. */
const longBacklog = 50;

export interface ReadingEvents {
  onLine(seen: LineSeen, awaits: Awaits | null): void;
  onFull(bytes: number): void;
}

export interface Reading {
  /** Asked when the end of the output has been read. */
  evidence(): Promise<StreamFacts>;
  tail: Tail;
  /** Resolves when the transcript is stored by the server, or never will be. */
  close(): Promise<void>;
}

/** For what is read after its ending: nobody acts on it. */
export const unheard: ReadingEvents = { onLine: () => {}, onFull: () => {} };

export const openReading = async ({ claim, control, hide, parts }: Run, on: ReadingEvents): Promise<Reading> => {
  const { kernel, spool } = parts;
  const dir = spool.dirOf(claim.attempt);
  const cli = cliOf(claim.agent.adapter);
  const plain = cli === 'command';
  const reader = parts.readerFor(cli, { answerLeft: plain });
  const streams = openStreams(dir);
  const journal = await openJournal(join(dir, 'journal'));
  const delivery: Delivery = startDelivery({
    attempt: claim.attempt,
    token: claim.token,
    cli,
    streams,
    server: parts.server,
    kernel,
    clean: hide,
    signal: parts.leaving,
  });
  const delayMs = () =>
    delivery.backlog > longBacklog
      ? longestDelayMs
      : Math.min(longestDelayMs, Math.max(shortestDelayMs, (parts.live() * 1000) / batchesPerSecond));
  /** Of stdout, up to here it is in the transcript. */
  let told = 0;
  const tail = await startTail({
    dir,
    streams,
    journal,
    clock: kernel.clock,
    log: kernel.log.child({ attempt: claim.attempt }),
    delayMs,
    logBytes: parts.logBytes,
    onLine: (stream, text, at) => {
      on.onLine(reader.line(stream, hide(text), at), reader.awaits());
      control.modelSpoke ||= reader.spoke();
    },
    onSlice: (slice) => {
      told = slice.stdout[1];
      delivery.add(slice);
    },
    onFull: on.onFull,
  });
  return {
    async evidence() {
      if (!plain) return reader.facts();
      const response = await plainAnswer(streams, told, hide).catch((error) => {
        kernel.log.error('the answer of a program cannot be read from its file', { attempt: claim.attempt, error });
        return null;
      });
      return { ...reader.facts(), response };
    },
    tail,
    async close() {
      await tail.close();
      await delivery.drained();
      await journal.close();
      await streams.close();
    },
  };
};
