/**
 * A server of one execution, moved by the test step by step, for what the real one cannot be made to do on cue: go away in
 * the middle and come back on the same port, lose the answer to a submit, end while nobody looks.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const scriptedId = '01abcdefghjkmnpqrstvwxyz00';

export interface ScriptedServer {
  env: Record<string, string>;
  row: Record<string, unknown>;
  /** Bodies and keys of the submits that arrived. */
  submits: { path: string; key: unknown; body: unknown }[];
  terminates: unknown[];
  /** The next submits arrive, and their answers are lost. */
  loseAnswers: number;
  say(entry: Record<string, unknown>): void;
  end(change: Record<string, unknown>): void;
  /** Drops every line and stops listening. */
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}

export const scriptedServer = async (): Promise<ScriptedServer> => {
  const said: Record<string, unknown>[] = [];
  const streams = new Set<ServerResponse>();
  let server: Server | null = null;
  let port = 0;
  const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

  const it: ScriptedServer = {
    env: {},
    row: {
      id: scriptedId,
      agent_name: 'writer',
      status: 'queued',
      message: 'do it',
      response: null,
      error: null,
      cause: null,
      verdict: null,
      secondary: [],
      attention: [],
      started_at: null,
      completed_at: null,
      queued_at: '2026-11-30T12:00:00.000Z',
      duration_ms: null,
      triggered_by: 'cli',
      cost: null,
      context_used: null,
      context_max: null,
      wait: null,
    },
    submits: [],
    terminates: [],
    loseAnswers: 0,
    say(entry) {
      said.push(entry);
      for (const s of streams) s.write(frame(entry));
    },
    end(change) {
      it.row = { ...it.row, completed_at: '2026-11-30T12:01:00.000Z', ...change };
      for (const s of streams) s.end(frame({ type: 'stream_end' }));
    },
    down: () =>
      new Promise((done) => {
        server!.close(() => done());
        server!.closeAllConnections();
        streams.clear();
      }),
    async up() {
      server = createServer((request, response) => {
        let text = '';
        request.on('data', (d) => {
          text += d;
        });
        request.on('end', () => {
          const path = request.url!.split('?')[0]!;
          const body: unknown = text === '' ? null : JSON.parse(text);
          const answer = (status: number, value: unknown, headers: Record<string, string> = {}) =>
            response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
          if (path.endsWith('/stream')) {
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            for (const e of said) response.write(frame(e));
            if (it.row.completed_at !== null) return response.end(frame({ type: 'stream_end' }));
            streams.add(response);
            response.on('close', () => streams.delete(response));
            return;
          }
          if (path.endsWith('/terminate')) {
            it.terminates.push(body);
            return answer(200, { status: 'terminated' });
          }
          if (request.method === 'POST') {
            it.submits.push({ path, key: request.headers['idempotency-key'], body });
            if (it.loseAnswers > 0) {
              it.loseAnswers--;
              return request.socket.destroy();
            }
            return answer(
              202,
              { status: 'queued', execution_id: scriptedId, agent_name: 'writer', message: 'do it' },
              { 'x-execution-id': scriptedId },
            );
          }
          if (path === `/api/executions/${scriptedId}`) return answer(200, it.row);
          return answer(404, { error: { code: 'not_found', message: 'There is no execution of that name or id.' } });
        });
      });
      await new Promise<void>((done) => server!.listen(port, '127.0.0.1', done));
      port = (server.address() as AddressInfo).port;
      it.env = { DROVER_SERVER_URL: `http://127.0.0.1:${port}`, DROVER_TOKEN: 'drover_k' };
    },
    close: async () => {
      if (server?.listening) await it.down();
    },
  };
  await it.up();
  return it;
};
