/**
 * The runner: builds its parts, takes the place of the runner before it, picks up what that one left, then claims. It holds
 * no agent itself (the holder does), so it may be stopped, killed and replaced at any moment.
 */
import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { limits } from '../contract/limits.ts';
import { version } from '../contract/version.ts';
import { createReader } from '../evidence/create.ts';
import { runnerSocket } from '../kernel/home-sockets.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { AdapterHost } from './adapters/adapter.ts';
import { afterResultMs } from './background.ts';
import { createBallast } from './ballast.ts';
import { startClaims } from './claims.ts';
import { sayGoodbye } from './goodbye.ts';
import { type AgentUser, agentUser, giveToAgent } from './launchers/agent-user.ts';
import { createProcessLauncher } from './launchers/process-launcher.ts';
import { bootId } from './launchers/proof.ts';
import type { RunnerParts } from './parts.ts';
import { recover } from './recover.ts';
import { startRenewals } from './renewals.ts';
import { createRoster } from './roster.ts';
import { connectServer } from './server-client.ts';
import type { StallMs } from './silence.ts';
import { becomeSingle } from './single.ts';
import { openSpool } from './spool.ts';
import { createWork } from './work.ts';
import { pruneCopies } from './workspace/prune-copies.ts';
import { pruneRefs } from './workspace/prune-refs.ts';
import { createWorkspaces } from './workspace/workspaces.ts';

export interface RunnerOptions {
  kernel: Kernel;
  /** DROVER_HOME. */
  home: string;
  serverUrl: string;
  /** Read for each request: a key may be replaced while agents run. */
  token: () => string;
  /** Places for live processes; null = as many as the fleet limit and the depth of calls ask for. */
  slots: number | null;
  agentUser: string | null;
  /** Kept trees go after so many days. */
  retentionDays: number;
  claudeBin: string | null;
  packaged: AdapterHost['packaged'];
  /** The environment of this process, from which adapters let an allow-list pass. */
  env: Readonly<Record<string, string | undefined>>;
  logBytes?: number;
  afterResultMs?: number;
  stallMs?: StallMs;
  stopStepMs?: number;
  renewMs?: number;
  holderEntry?: string;
  /** Null: as on a host without writable cgroups (tests). */
  cgroup?: null;
}

export interface Runner {
  /** Stops claiming, delivers for a moment what is ready, lets go of the agents. */
  stop(): Promise<void>;
  /** Resolves when another runner has taken over and this one has stopped. */
  retired: Promise<void>;
}

/** How long a runner that is stopped goes on delivering endings that are ready; the next one sends the rest. */
const flushMs = 3_000;
const dayMs = 86_400_000;

