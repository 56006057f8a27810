/** A load from a process of its own: `clients` connections, each sending its next request when it has its answer. */
import { Pool } from 'undici';

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

const runLoad = async (plan: LoadPlan): Promise<LoadResult> => {
  const pool = new Pool(plan.url, { connections: plan.clients, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const took: number[] = [];
  let turn = 0;
  const began = performance.now();
  const until = began + plan.seconds * 1000;
  const client = async () => {
    while (performance.now() < until) {
      const at = performance.now();
      const answer = await pool.request({
        method: plan.method,
        path: plan.paths[turn++ % plan.paths.length]!,
        headers: plan.headers,
        body: plan.body ?? undefined,
      });
      await answer.body.dump();
      if (answer.statusCode !== plan.expect)
        throw new Error(`${plan.paths[0]} answered ${answer.statusCode}, not ${plan.expect}`);
      took.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: plan.clients }, client));
  const ran = (performance.now() - began) / 1000;
  await pool.close();
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
