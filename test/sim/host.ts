/**
 * A simulated host: its runner, its holder and the agents' processes, as scripts that keep the order of the real ones (spool
 * before question, question before spawn, exit record before news, facts on disk before they are sent). What it says of living
 * processes is the truth that the rows are held against.
 */

import { factsOf as toldFacts } from '../../bench/night/facts.ts';
import { emptyFacts, type Facts } from '../../src/contract/facts.ts';
import type { BeginAnswer, ClaimedWork, RunnerRoom } from '../../src/contract/runner-protocol.ts';
import type { Stop } from '../../src/contract/stop-reasons.ts';
import { begin, renew } from '../../src/flow/begin.ts';
import { finish } from '../../src/flow/finish.ts';
import type { Net } from './net.ts';
import type { Time } from './time.ts';

/** The last three only by a CLI that speaks with a provider. */
export type Exit = 'good' | 'bad' | 'killed' | 'unreachable' | 'overloaded' | 'limit' | 'rejected';

/** A used-up plan is good again after this. */
const resetMs = 300_000;

export interface Proc {
  claim: ClaimedWork;
  host: string;
  pid: number;
  start_time: number;
  boot_id: string;
  started_at: number;
  alive: boolean;
  /** Its holder still lives: the ending will be known. */
  held: boolean;
  exit: { how: Exit; at: number } | null;
  stop: Stop | null;
  /** Blocked in a call to another agent. */
  blocked: boolean;
  /** It went on without its answer: then it may be over the cap, rightly. */
  gaveUp: boolean;
  /** Steady ms at which the newest renewal that was granted had been asked for. */
  renewedAt: number | null;
  /** Its last call was refused; a cancelled one is told so before its stop arrives. */
  refused: boolean;
}

interface Spooled {
  claim: ClaimedWork;
  phase: 'claimed' | 'begun' | 'spawned';
  facts: Facts | null;
  delivered: string | null;
}

export interface Host {
  name: string;
  bootId: string;
  procs: Proc[];
  spool: Map<string, Spooled>;
  runnerLives(): boolean;
  startRunner(): void;
  killRunner(): void;
  killHolder(): void;
  reboot(): void;
  poll(): void;
  renew(): void;
  exit(proc: Proc, how: Exit): void;
}

const room: RunnerRoom = {
  slots: null,
  memory_total: 2 ** 40,
  memory_available: 2 ** 40,
  disk_total: 2 ** 44,
  disk_available: 2 ** 44,
};

const told: ReadonlySet<Exit> = new Set(['good', 'overloaded', 'limit', 'rejected']);

interface Runner {
  alive: boolean;
  polling: boolean;
  renewing: boolean;
  known: Set<string>;
}

