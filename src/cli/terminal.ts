/**
 * Where a command reads and writes. Results go to stdout; progress, warnings and errors to stderr, so that a pipe gets the
 * result alone. Colours only on a terminal (NO_COLOR and FORCE_COLOR are obeyed by Node). What agents wrote is shown, never
 * executed: control characters are taken out before they reach a terminal.
 */
import { styleText } from 'node:util';

type Colour = 'red' | 'green' | 'yellow' | 'cyan' | 'dim' | 'bold';

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  paint(where: 'out' | 'err', colour: Colour, text: string): string;
  outIsTty: boolean;
  errIsTty: boolean;
  inIsTty: boolean;
  width: number;
  stdin: AsyncIterable<Buffer | string>;
  /** Calls `run` at each Ctrl-C instead of dying; the returned function takes that back. */
  onInterrupt(run: () => void): () => void;
}

export const processTerminal = (): Terminal => {
  // `drover ps | head`: the reader went away, which is no failure of ours.
  process.stdout.on('error', (e: NodeJS.ErrnoException) => {
    if (e.code === 'EPIPE') process.exit(0);
    throw e;
  });
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    paint: (where, colour, text) =>
      styleText(colour, text, { stream: where === 'out' ? process.stdout : process.stderr }),
    outIsTty: process.stdout.isTTY === true,
    errIsTty: process.stderr.isTTY === true,
    inIsTty: process.stdin.isTTY === true,
    width: process.stdout.columns ?? 100,
    stdin: process.stdin,
    onInterrupt: (run) => {
      process.on('SIGINT', run);
      return () => void process.off('SIGINT', run);
    },
  };
};

/** Tabs and newlines stay; every other C0, DEL, C1 and the bidirectional overrides become visible or go. */
export const plain = (text: string): string =>
  text
    // Whole CSI and OSC sequences first, so that no letters of them are left behind.
    .replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g, '')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');

/** One line of at most `max` characters. */
export const oneLine = (text: string, max: number): string => {
  const line = plain(text).replace(/\s+/g, ' ').trim();
  return line.length <= max ? line : `${line.slice(0, Math.max(1, max - 1))}…`;
};
