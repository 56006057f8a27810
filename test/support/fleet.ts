/**
 * The server without a port and without processes: the real store in a home of its own, the real API and dispatch, a clock that
 * the test owns, and a runner that the test plays through the real routes. `end` closes everything and removes the home.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { buildApp } from '../../src/api/app.ts';
import { ensureOwner, ownerTokenPath, runnerKeyPath } from '../../src/api/first-start.ts';
import { type Config, readConfig } from '../../src/config.ts';
import type { AgentRow } from '../../src/contract/agent.ts';
import { isRefusal } from '../../src/contract/errors.ts';
import { emptyFacts, type Facts } from '../../src/contract/facts.ts';
import {
  attemptTokenHeader,
  type BeginAnswer,
  type ClaimAnswer,
  type ClaimedWork,
  type FactsAnswer,
  type RenewAnswer,
  type RunnerRoom,
  runnerProtocol,
  runnerProtocolHeader,
} from '../../src/contract/runner-protocol.ts';
import { type Sweeps, startSweeps } from '../../src/dispatch/sweeps.ts';
import type { Deps } from '../../src/flow/deps.ts';
import { systemRandom, timeOrderedIds } from '../../src/kernel/ids.ts';
import type { Kernel } from '../../src/kernel/kernel.ts';
import { type Log, silentLog } from '../../src/kernel/log.ts';
import { commit } from '../../src/record/commit.ts';
import { workDiff } from '../../src/runner/workspace/diff.ts';
import { joinParts } from '../../src/server/parts.ts';
import { openStore } from '../../src/store/open.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';
import { anAgent } from './rows.ts';

export interface Answer {
  status: number;
  headers: Record<string, string | undefined>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every route; tests look into them
  body: any;
}

export interface Fleet {
  deps: Deps;
  app: FastifyInstance;
  clock: ManualClock;
  owner: string;
  api(method: string, url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  agent(name: string, over?: Partial<AgentRow>): Promise<AgentRow>;
  runner: Runner;
  /** Looks again, each time the store has answered, until `ready`; the test's own timeout bounds it. */
  until<T>(look: () => Promise<T>, ready: (seen: T) => boolean): Promise<T>;
  /** The row as `GET /api/executions/ID` shows it. */
  row(id: string): Promise<Answer['body']>;
  /** A store closed and opened again under the same home: the server came back. */
  end(): Promise<void>;
}

