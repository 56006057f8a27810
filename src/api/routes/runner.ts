/**
 * The runner's protocol: claim, begin, renew, events, facts. The runner asks, the server answers; nothing here calls out. A
 * claim whose client has gone is not made, and one that was lost is free again as soon as its runner is heard of without it, since
 * nothing runs before `begin`; else when its lease ends.
 * What a runner delivers is stored before it is acknowledged, and a repeat changes nothing.
 */
import { z } from 'zod';
import { type Refusal, refuse } from '../../contract/errors.ts';
import {
  attemptTokenHeader,
  BeginRequest,
  ClaimRequest,
  FactsRequest,
  GoodbyeAnswer,
  GoodbyeRequest,
  LogEntry,
  LoginAnswer,
  LoginRequest,
  RenewRequest,
  runnerProtocol,
  runnerProtocolHeader,
} from '../../contract/runner-protocol.ts';
import { cleanTexts } from '../../contract/text.ts';
import { begin, giveBack, renew } from '../../flow/begin.ts';
import { finish } from '../../flow/finish.ts';
import { keepLogin } from '../../flow/keep-login.ts';
import { byteRoom } from '../../kernel/byte-room.ts';
import type { Tails } from '../../record/tails.ts';
import { watchWaitingActive } from '../../record/waiting-active.ts';
import type { OpenRequests } from '../open-requests.ts';
import { type ApiDeps, IdParams, orRefuse, Refused, type RouteModule, who } from '../route.ts';

/** One delivery of events: a runner that was cut off for long sends what it kept in pieces of this size at most. */
const eventsBytes = 16 * 1024 * 1024;
/**
 * All deliveries that are being read, checked and written at once. A line costs some ten times its size until it is on disk (buffer,
 * text, value, copy for the log's thread), so this is a tenth of what a flood may take.
 */
const eventsInFlight = 2 * 1024 * 1024;
/** Facts hold the answer of the agent, which may be as long as a message and more. */
const factsBytes = 32 * 1024 * 1024;

export const runnerRoutes =
  (open: OpenRequests, tails: Tails): RouteModule =>
  (deps) =>
  async (app) => {
    app.addContentTypeParser(
      'application/x-ndjson',
      { parseAs: 'buffer', bodyLimit: eventsBytes },
      (_request, body, done) => done(null, body),
    );
    app.addHook('onRequest', async (request) => {
      const said = request.headers[runnerProtocolHeader];
      if (said === String(runnerProtocol) || said === String(runnerProtocol - 1)) return;
      throw new Refused(
        refuse(
          'protocol_version',
          `This server speaks versions ${runnerProtocol - 1} and ${runnerProtocol} of the runner's protocol; the runner said ${said === undefined ? 'none' : JSON.stringify(said)} in ${runnerProtocolHeader}. Upgrade the older of the two.`,
        ),
      );
    });
    const config = { needs: 'run' } as const;
    const tags = ['Runner'];
    const owners = attemptOwners(deps);
    const seen = watchWaitingActive(deps);
    const events = byteRoom(eventsInFlight);

    app.post(
      '/api/runner/claim',
      {
        config: { ...config, streams: true },
        schema: { tags, summary: 'Wait for work, at most 25 s', body: ClaimRequest },
      },
      (request, reply) => deps.dispatcher.claim(runnerId(request), request.body, open.signalOf(reply)),
    );

    app.post(
      '/api/runner/attempts/:id/begin',
      { config, schema: { tags, summary: 'May the process be spawned?', params: IdParams, body: BeginRequest } },
      (request) => begin(deps, request.params.id, request.body.token),
    );

    app.post(
      '/api/runner/goodbye',
      {
        config,
        schema: {
          tags,
          summary: 'A runner leaves: what it never began and does not hold is free at once',
          body: GoodbyeRequest,
          response: { 200: GoodbyeAnswer },
        },
      },
      (request) => giveBack(deps, runnerId(request), request.body),
    );

    app.post(
      '/api/runner/renew',
      { config, schema: { tags, summary: 'Renew the leases of all attempts of this runner', body: RenewRequest } },
      (request) => renew(deps, runnerId(request), request.body),
    );

    app.post(
      '/api/runner/attempts/:id/events',
      {
        config,
        bodyLimit: eventsBytes,
        preParsing: async (request, reply) => {
          // Without a length (a client that streams) it counts as large.
          const leave = await events.take(Number(request.headers['content-length'] ?? eventsInFlight));
          for (const over of ['finish', 'close']) reply.raw.once(over, leave);
          if (reply.raw.destroyed) leave();
        },
        schema: {
          tags,
          summary: 'Store log entries: NDJSON, one per line, counted from first_seq; answers the highest stored seq',
          params: IdParams,
          querystring: z.object({ first_seq: z.coerce.number().int().min(1) }),
        },
      },
      async (request) => {
        const attempt = request.params.id;
        const owner = orRefuse(await owners(attempt, request.headers[attemptTokenHeader], runnerId(request)));
        const entries = orRefuse(linesOf(request.body));
        if (entries.length === 0) return { stored_seq: await deps.store.read('stored_seq', { attempt_id: attempt }) };
        const stored_seq = await deps.store.appendLog({
          attempt_id: attempt,
          execution_id: owner.execution_id,
          first_seq: request.query.first_seq,
          entries,
          now: deps.kernel.clock.now(),
        });
        tails.appended(owner.execution_id);
        await seen(owner.execution_id, entries);
        return { stored_seq };
      },
    );

    app.post(
      '/api/runner/attempts/:id/facts',
      {
        config,
        bodyLimit: factsBytes,
        schema: {
          tags,
          summary: 'How the attempt ended: what was seen, not what it means',
          params: IdParams,
          body: FactsRequest,
        },
      },
      (request) =>
        finish(deps, request.params.id, { token: request.body.token, facts: cleanTexts(request.body.facts) }),
    );

    app.post(
      '/api/runner/attempts/:id/login',
      {
        config,
        schema: {
          tags,
          summary: 'The login that was lent, as its CLI has refreshed it; sealed in place of the old one',
          params: IdParams,
          body: LoginRequest,
          response: { 200: LoginAnswer },
        },
      },
      async (request) => orRefuse(await keepLogin(deps, request.params.id, request.body)),
    );
  };

