/**
 * One answer for all who ask the same between two writes: fifty open screens read the same lists after each event, and each of those
 * would be read, presented and encoded fifty times (5 to 8 ms of the event loop for 200 rows). Nobody is told anything older than what
 * they would have read themselves. For routes whose answer does not depend on who asks.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../flow/deps.ts';

/** What waits also for the time to pass may read otherwise without a write. */
const sharedMs = 250;
/** Different questions at a time: a screen has a handful. */
const questionsMost = 32;

interface Shared {
  writes: number;
  answer: Promise<Buffer>;
}

type AnswerShared = (request: FastifyRequest, reply: FastifyReply, make: () => Promise<unknown>) => Promise<Buffer>;

export const shareAnswers = ({ store, kernel }: Pick<Deps, 'store' | 'kernel'>): AnswerShared => {
  const shared = new Map<string, Shared>();
  return (request, reply, make) => {
    reply.type('application/json; charset=utf-8');
    const writes = store.writes();
    const known = shared.get(request.url);
    if (known?.writes === writes) return known.answer;
    const mine: Shared = { writes, answer: make().then((value) => Buffer.from(String(reply.serialize(value)))) };
    const forget = () => {
      if (shared.get(request.url) === mine) shared.delete(request.url);
    };
    mine.answer.catch(forget);
    if (known === undefined && shared.size >= questionsMost) return mine.answer;
    shared.set(request.url, mine);
    kernel.clock.after(sharedMs, forget);
    return mine.answer;
  };
};