export const startRunner = async (o: RunnerOptions): Promise<Runner> => {
  const { kernel, home } = o;
  const { log, clock } = kernel;
  const socket = runnerSocket(home);
  for (const dir of [join(home, 'runner'), dirname(socket)]) mkdirSync(dir, { recursive: true, mode: 0o700 });

  const { promise: retired, resolve: hasRetired } = Promise.withResolvers<void>();
  // Asked before all of it stands: it is finished first, then left.
  let asked = false;
  let retire = () => {
    asked = true;
  };
  const single = await becomeSingle(socket, kernel, () => retire());
  if (single === null) {
    log.info('another runner, started later, has this DROVER_HOME; this one leaves');
    return { stop: async () => {}, retired: Promise.resolve() };
  }
  const launcher = await createProcessLauncher({
    kernel,
    home,
    agentUser: o.agentUser,
    ...(o.stopStepMs === undefined ? {} : { stopStepMs: o.stopStepMs }),
    ...(o.holderEntry === undefined ? {} : { holderEntry: o.holderEntry }),
    ...(o.cgroup === null ? { cgroup: null } : {}),
  });
  const leaving = new AbortController();
  const server = connectServer(o.serverUrl, o.token);
  const ballast = createBallast(join(home, 'runner', 'ballast'), log);
  await ballast.lay();
  const roster = createRoster(() => claims?.roomChanged());
  const atWork = (execution: string) => roster.executions().includes(execution);
  const workspaces = createWorkspaces(home, atWork);
  const parts: RunnerParts = {
    kernel,
    launcher,
    workspaces,
    server,
    spool: await openSpool(join(home, 'runner', 'attempts'), ballast, log),
    ballast,
    readerFor: createReader,
    adapterHost: adapterHost(o, agentUser(o.agentUser), () => launcher.isolation),
    hostName: hostname(),
    leaving: leaving.signal,
    renewed: () => renewals.now(),
    live: roster.live,
    logBytes: o.logBytes ?? limits.logBytes,
    afterResultMs: o.afterResultMs ?? afterResultMs,
    ...(o.stallMs === undefined ? {} : { stallMs: o.stallMs }),
  };
  const work = createWork(parts, roster, () => renewals.soon());
  const renewals = startRenewals({
    roster,
    server,
    kernel,
    home,
    slots: o.slots,
    everyMs: o.renewMs ?? limits.renewMs,
    leaving: leaving.signal,
    onRound: () => {
      if (!single.isMine()) retire();
      // What could not be removed yet: a process that is dying holds its cgroup a moment longer.
      else launcher.sweep(roster.has);
    },
  });
  let claims: ReturnType<typeof startClaims> | null = null;

  let replaced = false;
  let stopped: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    stopped ??= (async () => {
      await claims?.stop();
      // A next one stands ready and delivers what is on disk at once, perhaps to a server that this one does not know.
      if (!replaced) await Promise.race([roster.untilDelivered(), clock.sleep(flushMs)]);
      renewals.stop();
      leaving.abort(new Error('the runner leaves'));
      await work.idle();
      await sayGoodbye(parts).catch((error) => log.warn('claims were not given back', { error }));
      // A holder without agents has nothing to keep: nothing is left behind, and the next start has its own version.
      if (!replaced)
        await launcher.retireHolder().catch((error) => log.warn('the holder was not asked to leave', { error }));
      launcher.close();
      await server.close();
      single.release();
      log.info('the runner has left', { agents_with_the_holder: roster.live() });
    })();
    return stopped;
  };

  retire = () => {
    replaced = true;
    void stop().then(hasRetired);
  };
  if (asked) retire();

  const found = await recover(parts, work);
  launcher.sweep(roster.has);
  const kept = await workspaces.prune(new Set(roster.executions()));
  const pruneDaily = async (): Promise<void> => {
    while (!leaving.signal.aborted) {
      const refs = await pruneRefs(home, clock.now(), o.retentionDays, log);
      const copies = await pruneCopies(home, clock.now() - o.retentionDays * dayMs, atWork);
      if (refs + copies > 0) log.info('old kept trees are gone', { refs, copies, days: o.retentionDays });
      await clock.sleep(dayMs, leaving.signal).catch(() => {});
    }
  };
  void pruneDaily().catch((error) => log.warn('old kept trees stay', { error }));
  log.info('the runner is up', { slots: o.slots, cgroup: launcher.cgroup, ...found, workspaces_kept: kept.length });
  if (roster.size() > 0) renewals.soon();
  if (stopped === null)
    claims = startClaims({
      roster,
      server,
      kernel,
      home,
      slots: o.slots,
      host: () => ({
        host: hostname(),
        boot_id: bootId(),
        version,
        isolation: launcher.isolation,
        cgroup: launcher.cgroup,
        labels: [],
      }),
      begin: work.begin,
    });
  return { stop, retired };
};

const adapterHost = (
  o: RunnerOptions,
  user: AgentUser | null,
  isolation: () => AdapterHost['isolation'],
): AdapterHost => ({
  home: o.home,
  env: user === null ? o.env : { ...o.env, HOME: user.home, USER: user.name, LOGNAME: user.name },
  claudeBin: o.claudeBin,
  packaged: o.packaged,
  serverUrl: o.serverUrl,
  get isolation() {
    return isolation();
  },
  ownedByAgent(path) {
    if (user !== null) giveToAgent(user, o.home, path);
  },
});
