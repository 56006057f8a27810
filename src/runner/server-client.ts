/**
 * The runner's side of its protocol, over HTTP with kept connections. Every answer is checked against the contract. Two ways
 * to fail, told apart because they ask for different things: unreachable (try again, keep the agents running) and refused
 * (the server has decided; trying again changes nothing).
 */
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Facts } from '../contract/facts.ts';
import {
  attemptTokenHeader,
  BeginAnswer,
  ClaimAnswer,
  type ClaimRequest,
  callIdHeader,
  EventsAnswer,
  FactsAnswer,
  GoodbyeAnswer,
  type GoodbyeRequest,
  LoginAnswer,
  type LoginRequest,
  RenewAnswer,
  type RenewRequest,
  runnerProtocol,
  runnerProtocolHeader,
} from '../contract/runner-protocol.ts';
import { type ByteRoom, byteRoom } from '../kernel/byte-room.ts';
import { httpClient } from './http-client.ts';

/** No connection, no whole answer, or a server that cannot answer now. */
export class ServerUnreachable extends Error {}
export class ServerRefused extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface ServerClient {
  claim(body: ClaimRequest, signal: AbortSignal): Promise<ClaimAnswer>;
  goodbye(body: GoodbyeRequest, signal: AbortSignal): Promise<GoodbyeAnswer>;
  begin(attempt: string, token: string, signal: AbortSignal): Promise<BeginAnswer>;
  renew(body: RenewRequest, signal: AbortSignal): Promise<RenewAnswer>;
  /** For batches of events: taken before one is made, so that a flood stays in the files and not in memory. */
  readonly eventRoom: ByteRoom;
  /** `entries` are ready JSON lines; the answer is the highest stored sequence number. */
  events(attempt: string, token: string, firstSeq: number, entries: string[], signal: AbortSignal): Promise<number>;
  facts(attempt: string, token: string, facts: Facts, signal: AbortSignal): Promise<FactsAnswer>;
  /** The login file of the attempt's credential, as its CLI has left it. */
  login(attempt: string, token: string, login: string, signal: AbortSignal): Promise<LoginAnswer>;
  /** A message of an agent to the MCP server, in its execution's name; the answer as it comes, after as long as a call takes. */
  mcp(bearer: string, callId: string | null, message: string, signal: AbortSignal): Promise<IncomingMessage>;
  close(): Promise<void>;
}

/** Batches of all attempts on their way at once: of the largest size four, of usual ones all there are connections for. */
const eventRoomBytes = 1024 * 1024;
/** Above the long poll of 25 s and a disk that takes 2 s per write. */
const answerMs = 60_000;
const connectMs = 5_000;

const ErrorBody = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** A key that is wrong today may be put right tomorrow, and a newer server may be rolled back: those are waited out. */
const passing = (status: number) => status >= 500 || [401, 403, 408, 425, 426, 429].includes(status);

export const connectServer = (url: string, token: () => string): ServerClient => {
  const client = httpClient({ connectMs, connections: 16 });
  // Calls wait for hours: they take no connection from the above.
  const calls = httpClient({ connectMs });
  const send = async <T>(
    path: string,
    schema: z.ZodType<T>,
    body: string,
    signal: AbortSignal,
    headers: Record<string, string> = {},
  ): Promise<T> => {
    let status: number;
    let text: string;
    try {
      ({ status, text } = await client.ask(new URL(`/api/runner${path}`, url), {
        method: 'POST',
        signal,
        body,
        answerMs,
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${token()}`,
          [runnerProtocolHeader]: String(runnerProtocol),
          ...headers,
        },
      }));
    } catch (cause) {
      signal.throwIfAborted();
      throw new ServerUnreachable(`The server at ${url} cannot be reached: ${(cause as Error).message}`, { cause });
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      throw new ServerUnreachable(`The server at ${url} answered ${status} without JSON on ${path}`, { cause });
    }
    if (status >= 200 && status < 300) {
      const parsed = schema.safeParse(value);
      if (parsed.success) return parsed.data;
      throw new ServerUnreachable(`The server's answer on ${path} is not of this protocol`, { cause: parsed.error });
    }
    const error = ErrorBody.safeParse(value).data?.error;
    const message = `The server answered ${status} on ${path}: ${error?.message ?? text.slice(0, 200)}`;
    if (passing(status)) throw new ServerUnreachable(message);
    throw new ServerRefused(status, error?.code ?? 'unknown', message);
  };
  const json = <T>(path: string, schema: z.ZodType<T>, body: object, signal: AbortSignal) =>
    send(path, schema, JSON.stringify(body), signal);

  return {
    claim: (body, signal) => json('/claim', ClaimAnswer, body, signal),
    goodbye: (body, signal) => json('/goodbye', GoodbyeAnswer, body, signal),
    begin: (attempt, token, signal) => json(`/attempts/${attempt}/begin`, BeginAnswer, { token }, signal),
    renew: (body, signal) => json('/renew', RenewAnswer, body, signal),
    eventRoom: byteRoom(eventRoomBytes),
    events: async (attempt, token, firstSeq, entries, signal) => {
      const path = `/attempts/${attempt}/events?first_seq=${firstSeq}`;
      const answer = await send(path, EventsAnswer, `${entries.join('\n')}\n`, signal, {
        'content-type': 'application/x-ndjson',
        [attemptTokenHeader]: token,
      });
      return answer.stored_seq;
    },
    login: (attempt, token, login, signal) =>
      json(`/attempts/${attempt}/login`, LoginAnswer, { token, login } satisfies LoginRequest, signal),
    facts: (attempt, token, facts, signal) => json(`/attempts/${attempt}/facts`, FactsAnswer, { token, facts }, signal),
    mcp: (bearer, callId, body, signal) =>
      calls.open(new URL('/mcp', url), {
        method: 'POST',
        signal,
        body,
        answerMs: 0,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${bearer}`,
          ...(callId !== null && { [callIdHeader]: callId }),
        },
      }),
    close: async () => {
      client.close();
      calls.close();
    },
  };
};
