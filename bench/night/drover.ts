/**
 * The night under Drover: its real parts (submit, dispatch, claims, weather, outcome, settle, sweeps) on the real SQLite store,
 * on manual time. Only the host is played: a runner that claims, begins, renews, and delivers each run's facts until they are
 * acknowledged, as the real one does. Its processes belong to a holder, so a server that is killed takes none of them along.
 */
import type { ClaimedWork, RunnerRoom } from '../../src/contract/runner-protocol.ts';
import { begin, renew } from '../../src/flow/begin.ts';
import { finish } from '../../src/flow/finish.ts';
import { submit } from '../../src/flow/submit.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { commit } from '../../src/record/commit.ts';
import { chanceOf } from '../../test/sim/chance.ts';
import { openDisk } from '../../test/sim/disk.ts';
import { type Server, startServer } from '../../test/sim/server.ts';
import { simTime } from '../../test/sim/time.ts';
import { anAgent, aRequest } from '../../test/support/rows.ts';
import { factsOf } from './facts.ts';
import { type Fate, fateOf, type Night, type Outcome, type Work } from './plan.ts';

const stepMs = 5_000;
const runner = 'night-runner';
const GB = 1024 ** 3;

interface Proc {
  claim: ClaimedWork;
  work: Work;
  fate: Fate;
  startedAt: number;
  ended: boolean;
  delivering: boolean;
}

/** What the tests look at besides the figures. */
interface Played extends Outcome {
  violations: string[];
  incidents: { provider: string; state: string; probes: number; failures: number }[];
  credentials: { id: string; state: string }[];
  credentialEvents: { credential_id: string; cause: string }[];
  openItems: string[];
  liveAtRestart: number;
  /** Spawns on a login that Drover knew to be rejected or used up. */
  blindSpawns: number;
}

export const droverNight = async (night: Night): Promise<Played> => {
  const disk = openDisk();
  try {
    return await play(night, disk);
  } finally {
    disk.end();
  }
};