const runnerId = (request: Parameters<typeof who>[0]): string => {
  const principal = who(request);
  if (principal.kind !== 'runner') throw new Refused(refuse('forbidden', 'Only a runner’s own key may speak for it.'));
  return principal.id;
};

/** Bytes are split at newlines before they are decoded: U+2028 inside a text is no end of a line. */
const linesOf = (body: unknown): string[] | Refusal => {
  if (!Buffer.isBuffer(body))
    return refuse('unsupported_media_type', 'Send events as application/x-ndjson, one entry per line.');
  const lines: string[] = [];
  for (let from = 0; from < body.length; ) {
    const newline = body.indexOf(10, from);
    const to = newline === -1 ? body.length : newline;
    const line = body.toString('utf8', from, to).trim();
    from = to + 1;
    if (line === '') continue;
    const problem = problemOf(line);
    if (problem !== null)
      return refuse(
        'invalid',
        `Line ${lines.length + 1} of the events ${problem}. Nothing of this delivery was stored.`,
      );
    lines.push(line);
  }
  return lines;
};

const problemOf = (line: string): string | null => {
  try {
    return LogEntry.safeParse(JSON.parse(line)).success ? null : 'is not a log entry {at, stream, event, text}';
  } catch {
    return 'is not JSON';
  }
};

type Owner = { execution_id: string; runner_id: string };

/** An attempt never changes hands, so what was looked up once stays true: 200 agents that stream cost no reads. */
const keptOwners = 5_000;

const attemptOwners = (deps: ApiDeps) => {
  const kept = new Map<string, Owner>();
  return async (attempt: string, header: string | string[] | undefined, runner: string): Promise<Owner | Refusal> => {
    const token = String(header ?? '');
    const key = `${attempt} ${token}`;
    const owner = kept.get(key) ?? (await deps.store.read('attempt_owner', { attempt_id: attempt, token }));
    if (owner === null || owner.runner_id !== runner)
      return refuse(
        'stale_token',
        `${attemptTokenHeader} is not the token of this attempt, or the attempt is another runner’s.`,
      );
    if (kept.size >= keptOwners) kept.clear();
    kept.set(key, owner);
    return owner;
  };
};