export const createHost = (name: string, net: Net, time: Time, onSpawn: (proc: Proc) => void): Host => {
  let runner: Runner | null = null;
  let lives = 0;
  let boots = 0;
  let pids = 0;

  /** Asks until there is an answer; null when this life of the runner is over. */
  const ask = async <T>(r: Runner, about: string, question: Parameters<typeof net.send<T>>[2]): Promise<T | null> => {
    for (;;) {
      try {
        const answer = await net.send(from(), about, question);
        return r.alive ? answer : null;
      } catch {
        // Lost, or a server that could not store it: asked again, as the real one does.
        if (!r.alive) return null;
      }
    }
  };
  const from = () => `${name}/${lives}`;

  const factsOf = (p: Proc): Facts => {
    const how = p.held ? (p.exit?.how ?? null) : null;
    if (how !== null && p.claim.agent.adapter === 'claude' && told.has(how))
      return {
        ...toldFacts(
          { how: how as 'good', cost: 1, ranMs: 1, resetAt: resetMs },
          {
            session: `of-${p.claim.execution_id}`,
            spawned_at: p.started_at,
            ended_at: p.exit!.at,
            night_start: p.exit!.at,
            timeout_s: p.claim.timeout_s,
            by_key: true,
          },
        ),
        host: name,
        stop: p.stop,
        pid: p.pid,
      };
    const base = { ...emptyFacts('command'), host: name, isolation: 'none' as const, timeout_s: p.claim.timeout_s };
    if (how === 'unreachable')
      return {
        ...base,
        ...emptyFacts('http'),
        http: {
          accepted: false,
          status: null,
          error_code: null,
          message: null,
          termination_reason: null,
          connect_error: 'ECONNREFUSED',
        },
      };
    return {
      ...base,
      exit_code: how === 'good' ? 0 : how === 'bad' ? 1 : null,
      signal: how === 'killed' ? 'SIGKILL' : null,
      stop: p.stop,
      spawned_at: p.started_at,
      ended_at: how === null ? null : p.exit!.at,
      pid: p.pid,
      stream: { ...base.stream, response: how === 'good' ? 'done' : null, cost_usd: 1 },
    };
  };

  const deliver = async (r: Runner, s: Spooled) => {
    const done = await ask(r, 'facts', (server) =>
      finish(server.deps, s.claim.attempt, { token: s.claim.token, facts: s.facts! }),
    );
    if (done !== null) s.delivered = done.result;
  };
  const conclude = async (r: Runner, s: Spooled, facts: Facts) => {
    s.facts = facts;
    await deliver(r, s);
  };

  const procOf = (attempt: string) => host.procs.find((p) => p.claim.attempt === attempt);

  const work = async (r: Runner, claim: ClaimedWork) => {
    // An answer that came twice: the first one is being worked on.
    if (host.spool.has(claim.attempt)) return;
    const s: Spooled = { claim, phase: 'claimed', facts: null, delivered: null };
    host.spool.set(claim.attempt, s);
    r.known.add(claim.attempt);
    await net.local(from(), 'prepare');
    if (!r.alive) return;
    s.phase = 'begun';
    let asked: number;
    let gate: BeginAnswer | null;
    do {
      // A go that is older than the lease is asked for again.
      asked = time.steady();
      gate = await ask(r, 'begin', (server) => begin(server.deps, claim.attempt, claim.token));
      if (gate === null) return;
      await net.local(from(), 'spawn');
      if (!r.alive) return;
    } while (gate.go && time.steady() - asked >= claim.lease_ms);
    if (!gate.go && gate.why === 'cancelled')
      return conclude(r, s, {
        ...emptyFacts('command'),
        stop: { reason: 'cancel', at: time.now(), detail: 'before the process was started' },
      });
    if (!gate.go) return void host.spool.delete(claim.attempt);
    const proc: Proc = {
      claim,
      host: name,
      pid: ++pids,
      start_time: time.steady(),
      boot_id: host.bootId,
      started_at: time.now(),
      alive: true,
      held: true,
      exit: null,
      stop: null,
      blocked: false,
      gaveUp: false,
      renewedAt: null,
      refused: false,
    };
    host.procs.push(proc);
    onSpawn(proc);
    await net.local(from(), 'note the spawn');
    if (!r.alive) return;
    s.phase = 'spawned';
    await follow(r, s, proc);
  };

  /** Wakes when the process has ended. */
  const endings = new Map<Proc, () => void>();
  const follow = async (r: Runner, s: Spooled, proc: Proc) => {
    if (proc.alive) await new Promise<void>((resolve) => endings.set(proc, resolve));
    await net.local(from(), 'conclude');
    if (r.alive) await conclude(r, s, factsOf(proc));
  };

  const recover = async (r: Runner) => {
    for (const s of [...host.spool.values()]) {
      const { attempt } = s.claim;
      const proc = procOf(attempt);
      if (s.delivered !== null) continue;
      if (s.facts === null && s.phase === 'claimed') {
        host.spool.delete(attempt);
        continue;
      }
      r.known.add(attempt);
      if (s.facts !== null) void deliver(r, s);
      else if (proc) void follow(r, s, proc);
      else
        void conclude(r, s, {
          ...emptyFacts('command'),
          prepare_error: { code: 'runner_restarted', message: 'nothing ran' },
        });
    }
  };

  const stop = (attempt: string, reason: Stop['reason']) => {
    const proc = procOf(attempt);
    if (!proc?.alive || proc.stop !== null) return;
    proc.stop = { reason, at: time.now(), detail: null };
    void net.local(`${name}/signals`, 'stop').then(() => host.exit(proc, 'killed'));
  };

  const host: Host = {
    name,
    bootId: `${name}-boot-0`,
    procs: [],
    spool: new Map(),
    runnerLives: () => runner !== null,
    startRunner() {
      if (runner !== null) return;
      lives++;
      runner = { alive: true, polling: false, renewing: false, known: new Set() };
      void recover(runner);
    },
    killRunner() {
      if (runner === null) return;
      runner.alive = false;
      runner = null;
      net.forget(from());
      endings.clear();
    },
    killHolder() {
      for (const p of host.procs) if (p.alive) p.held = false;
    },
    reboot() {
      host.killRunner();
      host.killHolder();
      for (const p of host.procs) if (p.alive) host.exit(p, 'killed');
      host.bootId = `${name}-boot-${++boots}`;
    },
    exit(proc, how) {
      if (!proc.alive) return;
      proc.alive = false;
      proc.exit = { how, at: time.now() };
      endings.get(proc)?.();
      endings.delete(proc);
    },
    poll() {
      const r = runner;
      if (r === null || r.polling) return;
      r.polling = true;
      const request = {
        room,
        labels: [],
        host: name,
        boot_id: host.bootId,
        version: '0',
        isolation: 'none' as const,
        cgroup: 'none' as const,
        max: 4,
        wait_ms: 25_000,
        stopping: host.procs.filter((p) => p.alive && p.stop !== null).map((p) => p.claim.attempt),
        holds: [...r.known],
      };
      void net
        .send(from(), 'claim', (server, signal) => server.dispatcher.claim(name, request, signal))
        .then(
          (answer) => {
            r.polling = false;
            if (!r.alive) return;
            for (const s of answer.stops) stop(s.attempt, s.reason);
            for (const c of answer.claims) void work(r, c);
          },
          () => {
            r.polling = false;
          },
        );
    },
    renew() {
      const r = runner;
      if (r === null || r.renewing) return;
      const attempts = [...host.spool.values()].flatMap((s) => {
        if (s.facts !== null || !r.known.has(s.claim.attempt)) return [];
        const p = procOf(s.claim.attempt);
        const proof = p ? { pid: p.pid, start_time: p.start_time, boot_id: p.boot_id } : null;
        const { attempt, token } = s.claim;
        return [{ attempt, token, proof, started_at: p?.started_at ?? null, cpu_ms: null, rss_bytes: null }];
      });
      if (attempts.length === 0) return;
      r.renewing = true;
      const asked = time.steady();
      void net
        .send(from(), 'renew', (server) => renew(server.deps, name, { attempts, room }))
        .then(
          ({ results }) => {
            r.renewing = false;
            if (!r.alive) return;
            for (const a of results) {
              const proc = procOf(a.attempt);
              if (proc && a.state !== 'lost') proc.renewedAt = asked;
              if (a.state === 'stop') stop(a.attempt, a.reason);
              if (a.state === 'lost') stop(a.attempt, 'shutdown');
            }
          },
          () => {
            r.renewing = false;
          },
        );
    },
  };
  return host;
};
