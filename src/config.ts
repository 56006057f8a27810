/**
 * The only reader of the environment. Everything is read once, all problems come in one message, the result is frozen. An
 * empty string counts as unset. `settings` names each variable with its default and meaning: compose.yaml, the systemd
 * unit and docs/configuration.md are checked against it by a test.
 */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { limits } from './contract/limits.ts';
import { type LogLevel, logLevels } from './kernel/log.ts';

export interface Config {
  home: string;
  host: string;
  port: number;
  databaseUrl: string | null;
  /** 32 bytes; null = DROVER_HOME/secret.key, made at first start. */
  secretKey: string | null;
  logLevel: LogLevel;
  claudeBin: string | null;
  serverUrl: string | null;
  runnerToken: string | null;
  /** The CLI's key; null = DROVER_HOME/owner.token. */
  token: string | null;
  /** Null = not set by hand: the default applies, and R12 treats it so. */
  agentCallLimit: number | null;
  queueTimeoutS: number | null;
  durableQueueTimeoutS: number | null;
  runnerSlots: number | null;
  maxCallDepth: number;
  runnerGraceS: number;
  /** Of a runner's host, in per cent of its memory; nothing new starts below. 0 = no floor. */
  memoryFloorPercent: number;
  /** The same of its disk, in MiB. */
  diskFloorMib: number;
  agentUser: string | null;
  /** Ended executions, their transcripts and events are kept this long. */
  retentionDays: number;
  openSetup: boolean;
}

const whole = (min: number, max: number) => (text: string) => {
  const n = Number(text);
  if (!/^\d+$/.test(text.trim()) || n < min || n > max)
    throw new Error(`needs a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`);
  return n;
};
const text = (t: string) => t;
const flag = (t: string) => {
  if (!['0', '1', 'true', 'false'].includes(t)) throw new Error(`needs 1 or 0, not ${JSON.stringify(t)}`);
  return t === '1' || t === 'true';
};

export const settings = {
  DROVER_HOME: { default: '~/.drover', about: 'Where the database, keys, workspaces and spool live.' },
  DROVER_HOST: { default: '127.0.0.1', about: 'Address to listen on.' },
  DROVER_PORT: { default: '8420', about: 'Port to listen on; 0 = any free one.' },
  DROVER_DATABASE_URL: { default: '', about: 'postgres://… for many servers; empty = SQLite in DROVER_HOME.' },
  DROVER_SECRET_KEY: {
    default: '',
    about: '32 bytes in base64 that seal credentials; empty = DROVER_HOME/secret.key.',
  },
  DROVER_LOG_LEVEL: { default: 'info', about: logLevels.join(', ') },
  DROVER_CLAUDE_BIN: { default: '', about: 'The claude program; empty = from PATH.' },
  DROVER_SERVER_URL: { default: '', about: 'For a runner or CLI elsewhere: the server.' },
  DROVER_TOKEN: { default: '', about: 'For the CLI: an API key; empty = the token in DROVER_HOME/owner.token.' },
  DROVER_RUNNER_TOKEN: { default: '', about: 'For a runner elsewhere: its key.' },
  BACKEND_AGENT_CALL_LIMIT: {
    default: String(limits.agentCallLimit.default),
    about: 'Running executions in the fleet (start value; the stored setting wins).',
  },
  BACKEND_AGENT_CALL_QUEUE_TIMEOUT_S: {
    default: String(limits.queueTimeoutS.default),
    about: 'Seconds a call may wait for a limit; 0 = for ever.',
  },
  DROVER_DURABLE_QUEUE_TIMEOUT_S: {
    default: String(limits.durableQueueTimeoutS.default),
    about: 'The same for work nobody holds a connection for.',
  },
  DROVER_RUNNER_SLOTS: {
    default: '',
    about: 'Live processes per runner; empty = the fleet limit as it is at the time + call depth.',
  },
  DROVER_MAX_CALL_DEPTH: { default: String(limits.callDepth.default), about: 'How deep agents may call agents.' },
  DROVER_RUNNER_GRACE_S: {
    default: String(limits.runnerGraceS.default),
    about: 'Seconds a silent runner may come back.',
  },
  DROVER_MEMORY_FLOOR_PERCENT: {
    default: String(limits.memoryFloorPercent.default),
    about: 'Nothing new starts on a host with less of its memory free; 0 = no floor.',
  },
  DROVER_DISK_FLOOR_MIB: {
    default: String(limits.diskFloorMib.default),
    about: 'Nothing new starts on a host with less disk free, in MiB; 0 = no floor.',
  },
  DROVER_RETENTION_DAYS: {
    default: String(limits.retentionDays.default),
    about: 'Days that ended executions, their transcripts, events and kept trees stay.',
  },
  DROVER_AGENT_USER: { default: '', about: 'As root: run agents as this user.' },
  DROVER_OPEN_SETUP: { default: '0', about: '1 = set-up without the owner token. For test benches only.' },
} as const;

