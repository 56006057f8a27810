/** One JSON line per entry on stderr. Values that look like secrets by their key never reach the line (R45). */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

type LogFields = Record<string, unknown>;
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  child(fields: LogFields): Log;
}

const secretKey = /token|secret|password|authorization|api_?key|sealed|cookie/i;

const clean = (key: string, value: unknown): unknown => {
  if (key !== '' && secretKey.test(key) && typeof value !== 'number') return '[hidden]';
  if (value instanceof Error)
    return {
      name: value.name,
      message: value.message,
      code: (value as { code?: unknown }).code,
      stack: value.stack,
      cause: value.cause,
    };
  return value;
};

export const jsonLog = (
  level: LogLevel,
  write: (line: string) => void,
  now: () => number,
  fixed: LogFields = {},
): Log => {
  const from = logLevels.indexOf(level);
  const put = (at: LogLevel) => (message: string, fields?: LogFields) => {
    if (logLevels.indexOf(at) < from) return;
    write(
      `${JSON.stringify({ time: new Date(now()).toISOString(), level: at, message, ...fixed, ...fields }, clean)}\n`,
    );
  };
  return {
    debug: put('debug'),
    info: put('info'),
    warn: put('warn'),
    error: put('error'),
    child: (fields) => jsonLog(level, write, now, { ...fixed, ...fields }),
  };
};

export const silentLog: Log = jsonLog(
  'silent',
  () => {},
  () => 0,
);
