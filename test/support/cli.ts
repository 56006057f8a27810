/** The command line in-process: what it wrote, its exit code, and a hand on its Ctrl-C. Time and keys are given. */
import { Readable } from 'node:stream';
import { connect } from '../../src/cli/connection.ts';
import type { World } from '../../src/cli/context.ts';
import { runCli } from '../../src/cli/program.ts';
import type { Pause } from '../../src/client/pause.ts';
import { pause } from '../../src/client/pause.ts';
import { readConfig } from '../../src/config.ts';

interface CliRun {
  code: number;
  out: string;
  err: string;
  /** stdout, one JSON value per line. */
  json(): unknown[];
}

export interface CliOptions {
  env?: Record<string, string>;
  /** A text, or pieces that are made when they are read. */
  stdin?: string | Iterable<string>;
  tty?: boolean;
  cwd?: string;
  root?: string;
  pause?: Pause;
  now?: () => number;
  /** Called with every piece of stderr and a way to press Ctrl-C. */
  watching?: (err: string, interrupt: () => void) => void;
  become?: World['become'];
}

export const cli = async (argv: string[], o: CliOptions = {}): Promise<CliRun> => {
  let out = '';
  let err = '';
  const interrupts = new Set<() => void>();
  let keys = 0;
  const world: World = {
    terminal: {
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
        o.watching?.(text, () => {
          for (const run of interrupts) run();
        });
      },
      paint: (_where, _colour, text) => text,
      outIsTty: o.tty === true,
      errIsTty: o.tty === true,
      inIsTty: o.tty === true,
      width: 100,
      stdin: Readable.from(typeof o.stdin === 'string' ? [Buffer.from(o.stdin)] : (o.stdin ?? []), {
        objectMode: false,
      }),
      onInterrupt: (run) => {
        interrupts.add(run);
        return () => void interrupts.delete(run);
      },
    },
    config: () => readConfig(o.env ?? {}),
    connect,
    cwd: o.cwd ?? '/somewhere',
    root: o.root ?? '/tree',
    version: '9.9.9',
    now: o.now ?? Date.now,
    pause: o.pause ?? pause,
    key: () => `key-${++keys}-${Math.random().toString(36).slice(2)}`,
    become:
      o.become ??
      (() => {
        throw new Error('a test does not become another program');
      }),
  };
  const code = await runCli(argv, world);
  return {
    code,
    out,
    err,
    json: () =>
      out
        .split('\n')
        .filter((l) => l !== '')
        .map((l) => JSON.parse(l) as unknown),
  };
};
