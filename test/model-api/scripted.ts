/** What the scripted providers have in common: a server on loopback that records each request and lets a test wait for it. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { zstdDecompressSync } from 'node:zlib';

export interface Scripted<R> {
  url: string;
  /** Model requests, in the order in which they came. */
  requests: R[];
  /** Resolves when the n-th model request has arrived: tests wait for it instead of sleeping. */
  arrived(n: number): Promise<R>;
  close(): Promise<void>;
}

interface Asked {
  path: string;
  headers: http.IncomingHttpHeaders;
  body: string;
}

/** `answer` records what is a model request by `keep`; whatever else a CLI asks for it answers by itself. */
export const startScripted = async <R>(
  answer: (asked: Asked, res: http.ServerResponse, keep: (request: R) => void) => Promise<void> | void,
  port = 0,
): Promise<Scripted<R>> => {
  const requests: R[] = [];
  let wake: (() => void)[] = [];
  const keep = (request: R) => {
    requests.push(request);
    for (const w of wake) w();
    wake = [];
  };
  const server = http.createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of req) chunks.push(chunk as Buffer);
    } catch {
      return; // The CLI went away while it was sending.
    }
    res.on('error', () => {});
    const raw = Buffer.concat(chunks);
    const body = (req.headers['content-encoding'] === 'zstd' ? zstdDecompressSync(raw) : raw).toString('utf8');
    await answer({ path: req.url ?? '/', headers: req.headers, body }, res, keep);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    arrived: async (n) => {
      while (requests.length < n) await new Promise<void>((r) => wake.push(r));
      return requests[n - 1]!;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

export const json = (res: http.ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
  res.writeHead(status, { 'content-type': 'application/json', ...headers });
  res.end(JSON.stringify(body));
};

export const pause = (ms: number) => new Promise<void>((r) => setTimeout(r, ms));
