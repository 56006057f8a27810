/**
 * `drover doctor`: this machine, then the server, then the invariants on the live installation. Every check is printed; a
 * problem says what to do and makes it exit 1. A server that is not there is a problem of its own, not a failure of the doctor.
 */

import { join } from 'node:path';
import type { Client } from '../../client/client.ts';
import { ApiError } from '../../client/request.ts';
import type { AgentBody, RunnerBody } from '../../client/wire.ts';
import { holderSocket } from '../../kernel/home-sockets.ts';
import { serverUrl } from '../connection.ts';
import { type Context, printJson } from '../context.ts';
import { type Check, note, ok, problem } from '../doctor/check.ts';
import {
  type AgentCli,
  agentClis,
  askHolder,
  checkCli,
  checkDisk,
  checkGit,
  checkHolder,
  checkHome,
  checkMemory,
  checkNode,
  readMeminfo,
} from '../doctor/machine.ts';
import type { ExitName } from '../exit-codes.ts';
import { CliFailure } from '../failure.ts';
import { age, duration } from '../show/durations.ts';
import { plain } from '../terminal.ts';

export const doctor = async (context: Context): Promise<ExitName> => {
  const config = context.config();
  const server = await lookAtServer(context);
  const holder = await askHolder(holderSocket(config.home));
  const checks: Check[] = [
    checkNode(process.versions.node),
    checkHome(config.home),
    await checkDisk(config.home, config.diskFloorMib),
    checkMemory(readMeminfo(), config.memoryFloorPercent),
    await checkGit(),
    ...(await checkClis(context, config.claudeBin, server.needs)),
    checkHolder(holder, server.running > 0),
    ...server.checks,
  ];
  const problems = checks.filter((c) => c.state === 'problem').length;
  if (context.json) printJson(context, { ok: problems === 0, checks });
  else {
    for (const c of checks) context.terminal.out(line(context, c));
    context.terminal.out(
      problems === 0 ? 'No problem found.\n' : `${problems} ${problems === 1 ? 'problem' : 'problems'}.\n`,
    );
  }
  return problems === 0 ? 'ok' : 'failed';
};

const colours = { ok: 'green', note: 'yellow', problem: 'red' } as const;
const line = (context: Context, c: Check): string =>
  `${context.terminal.paint('out', colours[c.state], c.state.padEnd(8))}${c.name.padEnd(10)} ${plain(c.found)}\n${
    c.todo === null ? '' : `${' '.repeat(8)}${plain(c.todo)}\n`
  }`;

interface Seen {
  checks: Check[];
  /** CLIs that some agent runs without naming a program of its own. */
  needs: Set<AgentCli>;
  running: number;
}

interface Invariants {
  ok: boolean;
  checks: { name: string; ok: boolean; found: string }[];
}

const lookAtServer = async (context: Context): Promise<Seen> => {
  const none: Seen = { checks: [], needs: new Set(), running: 0 };
  try {
    const { api, url } = context.connection();
    const health = await api.health();
    const [{ body }, agents, limits, runners] = await Promise.all([
      api.request<Invariants>('/api/doctor'),
      api.agents(),
      api.limits(),
      api.runners(),
    ]);
    return {
      checks: [
        ok('server', `${url} answers, up for ${duration(health.uptime_s * 1000)}`),
        ...checkRunners(runners, context.now()),
        ...(limits.paused ? [note('fleet', 'paused: nothing new is started', 'drover resume')] : []),
        ...body.checks.map(invariant),
      ],
      needs: await neededClis(api, agents),
      running: limits.running + limits.waiting,
    };
  } catch (e) {
    if (e instanceof ApiError && e.status === 0)
      return { ...none, checks: [problem('server', e.message, 'Start it: npm start (or bin/drover start).')] };
    if (e instanceof CliFailure) return { ...none, checks: [problem('server', e.message, e.hints.join(' '))] };
    if (e instanceof ApiError)
      return {
        ...none,
        checks: [
          problem(
            'server',
            `${serverUrl(context.config())} refuses: ${e.message} (${e.code})`,
            'See the log of the server.',
          ),
        ],
      };
    throw e;
  }
};

const invariant = ({ name, ok: holds, found }: Invariants['checks'][number]): Check =>
  holds
    ? ok('invariant', `${name}: ${found}`)
    : problem(
        'invariant',
        `${name}: ${found}`,
        'This is a bug. Keep DROVER_HOME as it is and report it with this output.',
      );

/** Lists do not name the program. Agents looked at one by one: the first answer is nearly always among these. */
const looked = 20;

const neededClis = async (api: Client, agents: AgentBody[]): Promise<Set<AgentCli>> => {
  const needed = new Set<AgentCli>();
  for (const cli of Object.keys(agentClis) as AgentCli[])
    for (const { name } of agents.filter((a) => a.adapter === cli).slice(0, looked)) {
      if ((await api.agent(name)).executable) continue;
      needed.add(cli);
      break;
    }
  return needed;
};

/** Claude Code always: it is what most come with. The others when an agent needs them. */
const checkClis = (context: Context, claudeBin: string | null, needs: Set<AgentCli>): Promise<Check[]> =>
  Promise.all(
    (Object.keys(agentClis) as AgentCli[])
      .filter((cli) => cli === 'claude' || needs.has(cli))
      .map((cli) =>
        checkCli(
          cli,
          cli === 'claude' ? claudeBin : null,
          join(context.root, 'node_modules', '.bin', cli),
          needs.has(cli),
        ),
      ),
  );

/** The claim poll is held for 25 s at most: one that was silent for four of them is gone. */
const silentMs = 100_000;

type SeenRunner = RunnerBody & { cgroup?: string | null };

const checkRunners = (runners: SeenRunner[], now: number): Check[] => {
  const come = runners.some((r) => r.last_seen !== null && now - Date.parse(r.last_seen) <= silentMs);
  const none = problem(
    'runner',
    'no runner comes for work',
    'Start one: npm start, or drover runner. Nothing runs without.',
  );
  return [...runners.map((r) => checkRunner(r, now)), ...(come ? [] : [none])];
};

const checkRunner = (r: SeenRunner, now: number): Check => {
  // Enrolled and not started yet, here or on its host.
  if (r.last_seen === null) return note('runner', `${r.name} has never come for work`);
  const held =
    r.cgroup === 'none' ? 'no memory cgroup: memory limits are held by watching' : `cgroup ${r.cgroup ?? 'unknown'}`;
  const found = `${r.name}, isolation ${r.isolation ?? 'unknown'}, ${held}, seen ${age(r.last_seen, now)} ago`;
  if (now - Date.parse(r.last_seen) > silentMs)
    return problem(
      'runner',
      found,
      `It does not come for work: see its log. Gone for good? DELETE /api/runners/${r.id}`,
    );
  return r.cgroup === 'none' ? note('runner', found) : ok('runner', found);
};
