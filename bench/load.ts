/**
 * A load from a process of its own: `clients` connections, each sending its next request when it has its answer. Bytes on
 * sockets, since a whole HTTP client would take more of the machine's two cores than the server that is measured.
 */
import { connect } from 'node:net';

export interface LoadPlan {
  url: string;
  clients: number;
  seconds: number;
  headers: Record<string, string>;
  method: 'GET' | 'POST';
  /** Taken in turn. */
  paths: string[];
  body: string | null;
  expect: number;
  /** Each client sends at this pace instead of as fast as it gets answers. */
  everyMs?: number;
}
export interface LoadResult {
  perSecond: number;
  p50: number;
  p99: number;
  max: number;
  done: number;
}

const percentile = (sorted: number[], p: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? Number.NaN;

const requestOf = (plan: LoadPlan, path: string): Buffer => {
  const { host } = new URL(plan.url);
  const headers = {
    host,
    ...plan.headers,
    ...(plan.body !== null && { 'content-length': Buffer.byteLength(plan.body) }),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${plan.method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${plan.body ?? ''}`);
};

/** The length of a whole answer at the start of `bytes`, or null when there is more to come. */
const wholeAnswer = (bytes: Buffer): number | null => {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const head = bytes.toString('latin1', 0, end).toLowerCase();
  const length = /\r\ncontent-length: (\d+)/.exec(head);
  if (length === null) throw new Error(`an answer without a length:\n${head}`);
  const whole = end + 4 + Number(length[1]);
  return bytes.length < whole ? null : whole;
};

const runLoad = async (plan: LoadPlan): Promise<LoadResult> => {
  const { hostname, port } = new URL(plan.url);
  const requests = plan.paths.map((path) => requestOf(plan, path));
  const took: number[] = [];
  let turn = 0;
  const began = performance.now();
  const until = began + plan.seconds * 1000;
  const client = () =>
    new Promise<void>((done, fail) => {
      let at = 0;
      let part: Buffer | null = null;
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      const send = () => {
        at = performance.now();
        if (at >= until) return socket.end(() => done());
        socket.write(requests[turn++ % requests.length]!);
      };
      socket.on('connect', send);
      socket.on('error', fail);
      socket.on('close', () => fail(new Error('the server closed a connection')));
      socket.on('data', (chunk: Buffer) => {
        const bytes: Buffer = part === null ? chunk : Buffer.concat([part, chunk]);
        const whole = wholeAnswer(bytes);
        part = whole === null ? bytes : null;
        if (whole === null) return;
        const status = Number(bytes.toString('latin1', 9, 12));
        if (status !== plan.expect || bytes.length !== whole)
          return socket.destroy(new Error(`${plan.paths[0]} answered ${status}, not ${plan.expect}:\n${bytes}`));
        const ms = performance.now() - at;
        took.push(ms);
        if (plan.everyMs === undefined) send();
        else setTimeout(send, Math.max(0, plan.everyMs - ms));
      });
    });
  await Promise.all(Array.from({ length: plan.clients }, client));
  const ran = (performance.now() - began) / 1000;
  took.sort((a, b) => a - b);
  return {
    perSecond: took.length / ran,
    p50: percentile(took, 0.5),
    p99: percentile(took, 0.99),
    max: took.at(-1) ?? Number.NaN,
    done: took.length,
  };
};

// As a process: the plan on argv, the result on stdout. The generator must not share a thread with what it measures.
if (import.meta.main) process.stdout.write(JSON.stringify(await runLoad(JSON.parse(process.argv[2]!))));
