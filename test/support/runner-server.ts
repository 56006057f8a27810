/**
 * A server for one runner, over real HTTP, that the test owns: it hands out the claims it is given, stores what is delivered
 * as the real one does (a repeat changes nothing), and can lose or double what passes over the wire.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Facts } from '../../src/contract/facts.ts';
import {
  attemptTokenHeader,
  type ClaimedWork,
  type ClaimRequest,
  type GoodbyeRequest,
  type LogEntry,
  type RenewRequest,
  type RenewResult,
} from '../../src/contract/runner-protocol.ts';
import type { StopReason } from '../../src/contract/stop-reasons.ts';

type Route = 'claim' | 'goodbye' | 'begin' | 'renew' | 'events' | 'facts' | 'login';
/** What happens to one request: nothing special, the request never arrives, or its answer is lost after it was done. */
export type Fate = 'passes' | 'request_lost' | 'answer_lost' | '503' | '409' | '422';

export interface RunnerServer {
  url: string;
  give(claim: ClaimedWork): void;
  stop(attempt: string, reason: StopReason): void;
  /** Asked for each request. */
  fate: (route: Route) => Fate;
  begin: (attempt: string) => { go: boolean; why: 'cancelled' | 'reaped' | 'unknown' | null };
  renewed: (attempt: string) => RenewResult;
  /** What was stored of each attempt, by sequence number from 1. */
  log(attempt: string): LogEntry[];
  /** Every delivery that arrived, repeats too. */
  facts(attempt: string): Facts[];
  /** Logins that were given back, in order. */
  logins: { attempt: string; login: string }[];
  seen: { route: Route; attempt: string | null; token: string | null; at: number }[];
  polls: ClaimRequest[];
  renewals: RenewRequest[];
  goodbyes: GoodbyeRequest[];
  /** Resolves when `look` gives something: looked at after every request. */
  until<T>(look: () => T | undefined | null | false): Promise<T>;
  close(): Promise<void>;
}

/** The server's tools for agents, of which there are none here: a CLI that got no answer would wait for 30 s at its start. */
const emptyMcp = (res: http.ServerResponse, text: string): void => {
  const { id, method, params } = JSON.parse(text) as {
    id?: unknown;
    method: string;
    params?: { protocolVersion?: string };
  };
  if (id === undefined) return void res.writeHead(202).end();
  const hello = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} } };
  const result =
    method === 'initialize'
      ? { ...hello, serverInfo: { name: 'drover', version: '0' } }
      : method === 'tools/list'
        ? { tools: [] }
        : {};
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
};

export const startRunnerServer = async (): Promise<RunnerServer> => {
  const queue: ClaimedWork[] = [];
  const stops: { attempt: string; reason: StopReason }[] = [];
  const logs = new Map<string, LogEntry[]>();
  const facts = new Map<string, Facts[]>();
  const polls = new Set<() => void>();
  const looks: (() => void)[] = [];
  const wake = () => {
    for (const poll of [...polls]) poll();
    for (const look of looks.splice(0)) look();
  };

  const api: Omit<RunnerServer, 'url'> = {
    give(claim) {
      queue.push(claim);
      wake();
    },
    stop(attempt, reason) {
      stops.push({ attempt, reason });
      wake();
    },
    fate: () => 'passes',
    begin: () => ({ go: true, why: null }),
    renewed: (attempt) => ({ attempt, state: 'ok' }),
    log: (attempt) => logs.get(attempt) ?? [],
    facts: (attempt) => facts.get(attempt) ?? [],
    logins: [],
    seen: [],
    polls: [],
    renewals: [],
    goodbyes: [],
    async until(look) {
      for (;;) {
        const found = look();
        if (found) return found;
        await new Promise<void>((r) => looks.push(r));
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  const claim = (request: ClaimRequest, res: http.ServerResponse): Promise<object> =>
    new Promise((resolve) => {
      api.polls.push(request);
      const answer = () => {
        const claims = queue.splice(0, request.max);
        const fresh = stops.filter((s) => !request.stopping.includes(s.attempt));
        if (claims.length === 0 && fresh.length === 0) return;
        polls.delete(answer);
        resolve({ claims, stops: fresh });
      };
      polls.add(answer);
      res.on('close', () => polls.delete(answer));
      answer();
    });

  const handle = async (route: Route, attempt: string, url: URL, text: string, res: http.ServerResponse) => {
    switch (route) {
      case 'claim':
        return claim(JSON.parse(text) as ClaimRequest, res);
      case 'goodbye':
        api.goodbyes.push(JSON.parse(text) as GoodbyeRequest);
        return { given_back: 0 };
      case 'begin':
        return api.begin(attempt);
      case 'renew': {
        const request = JSON.parse(text) as RenewRequest;
        api.renewals.push(request);
        return { results: request.attempts.map((a) => api.renewed(a.attempt)), lease_ms: 45_000 };
      }
      case 'events': {
        const stored = logs.get(attempt) ?? [];
        logs.set(attempt, stored);
        const first = Number(url.searchParams.get('first_seq'));
        const entries = text.split('\n').filter((l) => l !== '');
        for (const [i, line] of entries.entries()) {
          const seq = first + i;
          if (seq === stored.length + 1) stored.push(JSON.parse(line) as LogEntry);
          else if (seq > stored.length) throw new Error(`a gap: ${seq} after ${stored.length}`);
        }
        return { stored_seq: stored.length };
      }
      case 'facts': {
        const all = facts.get(attempt) ?? [];
        facts.set(attempt, [...all, (JSON.parse(text) as { facts: Facts }).facts]);
        return { result: all.length === 0 ? 'settled' : 'replayed' };
      }
      case 'login':
        api.logins.push({ attempt, login: (JSON.parse(text) as { login: string }).login });
        return { result: 'kept' };
      default:
        return route satisfies never;
    }
  };

  const server = http.createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of req) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const url = new URL(req.url ?? '/', 'http://runner');
    if (url.pathname === '/mcp') return void emptyMcp(res, Buffer.concat(chunks).toString());
    const [, , , a, b, c] = url.pathname.split('/');
    const route = (a === 'attempts' ? c : a) as Route;
    const attempt = a === 'attempts' ? b! : '';
    const token = (req.headers[attemptTokenHeader] as string | undefined) ?? null;
    api.seen.push({ route, attempt: attempt || null, token, at: api.seen.length });
    const fate = api.fate(route);
    if (fate === 'request_lost') {
      wake();
      return void req.socket.destroy();
    }
    const json = (status: number, body: unknown) => {
      res.writeHead(status, { 'content-type': 'application/json' });
      res.end(JSON.stringify(body));
    };
    if (fate === '409') return json(409, { error: { code: 'stale_token', message: 'not yours' } });
    if (fate === '422') return json(422, { error: { code: 'invalid_request', message: 'not of this protocol' } });
    if (fate === '503') return json(503, { error: { code: 'not_ready', message: 'starting' } });
    try {
      const body = await handle(route, attempt, url, Buffer.concat(chunks).toString(), res);
      wake();
      if (fate === 'answer_lost') return void req.socket.destroy();
      json(200, body);
    } catch (error) {
      json(500, { error: { code: 'internal', message: (error as Error).message } });
    }
    wake();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(api, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
};
