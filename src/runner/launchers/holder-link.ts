/**
 * One connection to the holder: JSON lines there and back, answers matched by `ref`, exits told as they come. It is used
 * once: when it is lost, its open questions end with `Lost` and a new one is made. It starts nothing.
 */
import { connect, type Socket } from 'node:net';
import { z } from 'zod';
import { Fault } from '../../contract/errors.ts';
import type { Clock } from '../../kernel/clock.ts';

/** Versions of the holder's protocol that this runner speaks: a holder outlives upgrades. */
const spoken = [1];
/** It answers in a millisecond; a stopped or wedged one must not hold the runner for ever. */
const helloMs = 10_000;
const answerMs = 30_000;

/** The connection ended before the answer came: whether the order was carried out is not known. */
export class Lost extends Error {}

const Hello = z.object({ hello: z.literal('drover-holder'), protocol: z.number(), pid: z.number(), boot: z.string() });
export type Hello = z.infer<typeof Hello>;

const Exit = z.object({
  event: z.literal('exit'),
  id: z.string(),
  exit_code: z.number().nullable(),
  signal: z.string().nullable(),
  at: z.number(),
});
export type ExitEvent = z.infer<typeof Exit>;

export interface HolderLink {
  readonly hello: Hello;
  ask(order: Record<string, unknown>): Promise<Record<string, unknown>>;
  close(): void;
}

interface LinkEvents {
  exit(event: ExitEvent): void;
  /** Once, whoever ended it. */
  closed(): void;
}

const dial = (path: string): Promise<Socket | null> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(null));
  });

/** Null when nothing listens there. */
export const openLink = async (path: string, clock: Clock, events: LinkEvents): Promise<HolderLink | null> => {
  const socket = await dial(path);
  if (socket === null) return null;
  const open = new Map<number, { resolve(answer: Record<string, unknown>): void; reject(error: Error): void }>();
  let ref = 0;
  let rest = '';
  let greeted = false;
  return new Promise((resolve, reject) => {
    const undo = clock.after(helloMs, () => socket.destroy(new Error('no hello')));
    const greet = (message: unknown) => {
      undo();
      greeted = true;
      const hello = Hello.safeParse(message).data;
      if (hello === undefined || !spoken.includes(hello.protocol)) {
        socket.destroy();
        return reject(
          new Fault(
            'protocol_version',
            `The holder at ${path} speaks protocol ${hello?.protocol ?? 'unknown'}, this runner ${spoken.join(', ')}. Let its agents end, then end it (kill its pid): the next start brings a new one.`,
          ),
        );
      }
      resolve({
        hello,
        ask: (order) =>
          new Promise((answered, failed) => {
            if (socket.destroyed) return failed(new Lost('the holder is gone'));
            const late = clock.after(answerMs, () => socket.destroy());
            const settle =
              <T>(then: (value: T) => void) =>
              (value: T) => {
                late();
                then(value);
              };
            open.set(++ref, { resolve: settle(answered), reject: settle(failed) });
            socket.write(`${JSON.stringify({ ...order, ref })}\n`);
          }),
        close: () => socket.destroy(),
      });
    };
    const take = (line: string) => {
      const message = JSON.parse(line) as Record<string, unknown>;
      if (!greeted) return greet(message);
      const exit = Exit.safeParse(message).data;
      if (exit) return events.exit(exit);
      const question = open.get(message.ref as number);
      open.delete(message.ref as number);
      question?.resolve(message);
    };
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      try {
        for (const line of lines) take(line);
      } catch {
        // Not the holder's language: whatever listens there is no holder of ours.
        socket.destroy();
      }
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      undo();
      for (const { reject: fail } of open.values()) fail(new Lost('the holder is gone'));
      open.clear();
      if (greeted) events.closed();
      else resolve(null);
    });
  });
};
