/** A simulated installation, and what one step does to it: two hosts (the first is the server's own), people, one server. */

import type { EventRow } from '../../src/contract/events.ts';
import { fleetSettings } from '../../src/contract/limits.ts';
import type { Log } from '../../src/kernel/log.ts';
import { commit } from '../../src/record/commit.ts';
import { anAgent } from '../support/rows.ts';
import { type Callers, createCallers } from './callers.ts';
import { chanceOf } from './chance.ts';
import type { Disk } from './disk.ts';
import { createHost, type Exit, type Host, type Proc } from './host.ts';
import { putLogin } from './logins.ts';
import { createNet, type Net } from './net.ts';
import { type Server, startServer } from './server.ts';
import type { History, Step } from './steps.ts';
import { simTime, type Time } from './time.ts';

export interface World {
  history: History;
  disk: Disk;
  time: Time;
  net: Net;
  hosts: Host[];
  callers: Callers;
  server(): Server | null;
  /** Events as somebody sees them who watches, and comes back after each break with the last id. */
  seen: EventRow[];
  resets: number;
  errors: string[];
  /** The provider is overloaded. */
  badWeather: boolean;
  /** Highest caps so far: lowering one kills nothing. */
  caps: { agents: Map<string, number>; fleet: number };
  startServer(): Promise<void>;
  act(step: Step): Promise<void>;
  settled(): Promise<void>;
}

const names = ['a', 'b', 'c'];

