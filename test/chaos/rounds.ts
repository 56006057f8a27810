/**
 * Rounds of real kill -9 on a whole installation: work is submitted, then server, runner, holder, agents, two of them or all are
 * killed at a random instant, and what a supervisor would start is started again. After each round every accepted execution has
 * ended once, with a cause that the agents' own journal bears out; at no time did more processes live than the caps allow; and
 * nothing is left: no process, no cgroup.
 */
import { existsSync, truncateSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { chanceOf } from '../sim/chance.ts';
import { type Installation, install } from '../support/installation.ts';
import { leavesUnder, placeOf } from '../support/leaves.ts';
import { lives, readJournal } from './journal.ts';
import { type Ended, untrue } from './truth.ts';

const parts = ['server', 'runner', 'holder', 'agents'] as const;
export type Part = (typeof parts)[number];

const fleetCap = 4;
const agentCaps: Record<string, number> = { ada: 2, bob: 3 };
const perRound = 6;

interface Report {
  rounds: number;
  killed: Record<string, number>;
  causes: Record<string, number>;
  executions: number;
  mostAlive: number;
  longestMs: number;
  problems: string[];
}

/** One, two or all of them; each kind of target as often as the others. */
const targetsOf = (below: (n: number) => number): Part[] => {
  const kind = below(6);
  if (kind < 4) return [parts[kind]!];
  if (kind === 5) return [...parts];
  const first = below(4);
  return [parts[first]!, parts[(first + 1 + below(3)) % 4]!];
};

export const chaos = async (
  o: { rounds: number; seed: number },
  say: (line: string) => void = () => {},
): Promise<Report> => {
  const { below } = chanceOf(o.seed);
  const drover = await install({ BACKEND_AGENT_CALL_LIMIT: String(fleetCap) });
  const report: Report = { rounds: 0, killed: {}, causes: {}, executions: 0, mostAlive: 0, longestMs: 0, problems: [] };
  try {
    const journal = join(drover.home, 'journal');
    for (const [name, cap] of Object.entries(agentCaps))
      await drover.api('POST', '/api/agents', {
        name,
        adapter: 'command',
        command: ['sh', resolve(import.meta.dirname, 'agent.sh'), journal],
        max_parallel_tasks: cap,
        resources: { memory: '64m' },
      });
    for (let n = 0; n < o.rounds && report.problems.length < 5; n++) {
      const began = performance.now();
      const targets = targetsOf(below);
      const found = await round(drover, journal, n, targets, below, report);
      const name = targets.length === parts.length ? 'all' : targets.join(' and ');
      report.rounds++;
      report.killed[name] = (report.killed[name] ?? 0) + 1;
      report.longestMs = Math.max(report.longestMs, Math.round(performance.now() - began));
      report.problems.push(...found.map((p) => `round ${n} (${name}): ${p}`));
      if (n % 10 === 9 || found.length > 0)
        say(`${n + 1} rounds, ${report.executions} executions${found.map((p) => `\n  ${p}`).join('')}`);
      if (existsSync(journal)) truncateSync(journal);
    }
    return report;
  } finally {
    await drover.end();
  }
};

const round = async (
  drover: Installation,
  journal: string,
  n: number,
  targets: Part[],
  below: (n: number) => number,
  report: Report,
): Promise<string[]> => {
  const problems = new Set<string>();
  const shot = new Set<number>();
  const tasks = Array.from({ length: perRound }, (_, i) => ({
    key: `${n}-${i}`,
    agent: Object.keys(agentCaps)[below(2)]!,
    // Long enough to be alive at the kill, some; over before, others.
    message: `${n}-${i} ${(below(60) / 100).toFixed(2)} ${[0, 0, 3][below(3)]} ${below(4) === 0 ? 'leaves' : 'alone'}`,
  }));
  let watching = true;
  const watch = (async () => {
    while (watching) {
      const alive = [...readJournal(journal)].filter(([, ran]) => ran.pids.some(lives)).map(([id]) => id);
      report.mostAlive = Math.max(report.mostAlive, alive.length);
      if (alive.length > fleetCap) problems.add(`${alive.length} agents live at once, the fleet's cap is ${fleetCap}`);
      for (const [name, cap] of Object.entries(agentCaps)) {
        const own = alive.filter((id) => tasks.some((t) => t.key === id && t.agent === name)).length;
        if (own > cap) problems.add(`${own} of ${name} live at once, its cap is ${cap}`);
      }
      await new Promise((r) => setTimeout(r, 15));
    }
  })();
  const waiting = tasks.map((t) => accepted(drover, t));
  await new Promise((r) => setTimeout(r, below(700)));
  for (const part of targets)
    if (
      (await kill(drover, part, journal, shot, targets.length === 1)) === 0 &&
      (part === 'runner' || part === 'holder') &&
      targets.length === 1
    )
      problems.add(`no ${part} was there to be killed`);
  if (targets.includes('server')) {
    await new Promise((r) => setTimeout(r, below(300)));
    await drover.start();
  }
  const ids = await Promise.all(waiting);
  const ended: Ended[] = [];
  for (const [i, id] of ids.entries()) ended.push({ key: tasks[i]!.key, ...(await drover.ended(id)) });
  watching = false;
  await watch;
  const ran = readJournal(journal);
  report.executions += ended.length;
  for (const e of ended) {
    report.causes[e.cause] = (report.causes[e.cause] ?? 0) + 1;
    const wrong = untrue(e, ran.get(e.key) ?? null, { shot, targets });
    if (wrong !== null) problems.add(`${e.id} (${e.key}): ${wrong}`);
  }
  const again = await drover.until(
    'all are listed',
    async () => (await drover.api('GET', `/api/executions?limit=${perRound}`)).body,
    (b) => b !== null,
  );
  const listed: { id: string; status: string; cause: string | null }[] = again.executions ?? again.items ?? [];
  for (const e of ended) {
    const now = listed.find((l) => l.id === e.id);
    if (now && now.cause !== e.cause) problems.add(`${e.id} ended as ${e.cause} and is now ${now.cause}`);
  }
  for (const left of await leftOvers(drover)) problems.add(left);
  return [...problems];
};

/** Sends again with the same key until it is accepted, as a client does. */
const accepted = async (drover: Installation, t: { key: string; agent: string; message: string }): Promise<string> =>
  drover.until(
    `${t.key} is accepted`,
    async () => {
      const body = { message: t.message, async_mode: true };
      const a = await drover
        .api('POST', `/api/agents/${t.agent}/task`, body, { 'idempotency-key': `chaos-${t.key}` })
        .catch(() => null);
      return a?.status === 202 ? (a.body.execution_id as string) : '';
    },
    (id) => id !== '',
  );

const pause = (ms: number) => new Promise((r) => setTimeout(r, ms));

const kill = async (
  drover: Installation,
  part: Part,
  journal: string,
  shot: Set<number>,
  patient: boolean,
): Promise<number> => {
  if (part === 'server') {
    await drover.killServer();
    return 1;
  }
  const own = () => drover.pids(`/${part}.js`);
  // A holder that was shot in the round before comes back with the first order, a runner after its back-off.
  if (part !== 'agents' && patient) for (let tries = 0; tries < 400 && own().length === 0; tries++) await pause(25);
  const pids = part === 'agents' ? [...readJournal(journal).values()].flatMap((r) => r.pids.filter(lives)) : own();
  for (const pid of pids)
    try {
      process.kill(pid, 'SIGKILL');
      shot.add(pid);
    } catch {
      // It had ended by itself.
    }
  return pids.length;
};

/** Teardown and the end of a run's cgroup come before its facts; the last of a killed runner's are swept by the next one. */
const leftOvers = async (drover: Installation): Promise<string[]> => {
  const look = async () => {
    const processes = [...drover.pids('agent.sh'), ...drover.pids('sleep')].map((pid) => `process ${pid} is left`);
    return [...processes, ...leavesUnder(placeOf(), drover.home).map((dir) => `cgroup ${dir} is left`)];
  };
  for (let tries = 0; tries < 80; tries++) {
    if ((await look()).length === 0) return [];
    await new Promise((r) => setTimeout(r, 250));
  }
  return look();
};
