/**
 * Which server, and who asks. The URL: DROVER_SERVER_URL, else what the running server wrote into DROVER_HOME/run/server.json,
 * else DROVER_HOST and DROVER_PORT. The key: DROVER_TOKEN, else DROVER_HOME/owner.token, and that one never leaves this machine.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, client } from '../client/client.ts';
import type { Pause } from '../client/pause.ts';
import type { Config } from '../config.ts';
import { parseExecutionBearer } from '../contract/principal.ts';
import { CliFailure, usage } from './failure.ts';
import { longFetch } from './long-request.ts';
import { loopback } from './loopback.ts';

export interface Connection {
  url: string;
  api: Client;
  /**
   * Set inside an agent (its token names an execution): requests that may be answered after hours. Whoever waits there gives its
   * slots up by waiting in one request; asking again and again would hold them, and the agent that is asked may need just those.
   */
  calls: Client | null;
}

const readText = (file: string): { text: string } | { error: string } => {
  try {
    return { text: readFileSync(file, 'utf8').trim() };
  } catch (e) {
    return { error: (e as NodeJS.ErrnoException).code ?? 'unreadable' };
  }
};

export const serverUrl = (config: Readonly<Config>): string => {
  if (config.serverUrl !== null) return config.serverUrl.replace(/\/+$/, '');
  const written = readText(join(config.home, 'run', 'server.json'));
  if ('text' in written)
    try {
      const { url } = JSON.parse(written.text) as { url?: unknown };
      if (typeof url === 'string' && URL.canParse(url)) return url.replace(/\/+$/, '');
    } catch {
      // Half written or not ours: the configured address is the next best.
    }
  // A server that listens on every address answers on this one.
  const host = ['0.0.0.0', '::'].includes(config.host) ? '127.0.0.1' : config.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${config.port}`;
};

export const connect = (config: Readonly<Config>, pause: Pause): Connection => {
  const url = serverUrl(config);
  const token = keyFor(url, config);
  const by = (plain: typeof fetch) => client(url, { kind: 'bearer', token }, { fetch: asCli(plain), pause });
  return { url, api: by(fetch), calls: parseExecutionBearer(token) === null ? null : by(longFetch) };
};

/** Lists say through which door work came. */
const asCli =
  (plain: typeof fetch): typeof fetch =>
  (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('x-drover-client', 'cli');
    return plain(input, { ...init, headers });
  };

const keyFor = (url: string, config: Readonly<Config>): string => {
  if (config.token !== null) return config.token;
  if (!loopback(url))
    throw new CliFailure('refused', `A key is needed for ${url}: the token of this machine is not sent elsewhere.`, [
      'Make an API key on that machine (drover keys add NAME) and set DROVER_TOKEN to it.',
    ]);
  const file = join(config.home, 'owner.token');
  const read = readText(file);
  if ('text' in read && read.text !== '') return read.text;
  if ('text' in read || read.error === 'ENOENT')
    throw new CliFailure(
      'unreachable',
      `No server has been started with DROVER_HOME=${config.home} yet (${file} is missing).`,
      [
        `Start it: npm start (or bin/drover start). It will answer at ${url}.`,
        'Is it running with another DROVER_HOME? Set DROVER_HOME to that, or DROVER_TOKEN to an API key.',
      ],
    );
  if (read.error === 'ENOTDIR')
    throw usage(
      `DROVER_HOME=${config.home} is no directory.`,
      'Set DROVER_HOME to the directory of the server, or leave it out: ~/.drover.',
    );
  throw new CliFailure('refused', `${file} cannot be read (${read.error}).`, [
    'Run this as the user who runs the server, or set DROVER_TOKEN to an API key.',
  ]);
};
