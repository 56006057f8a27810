/**
 * `npm run compare`: the same nested and grouped work given to Drover and to two peers on a real PostgreSQL, by turns in one run: which
 * completes, and how often something computed over a cap. The peers' packages are installed beside their scripts the first time.
 * `node bench/compare.ts 4 5`: these lines alone, counted from 0. Speed is not compared: Drover starts a process for each piece, a peer calls a function.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Installation, install, node, root } from '../test/support/installation.ts';
import { startCluster } from './peers/postgres-cluster.ts';
import { counter, type Measured, measure, type Scenario, scenarios, type Tree } from './peers/scenarios.ts';

const peers = join(root, 'bench/peers/postgres');
if (!existsSync(join(peers, 'node_modules')))
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: peers, stdio: ['ignore', 'inherit', 'inherit'] });
const versionOf = (name: string): string =>
  JSON.parse(readFileSync(join(peers, 'node_modules', name, 'package.json'), 'utf8')).version;

const cluster = await startCluster();

const peer = async (script: string, index: number, database: string, ...more: string[]): Promise<Measured> => {
  const child = spawn(node, [join(peers, script), cluster.database(database), String(index), ...more], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (said === '') throw new Error(`${script} ended without a result:\n${complained.slice(-2_000)}`);
  return JSON.parse(said);
};

const agentsOf = (t: Tree): string[] => [t.agent, ...t.calls.flatMap(agentsOf)];
const depthOf = (t: Tree): number => 1 + Math.max(0, ...t.calls.map(depthOf));
/** As test/fixtures/agents/calls-others.mjs reads it. */
const workOf = ({ calls }: Tree): unknown =>
  calls.length === 0 ? 'said' : { to: calls[0]!.agent, message: workOf(calls[0]!), times: calls.length };
const messageOf = (tree: Tree): string => {
  const work = workOf(tree);
  return typeof work === 'string' ? work : JSON.stringify(work);
};

interface Event {
  type: string;
  agent_name: string | null;
  execution_id: string | null;
}
/** Feeds the counter with every event as it comes. */
const watch = async (drover: Installation, count: ReturnType<typeof counter>, signal: AbortSignal): Promise<void> => {
  const headers = { authorization: `Bearer ${drover.token}` };
  const answer = await fetch(`${drover.url}/api/events?after=0`, { headers, signal });
  const computing = new Set<string>();
  const look = ({ type, agent_name, execution_id: id }: Event) => {
    if (id === null || agent_name === null) return;
    if (type === 'execution.claimed' || type === 'execution.resumed') {
      computing.add(id);
      count.enter(agent_name);
    } else if (['execution.waiting', 'execution.settled', 'execution.requeued'].includes(type) && computing.delete(id))
      count.leave(agent_name);
  };
  void (async () => {
    let rest = '';
    for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + part).split('\n');
      rest = lines.pop()!;
      for (const line of lines) if (line.startsWith('data: ')) look(JSON.parse(line.slice(6)));
    }
  })().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
};

const drover = async (index: number): Promise<Measured> => {
  const scenario: Scenario = scenarios[index]!;
  const depth = Math.max(8, ...scenario.trees.map(depthOf));
  const home = await install({
    DROVER_MAX_CALL_DEPTH: String(depth),
    BACKEND_AGENT_CALL_LIMIT: String(scenario.fleet),
  });
  const command = [node, join(root, 'test/fixtures/agents/calls-others.mjs')];
  const gone = new AbortController();
  try {
    for (const name of new Set(scenario.trees.flatMap(agentsOf)))
      await home.api('POST', '/api/agents', { name, adapter: 'command', command, max_parallel_tasks: scenario.agent });
    const count = counter(scenario);
    await watch(home, count, gone.signal);
    return await measure(scenario, count.seen, async (ended) => {
      await Promise.all(
        scenario.trees.map(async (tree) => {
          const { status, body } = await home.api('POST', `/api/agents/${tree.agent}/task`, {
            message: messageOf(tree),
          });
          if (status !== 200) throw new Error(`Drover answered ${status}: ${JSON.stringify(body)}`);
          ended();
        }),
      );
    });
  } finally {
    gone.abort();
    await home.end();
  }
};

const shown = ({ ended, of, stuck, starts, over }: Measured): string =>
  `${stuck ? `**stuck** (${ended} of ${of})` : ended === of ? `${of === 1 ? 'completes' : `all ${of} complete`}` : `${ended} of ${of}`}, ${over} of ${starts} over`;

const print = (line: string) => process.stdout.write(`${line}\n`);
try {
  print(`Node ${process.version}, PostgreSQL ${cluster.version}, ${cpus().length} cores`);
  const [dbos, boss] = [versionOf('@dbos-inc/dbos-sdk'), versionOf('pg-boss')];
  print('');
  print(
    `| work | fleet cap, agent cap | Drover | DBOS ${dbos}, calls queued | DBOS ${dbos}, calls direct | pg-boss ${boss} |`,
  );
  print('|---|---|---|---|---|---|');
  const wanted = process.argv.slice(2).map(Number);
  for (const [i, s] of scenarios.entries()) {
    if (wanted.length > 0 && !wanted.includes(i)) continue;
    const results = [
      await drover(i),
      await peer('dbos.mjs', i, `dbos_queued_${i}`, 'queued'),
      await peer('dbos.mjs', i, `dbos_direct_${i}`, 'direct'),
      await peer('pg-boss.mjs', i, `boss_${i}`),
    ];
    print(`| ${s.name} | ${s.fleet}, ${s.agent} | ${results.map(shown).join(' | ')} |`);
  }
} finally {
  cluster.stop();
}
process.exit(0);