/** Every promise that can go on has: no part of the simulated world waits for anything real. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

export const createWorld = async (
  history: History,
  disk: Disk,
  on: { spawn(proc: Proc): void; answer(proc: Proc): void },
): Promise<World> => {
  disk.empty();
  const time = simTime();
  const chance = chanceOf(history.seed ^ 0x5eed);
  let server: Server | null = null;
  let leave = () => {};
  const errors: string[] = [];
  const log: Log = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    // A full disk is said, and may be said.
    error: (message, fields) => {
      if (disk.mood !== 'full') errors.push(`${message} ${(fields?.error as Error)?.stack ?? ''}`);
    },
    child: () => log,
  };
  const net = createNet(() => server);
  const hosts = ['own', 'far'].map((name) => createHost(name, net, time, on.spawn));
  const callers = createCallers(net, (call) => on.answer(call.proc));
  const live = (): Proc[] => hosts.flatMap((h) => h.procs.filter((p) => p.alive));
  const at = <T>(all: readonly T[], n: number): T | undefined => (all.length === 0 ? undefined : all[n % all.length]);

  const world: World = {
    history,
    disk,
    time,
    net,
    hosts,
    callers,
    server: () => server,
    seen: [],
    resets: 0,
    errors,
    badWeather: false,
    caps: { agents: new Map(history.caps.map((cap, i) => [names[i]!, cap])), fleet: history.fleet },
    settled,
    async startServer() {
      if (server !== null) return;
      disk.mood = 'quick';
      await disk.flush();
      const own = hosts[0]!;
      server = await startServer({
        disk,
        time,
        chance,
        log,
        env: {
          BACKEND_AGENT_CALL_LIMIT: String(history.fleet),
          BACKEND_AGENT_CALL_QUEUE_TIMEOUT_S: String(history.queueTimeoutS),
          DROVER_MAX_CALL_DEPTH: String(history.depth),
        },
        host: {
          name: own.name,
          bootId: own.bootId,
          alive: (proof) => own.procs.some((p) => p.alive && p.pid === proof.pid && p.start_time === proof.start_time),
        },
      });
      leave = server.feed.subscribe(
        world.seen.at(-1)?.id ?? 0,
        (event) => void world.seen.push(event),
        () => void world.resets++,
      );
    },
    act: (step) => act(step),
  };

  const crash = async () => {
    if (server === null) return;
    leave();
    server.crash();
    server = null;
    net.broken();
    await disk.afterDeath(chance);
  };

  /** Changes by a person, without a line that may break. */
  const change = async (run: (s: Server) => Promise<unknown>) => {
    if (server === null || disk.mood !== 'quick') return false;
    await run(server);
    return true;
  };
  const agentId = (n: number) => `agent-${names[n]}`;

  const act = async (s: Step): Promise<void> => {
    const host = 'host' in s ? hosts[s.host]! : null;
    switch (s.do) {
      case 'submit':
        callers.submit(names[s.agent]!, { ...s, session: sessionOf(names[s.agent]!, s.session) });
        break;
      case 'cancel': {
        const id = at(disk.rows<{ id: string }>('select id from executions order by id'), s.who)?.id;
        if (id !== undefined) callers.cancel(id);
        break;
      }
      case 'call': {
        const proc = at(
          live().filter((p) => !p.blocked),
          s.who,
        );
        if (proc)
          callers.call(
            proc,
            s.agents.map((a) => names[a]!),
            { ...s, session: sessionOf(names[s.agents[0]!]!, s.session) },
          );
        break;
      }
      case 'give up': {
        const proc = at(
          live().filter((p) => p.blocked),
          s.who,
        );
        if (proc) callers.giveUp(proc);
        break;
      }
      case 'exit': {
        const proc = at(
          live().filter((p) => !p.blocked || s.how === 'killed'),
          s.who,
        );
        if (proc) host_(proc).exit(proc, endingOf(proc, s.how));
        break;
      }
      case 'deliver':
        for (let i = 0; i < s.times; i++) {
          net.deliver(s.which + i * 7);
          await settled();
        }
        break;
      case 'lose':
        net.lose(s.which);
        break;
      case 'double':
        net.double(s.which);
        break;
      case 'poll':
        host!.poll();
        break;
      case 'renew':
        host!.renew();
        break;
      case 'kill runner':
        host!.killRunner();
        break;
      case 'start runner':
        host!.startRunner();
        break;
      case 'kill holder':
        host!.killHolder();
        break;
      case 'reboot':
        // The server's host takes the server with it.
        if (s.host === 0) await crash();
        host!.reboot();
        break;
      case 'cut':
        net.cut.add(`${host!.name}`);
        break;
      case 'join':
        net.cut.delete(host!.name);
        break;
      case 'crash':
        await crash();
        break;
      case 'start server':
        await world.startServer();
        break;
      case 'slow disk':
        disk.mood = 'slow';
        break;
      case 'full disk':
        await disk.flush();
        disk.mood = 'full';
        break;
      case 'good disk':
        disk.mood = 'quick';
        await disk.flush();
        break;
      case 'flush':
        await disk.flush();
        break;
      case 'pass':
        await time.pass(s.ms, settled);
        break;
      case 'jump':
        time.jump(s.ms);
        break;
      case 'jump and renew':
        time.jump(s.ms);
        host!.renew();
        // There and back, before anything else happens.
        for (let i = 0; i < 2; i++) {
          await settled();
          net.deliver(net.moving() - 1);
        }
        break;
      case 'round': {
        const deliverAll = async () => {
          for (let n = 0; n < 40 && net.moving() > 0; n++) {
            net.deliver(0);
            await settled();
          }
        };
        await deliverAll();
        for (const h of hosts) {
          h.poll();
          h.renew();
        }
        await deliverAll();
        break;
      }
      case 'weather':
        world.badWeather = s.bad;
        break;
      case 'pause provider':
        await change(({ deps }) =>
          commit(deps, 'pause_provider', { provider: 'anthropic', paused: s.on, by: 'person' }),
        );
        break;
      case 'new secret':
        await change((now) => {
          const { logins } = history;
          if (s.which >= logins.length) return Promise.resolve();
          return putLogin(now.deps, s.which, logins[s.which]!, `secret-${time.steady()}`);
        });
        break;
      case 'agent cap': {
        const name = names[s.agent]!;
        if (
          await change(({ deps }) =>
            commit(deps, 'update_agent', { id: agentId(s.agent), patch: { max_parallel_tasks: s.cap } }),
          )
        )
          world.caps.agents.set(name, Math.max(s.cap, world.caps.agents.get(name)!));
        break;
      }
      case 'fleet cap':
        if (
          await change(({ deps }) =>
            commit(deps, 'put_setting', { key: fleetSettings.agentCallLimit, value: String(s.cap) }),
          )
        )
          world.caps.fleet = Math.max(s.cap, world.caps.fleet);
        break;
      case 'pause':
        await change(({ deps }) => commit(deps, 'set_paused', { paused: s.on, by: 'person' }));
        break;
      case 'stop agent':
        await change(({ deps }) =>
          commit(deps, 'update_agent', {
            id: agentId(s.agent),
            patch: { desired_state: s.on ? 'stopped' : 'running' },
          }),
        );
        break;
      default:
        return s satisfies never;
    }
    await settled();
  };
  const sessionOf = (agent: string, n: number | null): string | null =>
    n === null
      ? null
      : (at(
          disk.rows<{ id: string }>(
            `select s.id from sessions s join agents a on a.id = s.agent_id where a.name = '${agent}' order by s.id`,
          ),
          n,
        )?.id ?? null);
  /** A plain command speaks with no provider; a CLI has the weather there is. */
  const endingOf = (proc: Proc, how: Exit): Exit => {
    const speaks = proc.claim.agent.adapter === 'claude';
    if (!speaks) return how === 'overloaded' || how === 'limit' || how === 'rejected' ? 'bad' : how;
    return how === 'good' && world.badWeather ? 'overloaded' : how;
  };
  const host_ = (proc: Proc) => hosts.find((h) => h.name === proc.host)!;

  await world.startServer();
  for (const [i, cap] of history.caps.entries())
    await change(({ deps }) =>
      commit(deps, 'create_agent', {
        agent: anAgent({
          id: agentId(i),
          name: names[i]!,
          max_parallel_tasks: cap,
          adapter: history.clis[i] ? 'claude' : 'command',
        }),
      }),
    );
  for (const [i, most] of history.logins.entries())
    await change(({ deps }) => putLogin(deps, i, most, 'the first secret'));
  for (const h of hosts) h.startRunner();
  await settled();
  return world;
};