/** Thrown with every problem in one message. */
export class ConfigError extends Error {}

export const readConfig = (env: Record<string, string | undefined> = process.env): Readonly<Config> => {
  const problems: string[] = [];
  const get = <T>(name: keyof typeof settings, parse: (t: string) => T): T | null => {
    const raw = env[name];
    if (raw === undefined || raw === '') return null;
    try {
      return parse(raw);
    } catch (e) {
      problems.push(`${name} ${(e as Error).message}`);
      return null;
    }
  };
  const key = (t: string) => {
    if (Buffer.from(t, 'base64').length !== 32) throw new Error('needs 32 bytes in base64 (openssl rand -base64 32)');
    return t;
  };
  const url = (t: string) => {
    if (!URL.canParse(t)) throw new Error(`needs a URL, not ${JSON.stringify(t)}`);
    return t;
  };
  const level = (t: string) => {
    if (!(logLevels as readonly string[]).includes(t))
      throw new Error(`needs one of ${logLevels.join(', ')}, not ${JSON.stringify(t)}`);
    return t as LogLevel;
  };
  const config: Config = {
    home: resolve(get('DROVER_HOME', text)?.replace(/^~(?=\/|$)/, homedir()) ?? join(homedir(), '.drover')),
    host: get('DROVER_HOST', text) ?? settings.DROVER_HOST.default,
    port: get('DROVER_PORT', whole(0, 65_535)) ?? Number(settings.DROVER_PORT.default),
    databaseUrl: get('DROVER_DATABASE_URL', url),
    secretKey: get('DROVER_SECRET_KEY', key),
    logLevel: get('DROVER_LOG_LEVEL', level) ?? 'info',
    claudeBin: get('DROVER_CLAUDE_BIN', text),
    serverUrl: get('DROVER_SERVER_URL', url),
    runnerToken: get('DROVER_RUNNER_TOKEN', text),
    token: get('DROVER_TOKEN', text),
    agentCallLimit: get('BACKEND_AGENT_CALL_LIMIT', whole(limits.agentCallLimit.min, limits.agentCallLimit.max)),
    queueTimeoutS: get('BACKEND_AGENT_CALL_QUEUE_TIMEOUT_S', whole(limits.queueTimeoutS.min, limits.queueTimeoutS.max)),
    durableQueueTimeoutS: get(
      'DROVER_DURABLE_QUEUE_TIMEOUT_S',
      whole(limits.durableQueueTimeoutS.min, limits.durableQueueTimeoutS.max),
    ),
    runnerSlots: get('DROVER_RUNNER_SLOTS', whole(1, 10_000)),
    maxCallDepth:
      get('DROVER_MAX_CALL_DEPTH', whole(limits.callDepth.min, limits.callDepth.max)) ?? limits.callDepth.default,
    runnerGraceS:
      get('DROVER_RUNNER_GRACE_S', whole(limits.runnerGraceS.min, limits.runnerGraceS.max)) ??
      limits.runnerGraceS.default,
    memoryFloorPercent:
      get('DROVER_MEMORY_FLOOR_PERCENT', whole(limits.memoryFloorPercent.min, limits.memoryFloorPercent.max)) ??
      limits.memoryFloorPercent.default,
    diskFloorMib:
      get('DROVER_DISK_FLOOR_MIB', whole(limits.diskFloorMib.min, limits.diskFloorMib.max)) ??
      limits.diskFloorMib.default,
    retentionDays:
      get('DROVER_RETENTION_DAYS', whole(limits.retentionDays.min, limits.retentionDays.max)) ??
      limits.retentionDays.default,
    agentUser: get('DROVER_AGENT_USER', text),
    openSetup: get('DROVER_OPEN_SETUP', flag) ?? false,
  };
  if (config.runnerSlots !== null && config.runnerSlots < config.maxCallDepth + 1)
    problems.push(
      `DROVER_RUNNER_SLOTS needs at least DROVER_MAX_CALL_DEPTH + 1 = ${config.maxCallDepth + 1}: each deeper level needs a place, or chains of calls get stuck`,
    );
  if (config.databaseUrl !== null && !/^postgres(ql)?:/.test(config.databaseUrl))
    problems.push('DROVER_DATABASE_URL needs a postgres:// URL');
  if (config.databaseUrl !== null)
    problems.push('DROVER_DATABASE_URL: PostgreSQL is not supported by this version yet; leave it empty to use SQLite');
  if (problems.length > 0)
    throw new ConfigError(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.map((p) => `  - ${p}`).join('\n')}`,
    );
  return Object.freeze(config);
};

/** The environment for a program of ours: as it is, since that reads its configuration as we do; what is set by hand wins. */
export const environmentWith = (defaults: Record<string, string> = {}): Record<string, string> => ({
  ...defaults,
  ...Object.fromEntries(Object.entries(process.env).filter((e): e is [string, string] => e[1] !== undefined)),
});
