/**
 * Builds everything, starts it in order, stops it in reverse: home, store, owner, server, sweeps, runner. The only place that
 * does. The runner starts the holder, which outlives them all and keeps the agents.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildApp } from './api/app.ts';
import { ensureOwner, ownerName } from './api/first-start.ts';
import { programEnd } from './cli/program-end.ts';
import { type Config, environmentWith, readConfig } from './config.ts';
import { Fault } from './contract/errors.ts';
import { limits } from './contract/limits.ts';
import { startSweeps } from './dispatch/sweeps.ts';
import { checkSeals } from './flow/check-seals.ts';
import type { Deps } from './flow/deps.ts';
import { systemClock } from './kernel/clock.ts';
import { mindHeapSize } from './kernel/heap-mode.ts';
import { systemRandom, timeOrderedIds } from './kernel/ids.ts';
import type { Kernel } from './kernel/kernel.ts';
import { jsonLog } from './kernel/log.ts';
import { programEnv, runnerArgs } from './kernel/programs.ts';
import { createMorning } from './operator/send-morning.ts';
import { commit } from './record/commit.ts';
import { createBallast } from './runner/ballast.ts';
import { agentUser } from './runner/launchers/agent-user.ts';
import { bootId, isAlive } from './runner/launchers/proof.ts';
import { workDiff } from './runner/workspace/diff.ts';
import { keepBallast } from './server/ballast.ts';
import { prepareHome } from './server/home.ts';
import { startLocalRunner } from './server/local-runner.ts';
import { sparedByKernel } from './server/oom-score.ts';
import { joinParts } from './server/parts.ts';
import { sqliteFiles } from './store/engines/sqlite-files.ts';
import { openStore } from './store/open.ts';

/** How long Ctrl-C waits for requests under way and for the runner to hand over. */
const drainMs = 5_000;

const start = async (config: Readonly<Config>) => {
  const log = jsonLog(config.logLevel, (line) => process.stderr.write(line), systemClock().now);
  // Also read by the runner, which would say it in its log alone, again and again.
  agentUser(config.agentUser);
  prepareHome(config.home);
  sparedByKernel();
  const store = await openStore({ home: config.home, log });
  const clock = systemClock(await store.read('clock_high_water', {}));
  const ids = timeOrderedIds(systemRandom, await store.read('newest_id', {}));
  const kernel: Kernel = { clock, log, random: systemRandom, ids };

  const { deps, dispatcher, couriers, ticker } = await joinParts(config, kernel, store);
  await ensureOwner(deps);
  await checkSeals(deps);
  await commit(deps, 'adopt_leases', { lease_ms: limits.leaseMs });

  const here = dirname(fileURLToPath(import.meta.url));
  const app = await buildApp({ ...deps, dispatcher, workDiff, pageDir: join(here, 'web') });
  const url = await app.listen({ host: config.host, port: config.port }).catch((cause) => {
    throw listenFault(cause, config);
  });
  const sweeps = startSweeps(deps, { name: hostname(), bootId: bootId(), alive: isAlive });
  couriers.start();
  ticker.start();
  const morning = createMorning(deps);
  morning.wake();
  keepBallast(createBallast(sqliteFiles(config.home).ballast, log), kernel);
  writeFileSync(join(config.home, 'run', 'server.json'), JSON.stringify({ url, pid: process.pid }), { mode: 0o600 });
  const bundled = import.meta.url.endsWith('.js');
  const runner = startLocalRunner(kernel, {
    node: process.execPath,
    nodeArgs: runnerArgs,
    entry: join(here, bundled ? 'runner.js' : 'runner/entry.ts'),
    home: config.home,
    serverUrl: url,
    env: environmentWith(bundled ? programEnv(join(here, '..')) : {}),
  });
  return { kernel, store, deps, url, app, dispatcher, couriers, ticker, morning, sweeps, runner };
};

const listenFault = (cause: NodeJS.ErrnoException, config: Readonly<Config>): Fault => {
  const where = `${config.host}:${config.port}`;
  if (cause.code === 'EADDRINUSE')
    return new Fault(
      'not_ready',
      `Port ${where} is in use. Stop what listens there, or set DROVER_PORT to another port.`,
      { cause },
    );
  if (cause.code === 'EACCES')
    return new Fault('invalid', `This user may not listen on ${where}. Set DROVER_PORT to a port above 1023.`, {
      cause,
    });
  if (cause.code === 'EADDRNOTAVAIL')
    return new Fault('invalid', `This host has no address ${config.host}. Set DROVER_HOST to one of its own.`, {
      cause,
    });
  return new Fault('not_ready', `Cannot listen on ${where}: ${cause.message}.`, { cause });
};

const say = (text: string) => process.stdout.write(`${text}\n`);

const liveAgents = async ({ store, claimLimits }: Deps): Promise<number> => {
  const { fleet } = await store.read('occupancy', { limits: claimLimits() });
  return fleet.running + fleet.waiting;
};

const main = async () => {
  const config = readConfig();
  const s = await start(config);
  mindHeapSize(s.kernel.clock);
  let leaving = false;
  const leave = async () => {
    if (leaving) {
      say('Leaving at once. Agents stay with the holder.');
      process.exit(130);
    }
    leaving = true;
    const live = await liveAgents(s.deps);
    say(
      live === 0
        ? 'Stopping. No agent runs.'
        : `Stopping. ${live} ${live === 1 ? 'agent keeps' : 'agents keep'} running under the holder; start again and their endings are recorded. Ctrl-C once more leaves at once.`,
    );
    s.dispatcher.close();
    await s.runner.stop(drainMs);
    await s.sweeps.stop();
    await s.ticker.stop();
    // A try under way may wait for its receiver: its row is held in the store and comes again.
    await Promise.race([Promise.all([s.couriers.stop(), s.morning.stop()]), s.kernel.clock.sleep(drainMs)]);
    await Promise.race([s.app.close(), s.kernel.clock.sleep(drainMs)]);
    await s.store.close();
    rmSync(join(config.home, 'run', 'server.json'), { force: true });
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void leave());
  const owner = await s.store.read('user_by_name', { username: ownerName });
  const goingOn = await liveAgents(s.deps);
  say(`Drover is ready: ${s.url}`);
  if (goingOn > 0)
    say(`  goes on   ${goingOn} ${goingOn === 1 ? 'agent' : 'agents'} that ran when the server before this one left`);
  say(
    owner?.password_hash == null
      ? `  sign in   the first visit asks for the token in ${join(config.home, 'owner.token')}`
      : `  sign in   as ${ownerName}, with the password of the first visit`,
  );
  say('  try it    bin/drover demo (five agents that end in five ways; needs no key)');
  say('  stop      Ctrl-C; agents that run go on under the holder, and the next start picks them up');
};

main().catch((error) => {
  const { text, code } = programEnd('drover', error, process.argv.includes('--json'));
  process.stderr.write(text);
  process.exit(code);
});
