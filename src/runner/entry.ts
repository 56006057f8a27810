/**
 * The runner's own process, started by the server or by hand on another host. Reads the configuration, starts the runner,
 * leaves on SIGTERM and SIGINT. It outlives the server that started it: a log that nobody reads any more must not end it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programEnd } from '../cli/program-end.ts';
import { environmentWith, readConfig } from '../config.ts';
import { Fault } from '../contract/errors.ts';
import { runnerRetiredExit } from '../contract/runner-protocol.ts';
import { systemClock } from '../kernel/clock.ts';
import { mindHeapSize } from '../kernel/heap-mode.ts';
import { systemRandom, timeOrderedIds } from '../kernel/ids.ts';
import { jsonLog } from '../kernel/log.ts';
import { packagedClis } from './adapters/adapter.ts';
import { startRunner } from './main.ts';

/** A revoked and renewed key is picked up within this. */
const keyMs = 5_000;

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
};

const main = async () => {
  const config = readConfig();
  const clock = systemClock();
  const log = jsonLog(config.logLevel, (line) => process.stderr.write(line), clock.now);
  const kernel = { clock, log, random: systemRandom, ids: timeOrderedIds(systemRandom) };

  const running = readText(join(config.home, 'run', 'server.json'));
  const serverUrl = config.serverUrl ?? (running === '' ? null : (JSON.parse(running) as { url: string }).url);
  if (serverUrl === null)
    throw new Fault('not_ready', 'No server is known here. Start one (npm start), or set DROVER_SERVER_URL.');
  let kept = { key: '', until: 0 };
  const token = (): string => {
    if (config.runnerToken !== null) return config.runnerToken;
    if (kept.until <= clock.steady())
      kept = { key: readText(join(config.home, 'runner.key')), until: clock.steady() + keyMs };
    return kept.key;
  };
  if (token() === '')
    throw new Fault('not_ready', `No key: set DROVER_RUNNER_TOKEN, or start the server that writes runner.key there.`);

  const packaged = packagedClis
    .map((name) => [name, fileURLToPath(new URL(`../../node_modules/.bin/${name}`, import.meta.url))] as const)
    .filter(([, path]) => existsSync(path));
  const runner = await startRunner({
    kernel,
    home: config.home,
    serverUrl,
    token,
    slots: config.runnerSlots,
    agentUser: config.agentUser,
    retentionDays: config.retentionDays,
    claudeBin: config.claudeBin,
    packaged: Object.fromEntries(packaged),
    env: environmentWith(),
  });
  mindHeapSize(clock);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => void runner.stop().then(() => process.exit(0)));
  await runner.retired;
  process.exit(runnerRetiredExit);
};

process.stdout.on('error', () => {});
process.stderr.on('error', () => {});
main().catch((error) => {
  const { text, code } = programEnd('drover runner', error, process.argv.includes('--json'));
  process.stderr.write(text);
  process.exit(code);
});
