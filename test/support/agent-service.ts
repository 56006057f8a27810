/** An agent behind HTTP that the test owns (api.md, last section): it takes requests, and says what the test wants. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AgentService {
  url: string;
  port: number;
  /** Requests that it took, in order. */
  taken: { path: string; body: Record<string, unknown>; token: string | null; headers: http.IncomingHttpHeaders }[];
  terminated: string[];
  /** What a POST does: answer, or break the connection before (`drop`) or after (`take_and_drop`) taking the work. */
  onPost: (body: Record<string, unknown>) => { status: number; body: unknown } | 'drop' | 'take_and_drop';
  /** The result by id; null = still running. Unknown ids are 404. */
  results: Map<string, { status: number; body: unknown } | null>;
  /** Resolves when `look` holds: looked at after every request. */
  until(look: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export const startAgentService = async (port = 0): Promise<AgentService> => {
  let looks: (() => void)[] = [];
  const service: Omit<AgentService, 'url' | 'port'> = {
    taken: [],
    terminated: [],
    onPost: () => ({ status: 202, body: {} }),
    results: new Map(),
    async until(look) {
      while (!look()) await new Promise<void>((r) => looks.push(r));
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const server = http.createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const json = (status: number, body: unknown) => {
      res.writeHead(status, { 'content-type': 'application/json' });
      res.end(JSON.stringify(body));
    };
    const path = req.url ?? '';
    const [, , , id, verb] = path.split('/');
    if (path === '/api/chat' || path === '/api/task') {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
      const said = service.onPost(body);
      if (said === 'drop') req.socket.resetAndDestroy();
      else {
        const token = (req.headers['x-trinity-agent-token'] as string) ?? null;
        service.taken.push({ path, body, token, headers: req.headers });
        if (!service.results.has(String(body.execution_id))) service.results.set(String(body.execution_id), null);
        if (said === 'take_and_drop') req.socket.resetAndDestroy();
        else json(said.status, said.body);
      }
    } else if (path === '/api/executions/running')
      json(200, {
        executions: [...service.results].filter(([, r]) => r === null).map(([each]) => ({ execution_id: each })),
      });
    else if (verb === 'terminate') {
      service.terminated.push(id!);
      json(200, {});
    } else if (verb === 'result') {
      const result = service.results.get(id!);
      if (result === undefined) json(404, { detail: 'not found' });
      else if (result === null) json(202, { status: 'running' });
      else json(result.status, result.body);
    } else json(404, {});
    for (const look of looks.splice(0)) look();
    looks = [];
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const own = (server.address() as AddressInfo).port;
  return Object.assign(service, { url: `http://127.0.0.1:${own}`, port: own });
};
