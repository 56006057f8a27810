/**
 * The client against a real HTTP server on loopback: what it promises page and CLI about errors, waits by id, and streams
 * that go on where they stopped.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { client, type FeedItem } from './client.ts';
import { ApiError, type Auth } from './request.ts';

type Handler = (req: IncomingMessage, res: ServerResponse, body: string) => void;

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

const serve = async (handler: Handler): Promise<string> => {
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk) => {
      body += chunk;
    });
    req.on('end', () => handler(req, res, body));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const json = (res: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) =>
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

const bearer: Auth = { kind: 'bearer', token: 'drover_k' };
const noPause = () => Promise.resolve();

describe('requests', () => {
  it('sends the bearer token, and the CSRF token only with writes of a cookie session', async () => {
    const seen: [string | undefined, unknown, unknown][] = [];
    const url = await serve((req, res) => {
      seen.push([req.method, req.headers.authorization, req.headers['x-csrf-token']]);
      json(res, 200, []);
    });
    await client(url, bearer).agents();
    const page = client(url, { kind: 'cookie', csrf: () => 'c1' });
    await page.agents();
    await page.pause();
    expect(seen).toEqual([
      ['GET', 'Bearer drover_k', undefined],
      ['GET', undefined, undefined],
      ['POST', undefined, 'c1'],
    ]);
  });

  it('turns a refusal into one error with code, hint for a retry, and the id of the row', async () => {
    const url = await serve((_req, res) =>
      json(
        res,
        429,
        {
          error: { code: 'backlog_full', message: 'The backlog of a is full.', retryable: true },
          detail: { agent: 'a' },
        },
        { 'retry-after': '7', 'x-execution-id': 'e1' },
      ),
    );
    const thrown = await client(url, bearer)
      .chat('a', { message: 'hi' })
      .catch((e: unknown) => e);
    expect(thrown).toBeInstanceOf(ApiError);
    expect(thrown).toMatchObject({
      status: 429,
      code: 'backlog_full',
      message: 'The backlog of a is full.',
      retryable: true,
      retryAfterMs: 7000,
      executionId: 'e1',
      detail: { agent: 'a' },
    });
  });

  it('says that nothing answers, with the code of the platform, instead of "fetch failed"', async () => {
    const url = await serve((_req, res) => json(res, 200, {}));
    const server = servers.pop()!;
    await new Promise((resolve) => server.close(resolve));
    await expect(client(url, bearer).agents()).rejects.toMatchObject({
      code: 'unreachable',
      retryable: true,
      message: `The server at ${url} does not answer (ECONNREFUSED).`,
    });
  });

  it('keeps an answer that is not JSON as the message', async () => {
    const url = await serve((_req, res) =>
      res.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
    );
    await expect(client(url, bearer).agents()).rejects.toMatchObject({ status: 502, message: '<h1>Bad gateway</h1>' });
  });
});

describe('work', () => {
  it('asks for a bounded wait and goes on by id when the run is longer', async () => {
    let polls = 0;
    const asked: unknown[] = [];
    const url = await serve((req, res, body) => {
      if (req.method === 'POST') {
        asked.push([req.url, req.headers.prefer, req.headers['idempotency-key'], JSON.parse(body)]);
        json(res, 202, { status: 'accepted', execution_id: 'e9' }, { 'x-execution-id': 'e9' });
      } else if (++polls < 3) json(res, 200, { id: 'e9', status: 'running' });
      else if (polls === 3) json(res, 503, { error: { code: 'not_ready', message: 'starting' } });
      else json(res, 200, { id: 'e9', status: 'success', response: 'done' });
    });
    const api = client(url, bearer, { pause: noPause });
    const submitted = await api.task('my agent', { message: 'x' }, { waitS: 20, idempotencyKey: 'k' });
    expect(submitted).toEqual({ ended: false, execution_id: 'e9', replay: false });
    expect(asked).toEqual([['/api/agents/my%20agent/task', 'wait=20', 'k', { message: 'x' }]]);
    expect(await api.untilEnded('e9')).toMatchObject({ status: 'success', response: 'done' });
    expect(polls).toBe(4);
  });

  it('does not poll for ever for a row that is not there', async () => {
    const url = await serve((_req, res) =>
      json(res, 404, { error: { code: 'not_found', message: 'No such execution.' } }),
    );
    await expect(client(url, bearer, { pause: noPause }).untilEnded('nope')).rejects.toMatchObject({ status: 404 });
  });

  it('reads a transcript once, though each connection replays it from its start', async () => {
    let connections = 0;
    const url = await serve((_req, res) => {
      connections++;
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: {"n":1}\n\ndata: {"n":2}\n\n');
      if (connections === 1) res.end();
      else res.end('data: {"n":3}\n\ndata: {"type":"stream_end"}\n\n');
    });
    const seen: unknown[] = [];
    for await (const item of client(url, bearer, { pause: noPause }).transcript('e1'))
      seen.push(item.kind === 'entry' ? item.entry.n : item.kind);
    expect(seen).toEqual(['up', 1, 2, 'down', 'up', 3, 'ended']);
  });
});

describe('events', () => {
  const read = async (url: string, until: (items: FeedItem[]) => boolean, after?: number) => {
    const stop = new AbortController();
    const items: FeedItem[] = [];
    for await (const item of client(url, bearer, { pause: noPause }).events({ after, signal: stop.signal })) {
      items.push(item);
      if (until(items)) stop.abort();
    }
    return items;
  };

  it('goes on after a drop with the last id it has seen, and says that the line was down', async () => {
    const asked: unknown[] = [];
    const url = await serve((req, res) => {
      asked.push([req.url, req.headers['last-event-id']]);
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const first = asked.length === 1 ? 5 : 6;
      res.write(`: hello\n\nid: ${first}\ndata: {"id":${first},"type":"execution.queued"}\n\n`);
      if (asked.length === 1) res.end();
    });
    const items = await read(url, (all) => all.filter((i) => i.kind === 'event').length === 2, 4);
    expect(items.map((i) => (i.kind === 'event' ? i.event.id : i.kind))).toEqual(['up', 5, 'down', 'up', 6]);
    expect(items.filter((i) => i.kind === 'up')).toEqual([
      { kind: 'up', first: true },
      { kind: 'up', first: false },
    ]);
    expect(asked).toEqual([
      ['/api/events?after=4', undefined],
      ['/api/events?after=4', '5'],
    ]);
  });

  it('resumes from the place the server told, also when the line drops before the first event', async () => {
    const asked: unknown[] = [];
    const url = await serve((req, res) => {
      asked.push(req.headers['last-event-id']);
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      if (asked.length === 1) res.end('retry: 2000\n\nid: 17\n\n');
      else res.write('id: 18\ndata: {"id":18,"type":"agent.changed"}\n\n');
    });
    await read(url, (all) => all.some((i) => i.kind === 'event'));
    expect(asked).toEqual([undefined, '17']);
  });

  it('reports a reset, and passes over event types it cannot read', async () => {
    const url = await serve((_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(
        'event: reset\nid: 40\ndata: {"last":40}\n\ndata: not json\n\ndata: {"id":41,"type":"agent.changed"}\n\n',
      );
    });
    const items = await read(url, (all) => all.length === 3);
    expect(items[1]).toEqual({ kind: 'reset', last: 40 });
    expect(items[2]).toMatchObject({ kind: 'event', event: { id: 41 } });
  });

  it('ends with the error when the login is not valid any more', async () => {
    const url = await serve((_req, res) => json(res, 401, { error: { code: 'unauthorized', message: 'No.' } }));
    await expect(read(url, () => false)).rejects.toMatchObject({ status: 401, code: 'unauthorized' });
  });

  it('takes a line that stands still for dead', async () => {
    let connections = 0;
    const url = await serve((_req, res) => {
      connections++;
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(': hello\n\n');
      if (connections > 1) res.write('id: 1\ndata: {"id":1,"type":"limits.changed"}\n\n');
    });
    const stop = new AbortController();
    const kinds: string[] = [];
    for await (const item of client(url, bearer, { pause: noPause, idleMs: 50 }).events({
      signal: stop.signal,
    })) {
      kinds.push(item.kind);
      if (item.kind === 'event') stop.abort();
    }
    expect(kinds.slice(-2)).toEqual(['up', 'event']);
    expect(kinds).toContain('down');
  });
});