const play = async (night: Night, disk: ReturnType<typeof openDisk>): Promise<Played> => {
  const time = simTime();
  const start = time.now();
  const chance = chanceOf(night.seed + 1);
  const at = () => time.steady() - start;
  const turns = async () => {
    for (let i = 0; i < 3; i++) await new Promise<void>((resolve) => setImmediate(resolve));
  };
  const up = (): Promise<Server> =>
    startServer({
      disk,
      time,
      chance,
      log: silentLog,
      env: { BACKEND_AGENT_CALL_LIMIT: String(night.fleetCap), DROVER_RUNNER_GRACE_S: '900' },
      host: { name: 'night', bootId: 'boot', alive: () => true },
    });
  let server: Server | null = await up();

  for (const a of night.agents)
    await commit(server.deps, 'create_agent', {
      agent: anAgent({
        id: `agent-${a.name}`,
        name: a.name,
        adapter: 'claude',
        pool: a.pool,
        max_parallel_tasks: night.agentCap,
        memory_bytes: a.hungry ? 384 * 1024 * 1024 : null,
      }),
    });
  for (const c of night.credentials)
    await commit(server.deps, 'put_credential', {
      credential: {
        id: c.id,
        name: c.id,
        kind: c.pool === 'plans' ? 'claude_oauth' : 'anthropic_api_key',
        sealed: server.deps.sealer.seal(c.id, `secret-of-${c.id}`),
        max_parallel: null,
        pool: c.pool,
        state: 'unknown',
        until: null,
        last_evidence: null,
        last_used_at: null,
        created_at: start,
      },
    });

  const violations: string[] = [];
  const procs: Proc[] = [];
  /** Execution → its work. */
  const given = new Map<string, Work>();
  const spent = { spawns: 0, wasted: 0, cost: 0, wastedCost: 0, blind: 0 };
  let next = 0;
  let polling = false;
  let restarted = false;
  let liveAtRestart = 0;
  let backAt: number | null = null;
  let renewedAt = 0;

  const diskIsFull = () => at() >= night.diskFull.from && at() < night.diskFull.to;
  const room = (): RunnerRoom => ({
    slots: null,
    memory_total: 64 * GB,
    memory_available: 48 * GB,
    disk_total: 500 * GB,
    disk_available: diskIsFull() ? GB / 10 : 100 * GB,
  });
  const live = () => procs.filter((p) => !p.ended);

  const give = async (work: Work): Promise<boolean> => {
    if (!server) return false;
    const request = aRequest({ agent_name: work.agent, idempotency_key: `work-${work.n}` });
    const principal = { kind: 'user', id: 'owner', name: 'owner', role: 'owner' } as const;
    const answer = await submit(server.deps, request, principal, `work-${work.n}`).catch(() => null);
    if (answer === null || 'refused' in answer) return false;
    given.set(answer.execution.id, work);
    return true;
  };

  const spawn = async (s: Server, claim: ClaimedWork) => {
    const { go } = await begin(s.deps, claim.attempt, claim.token);
    if (!go) return;
    const work = given.get(claim.execution_id)!;
    if (live().some((p) => p.claim.execution_id === claim.execution_id))
      violations.push(`${claim.execution_id} runs twice`);
    if (live().length >= night.fleetCap) violations.push(`more than ${night.fleetCap} run`);
    const credential = claim.credential?.id ?? null;
    const fate = fateOf(night, work, at(), credential);
    procs.push({ claim, work, fate, startedAt: at(), ended: false, delivering: false });
    spent.spawns++;
    const known = disk.rows<{ state: string }>(`select state from credentials where id = '${credential}'`)[0];
    if (known?.state === 'rejected' || (known?.state === 'limited' && fate.how === 'limit')) spent.blind++;
  };

  const poll = (s: Server) => {
    polling = true;
    s.dispatcher
      .claim(
        runner,
        {
          room: room(),
          labels: [],
          host: 'night',
          boot_id: 'boot',
          version: '0',
          isolation: 'none',
          cgroup: 'v2',
          max: 16,
          wait_ms: 25_000,
          stopping: [],
          holds: null,
        },
        new AbortController().signal,
      )
      .then(async ({ claims }) => {
        for (const claim of claims) await spawn(s, claim);
      })
      // A full disk: the claim is made again.
      .catch(() => {})
      .finally(() => {
        if (server === s) polling = false;
      });
  };

  const deliver = (s: Server, p: Proc) => {
    p.delivering = true;
    const about = {
      session: `session-${p.claim.execution_id}`,
      spawned_at: start + p.startedAt,
      ended_at: start + p.startedAt + p.fate.ranMs,
      night_start: start,
      timeout_s: p.claim.timeout_s,
      by_key: p.claim.credential?.kind === 'anthropic_api_key',
    };
    finish(s.deps, p.claim.attempt, { token: p.claim.token, facts: factsOf(p.fate, about) })
      .then(({ result }) => {
        if (result === 'lost') violations.push(`the facts of ${p.claim.execution_id} are nobody's`);
        procs.splice(procs.indexOf(p), 1);
        spent.cost += p.fate.cost;
        if (p.fate.how === 'good') return;
        spent.wasted++;
        spent.wastedCost += p.fate.cost;
      })
      // Not stored: the facts are on the runner's disk, and come again.
      .catch(() => {
        p.delivering = false;
      });
  };

  while (at() < night.length) {
    disk.mood =
      diskIsFull() && at() >= night.diskFull.from + 60_000 && at() < night.diskFull.from + 180_000 ? 'full' : 'quick';
    if (backAt !== null && at() >= backAt) {
      server = await up();
      backAt = null;
    }
    while (next < night.works.length && night.works[next]!.at <= at()) {
      if (!(await give(night.works[next]!))) break;
      next++;
    }
    for (const p of live()) if (at() >= p.startedAt + p.fate.ranMs) p.ended = true;
    if (server && !restarted && at() >= night.restart.after && live().length >= night.restart.live) {
      restarted = true;
      liveAtRestart = live().length;
      server.crash();
      server = null;
      polling = false;
      backAt = at() + night.restart.downMs;
      // What it was just told is told to nobody.
      for (const p of procs) p.delivering = false;
    }
    if (server) {
      for (const p of procs) if (p.ended && !p.delivering) deliver(server, p);
      if (!polling) poll(server);
      if (at() - renewedAt >= 10_000 && procs.length > 0) {
        renewedAt = at();
        const attempts = procs.map(({ claim, startedAt, fate, ended }) => ({
          attempt: claim.attempt,
          token: claim.token,
          proof: { pid: 4711, start_time: 1, boot_id: 'boot' },
          started_at: start + startedAt,
          cpu_ms: null,
          rss_bytes: null,
          // The model's first words come within seconds, of a run that gets that far.
          ...(!ended && fate.cost > 0 && at() - startedAt > 15_000 && { model_spoke: true }),
        }));
        await renew(server.deps, runner, { attempts, room: room() }).catch(() => {});
      }
    }
    await turns();
    await time.pass(stepMs, turns);
  }
  disk.mood = 'quick';
  await turns();

  const count = (sql: string): number => Number(disk.rows<{ n: number }>(`select count(*) as n from ${sql}`)[0]!.n);
  const rows = count('executions');
  if (rows !== given.size || given.size !== next) violations.push(`${next} given, ${rows} rows`);
  const good = count("executions where status = 'success'");
  const ended = disk.rows<{ cause: string; n: number }>(
    "select cause, count(*) as n from executions where status = 'failed' group by cause order by cause",
  );
  const failed = ended.reduce((sum, e) => sum + Number(e.n), 0);
  const lastGood = disk.rows<{ at: number | null }>(
    "select max(completed_at) as at from executions where status = 'success'",
  )[0]!.at;
  const result: Played = {
    policy: 'Drover',
    submitted: night.works.length,
    good,
    failed,
    left: night.works.length - good - failed,
    spawns: spent.spawns,
    wastedSpawns: spent.wasted,
    cost: spent.cost,
    wastedCost: spent.wastedCost,
    items: count('operator_items'),
    lastGoodAt: lastGood === null ? 0 : lastGood - start,
    byCause: Object.fromEntries(ended.map((e) => [e.cause, Number(e.n)])),
    violations,
    incidents: disk.rows(
      `select provider, state,
        (select count(*) from incident_probes p where p.incident_id = i.id) as probes,
        (select count(*) from weather_failures f where f.incident_id = i.id) as failures
       from incidents i order by id`,
    ),
    credentials: disk.rows('select id, state from credentials order by id'),
    credentialEvents: disk.rows('select credential_id, cause from credential_events order by id'),
    openItems: disk.rows<{ title: string }>('select title from operator_items order by id').map((i) => i.title),
    liveAtRestart,
    blindSpawns: spent.blind,
  };
  server?.crash();
  return result;
};
