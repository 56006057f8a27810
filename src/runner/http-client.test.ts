import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { type Ask, type HttpClient, httpClient } from './http-client.ts';

let server: Server | null = null;
let client: HttpClient | null = null;
afterEach(() => {
  client?.close();
  server?.closeAllConnections();
  server?.close();
});

const serve = async (listener: RequestListener): Promise<string> => {
  server = createServer(listener);
  await new Promise<void>((done) => server!.listen(0, '127.0.0.1', done));
  client = httpClient({ connectMs: 5_000, connections: 1 });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};
const ask = (url: string, over: Partial<Ask> = {}) =>
  client!.ask(url, {
    method: 'POST',
    headers: { 'x-a': '1' },
    body: 'ü',
    signal: new AbortController().signal,
    answerMs: 0,
    ...over,
  });

it('gives the whole answer, whatever its status, and keeps the connection', async () => {
  const ports = new Set<number>();
  const url = await serve((request, response) => {
    ports.add(request.socket.remotePort!);
    let body = '';
    request.setEncoding('utf8').on('data', (d) => {
      body += d;
    });
    request.on('end', () => response.writeHead(503).end(`${request.method} ${request.headers['x-a']} ${body}`));
  });
  expect(await ask(url)).toEqual({ status: 503, text: 'POST 1 ü' });
  expect(await ask(url, { method: 'GET', body: null })).toEqual({ status: 503, text: 'GET 1 ' });
  expect(ports.size).toBe(1);
});

it('says that nothing was sent when nobody listens', async () => {
  const url = await serve(() => {});
  await new Promise((done) => server!.close(done));
  await expect(ask(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it('is no answer when the connection breaks before the end of it', async () => {
  const url = await serve((_request, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('half');
    setImmediate(() => response.destroy());
  });
  await expect(ask(url)).rejects.toMatchObject({ code: 'ECONNRESET' });
});

it('gives up after silence, and not before it is asked to', async () => {
  const url = await serve(() => {});
  await expect(ask(url, { answerMs: 20 })).rejects.toMatchObject({ code: 'EANSWER' });
});

it('leaves at once when its signal fires', async () => {
  const leaving = new AbortController();
  const url = await serve(() => leaving.abort());
  await expect(ask(url, { signal: leaving.signal })).rejects.toThrow(/abort/);
});

it(verifies('D37')('cuts off an answer without an end, and says so'), async () => {
  let closed = false;
  const url = await serve((_, response) => {
    response.on('close', () => {
      closed = true;
    });
    const piece = Buffer.alloc(1024 * 1024, 'x');
    const more = () => {
      while (!closed && response.write(piece));
      if (!closed) response.once('drain', more);
    };
    more();
  });
  await expect(ask(url)).rejects.toMatchObject({ code: 'EANSWERSIZE', message: 'the answer is longer than 64 MB' });
});