/** What a runner does, step by step, through the routes that runners use. */
interface Runner {
  claim(max?: number): Promise<ClaimedWork[]>;
  poll(body?: Record<string, unknown>): Promise<ClaimAnswer>;
  begin(work: ClaimedWork): Promise<BeginAnswer>;
  renew(works: ClaimedWork[]): Promise<RenewAnswer>;
  log(work: ClaimedWork, entries: object[], firstSeq?: number): Promise<Answer>;
  /** Facts of a command that ended: exit 0 unless told otherwise. */
  finish(work: ClaimedWork, over?: FactsOver): Promise<FactsAnswer['result']>;
  /** Begin and finish. */
  run(work: ClaimedWork, response?: string): Promise<void>;
  request(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
}
type FactsOver = Partial<Omit<Facts, 'stream'>> & { stream?: Partial<Facts['stream']> };

export const room: RunnerRoom = {
  slots: 64,
  memory_total: 64e9,
  memory_available: 60e9,
  disk_total: 900e9,
  disk_available: 800e9,
};

/** `pageDir`: a built page to serve; none by default. */
export const openFleet = async (
  env: Record<string, string> = {},
  log: Log = silentLog,
  pageDir: string | null = null,
): Promise<Fleet> => {
  const home = mkdtempSync(join(tmpdir(), 'drover-api-'));
  const config: Readonly<Config> = readConfig({ DROVER_HOME: home, ...env });
  const clock = manualClock();
  const kernel: Kernel = { clock, log, random: systemRandom, ids: timeOrderedIds(systemRandom) };
  const store = await openStore({ home, log });
  const { deps, feed, dispatcher, couriers, ticker } = await joinParts(config, kernel, store);
  await ensureOwner(deps);
  const app = await buildApp({ ...deps, dispatcher, workDiff, pageDir: pageDir ?? join(home, 'no-page') });
  await app.ready();
  const sweeps: Sweeps = startSweeps(deps, null);
  couriers.start();
  ticker.start();
  const owner = readFileSync(ownerTokenPath(home), 'utf8').trim();
  const runnerKey = readFileSync(runnerKeyPath(home), 'utf8').trim();

  const inject = async (
    token: string,
    method: string,
    url: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Answer> => {
    const answer = await app.inject({
      method: method as 'POST',
      url,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body !== undefined && { payload: body as object }),
    });
    let parsed: unknown = null;
    try {
      parsed = JSON.parse(answer.payload);
    } catch {
      // Not every answer is JSON.
    }
    return {
      status: answer.statusCode,
      headers: answer.headers as Record<string, string>,
      text: answer.payload,
      body: parsed,
    };
  };

  const api: Fleet['api'] = (method, url, body, headers = {}) => inject(owner, method, url, body, headers);
  const until: Fleet['until'] = async (look, ready) => {
    for (;;) {
      const seen = await look();
      if (ready(seen)) return seen;
      // Sockets and timers move only when the loop turns.
      await new Promise((turn) => setImmediate(turn));
    }
  };

  return {
    deps,
    app,
    clock,
    owner,
    api,
    until,
    row: async (id) => (await api('GET', `/api/executions/${id}`)).body,
    agent: async (name, over = {}) => {
      const made = await commit(deps, 'create_agent', {
        agent: anAgent({ id: kernel.ids.next(clock.now()), name, command: ['cat'], ...over }),
      });
      if (isRefusal(made)) throw new Error(made.message);
      return made;
    },
    runner: playedRunner(
      (path, body, headers = {}) =>
        inject(runnerKey, 'POST', `/api/runner${path}`, body, {
          [runnerProtocolHeader]: String(runnerProtocol),
          ...headers,
        }),
      clock,
    ),
    async end() {
      dispatcher.close();
      const closing = app.close();
      await clock.advance(10_000);
      await closing;
      await couriers.stop();
      await ticker.stop();
      const stopped = sweeps.stop();
      await stopped;
      feed.close();
      await store.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
};

const playedRunner = (request: Runner['request'], clock: ManualClock): Runner => {
  const poll: Runner['poll'] = async (body = {}) => {
    const answer = await request('/claim', {
      room,
      host: 'test-host',
      boot_id: 'test-boot',
      version: '0',
      isolation: 'none',
      cgroup: 'none',
      ...body,
    });
    if (answer.status !== 200) throw new Error(`claim: ${answer.status} ${answer.text}`);
    return answer.body as ClaimAnswer;
  };
  const begin: Runner['begin'] = async (work) =>
    (await request(`/attempts/${work.attempt}/begin`, { token: work.token })).body as BeginAnswer;
  const finish: Runner['finish'] = async (work, over = {}) => {
    const base = emptyFacts('command');
    const { stream, ...rest } = over;
    const facts: Facts = {
      ...base,
      exit_code: 0,
      spawned_at: clock.now(),
      ended_at: clock.now(),
      run_ms: 0,
      waiting_ms: 0,
      timeout_s: work.timeout_s,
      pid: 4711,
      host: 'test-host',
      isolation: 'none',
      ...rest,
      stream: { ...base.stream, response: 'done', ...stream },
    };
    const answer = await request(`/attempts/${work.attempt}/facts`, { token: work.token, facts });
    if (answer.status !== 200) throw new Error(`facts: ${answer.status} ${answer.text}`);
    return (answer.body as FactsAnswer).result;
  };
  return {
    request,
    poll,
    begin,
    finish,
    claim: async (max = 8) => (await poll({ max })).claims,
    renew: async (works) =>
      (
        await request('/renew', {
          room,
          attempts: works.map((w) => ({
            attempt: w.attempt,
            token: w.token,
            proof: { pid: 4711, start_time: 1, boot_id: 'test-boot' },
            started_at: clock.now(),
            cpu_ms: 1,
            rss_bytes: 1,
          })),
        })
      ).body as RenewAnswer,
    log: (work, entries, firstSeq = 1) =>
      request(
        `/attempts/${work.attempt}/events?first_seq=${firstSeq}`,
        entries.map((e) => `${JSON.stringify(e)}\n`).join(''),
        { 'content-type': 'application/x-ndjson', [attemptTokenHeader]: work.token },
      ),
    run: async (work, response = 'done') => {
      const { go } = await begin(work);
      if (!go) throw new Error('begin was refused');
      await finish(work, { stream: { response } });
    },
  };
};

/** Facts of a run that the kernel killed at its limit of memory. */
export const outOfMemory = {
  exit_code: null,
  signal: 'SIGKILL',
  memory: {
    held_by: 'cgroup_v2' as const,
    limit_bytes: 384 * 1024 ** 2,
    peak_bytes: 384 * 1024 ** 2,
    oom_kills_before: 0,
    oom_kills_after: 1,
    oom_group_kills: null,
    host_oom_kills_before: null,
    host_oom_kills_after: null,
  },
};

/** A log entry as a runner sends it. */
export const output = (text: string, at = 0) => ({ at, stream: 'stdout', event: null, text });
export const event = (value: Record<string, unknown>, at = 0) => ({ at, stream: 'stdout', event: value, text: null });
