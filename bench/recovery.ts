/**
 * The server is killed with -9 while twelve agents run, and all of them end while nobody serves: from its next start, the time until
 * it answers, until one that was queued then runs, and until all twelve endings are recorded, each with its own exit code.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { install } from '../test/support/installation.ts';
import { type Figure, median } from './measure.ts';

const live = 12;
const rounds = 3;

export const recovery = async (): Promise<Figure[]> => {
  const drover = await install({ BACKEND_AGENT_CALL_LIMIT: String(live) });
  const took = { ready: [] as number[], recorded: [] as number[], runs: [] as number[] };
  try {
    for (let round = 0; round < rounds; round++) {
      const [name, gate] = [`gated-${round}`, join(drover.home, `gate-${round}`)];
      await drover.api('POST', '/api/agents', {
        name,
        adapter: 'command',
        max_parallel_tasks: live,
        command: ['sh', '-c', `read -r code; while ! [ -e ${gate} ]; do sleep 0.2; done; exit "$code"`],
      });
      const start = async (code: number): Promise<string> =>
        (await drover.api('POST', `/api/agents/${name}/task`, { message: `${code}\n`, async_mode: true })).body
          .execution_id;
      const ids: string[] = [];
      for (let code = 1; code <= live; code++) ids.push(await start(code));
      await drover.until(
        'all run',
        async () => (await drover.api('GET', '/api/executions?status=running')).body.executions,
        (rows) => rows.filter((r: { started_at: string | null }) => r.started_at).length === live,
      );
      const next = await start(99);
      await drover.killServer();
      writeFileSync(gate, '');
      await drover.until(
        'all have exited',
        async () => drover.pids('read -r code'),
        (pids) => pids.length === 0,
      );
      const began = performance.now();
      await drover.start();
      took.ready.push(performance.now() - began);
      for (const [i, id] of ids.entries()) {
        const { attempts } = await drover.ended(id);
        if (attempts.length !== 1 || attempts[0].exit_code !== i + 1)
          throw new Error(`execution ${id} ended as ${JSON.stringify(attempts)}, its code was ${i + 1}`);
      }
      took.recorded.push(performance.now() - began);
      await drover.ended(next);
      took.runs.push(performance.now() - began);
    }
    const figure = (what: string, of: number[], atMost: number | null): Figure => ({
      what,
      value: median(of) / 1000,
      unit: 's',
      aim: atMost === null ? null : { atMost },
    });
    return [
      figure('ready after kill -9 of the server, 12 agents ended meanwhile', took.ready, 1),
      figure('all 12 true endings recorded', took.recorded, 5),
      figure('what was queued then has run', took.runs, null),
    ];
  } finally {
    await drover.end();
  }
};
