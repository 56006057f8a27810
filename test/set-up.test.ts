/**
 * The set-up as `npm start` and `npm test` run it, on the oldest Node it must do on when there is one in PATH: a tree of its
 * own, with an npm and a build that only say that they were called.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from './support/held.ts';
import { verifies } from './support/verifies.ts';

const scripts = join(import.meta.dirname, '../scripts');
let tree: string;
const started: ChildProcess[] = [];
const at = (...parts: string[]) => join(tree, ...parts);
const read = (file: string) => (existsSync(at(file)) ? readFileSync(at(file), 'utf8') : '');

beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'drover-set-up-'));
  for (const dir of ['scripts', 'src', 'web', 'bin']) mkdirSync(at(dir));
  for (const file of ['setup.mjs', 'set-up-lock.mjs', 'builds.mjs', 'node.mjs'])
    copyFileSync(join(scripts, file), at('scripts', file));
  writeFileSync(at('package.json'), '{"type": "module"}');
  writeFileSync(at('package-lock.json'), '{}');
  writeFileSync(at('src/main.ts'), '1');
  writeFileSync(
    at('scripts/build.mjs'),
    `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
appendFileSync('calls', 'build\\n');
mkdirSync(process.argv[2], { recursive: true });
writeFileSync(process.argv[2] + '/main.js', "process.stdout.write('up'); setInterval(() => {}, 1000)");`,
  );
  npm('mkdir -p node_modules/.bin; ln -sf "$NODE" node_modules/.bin/node');
});
afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(tree, { recursive: true, force: true });
});

const npm = (does: string) => {
  writeFileSync(at('bin/npm'), `#!/bin/sh\necho "npm $*" >> calls\n${does}\n`);
  chmodSync(at('bin/npm'), 0o755);
};

const run = (...args: string[]) => {
  const child = spawn('node', [at('scripts/setup.mjs'), ...args], {
    cwd: tree,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: `${at('bin')}:${process.env.PATH}`, NODE: process.execPath },
  });
  started.push(child);
  let err = '';
  let look = () => {};
  child.stderr.on('data', (d) => {
    err += d;
    look();
  });
  return {
    child,
    err: () => err,
    ended: once(child, 'close').then(([code]) => code as number),
    says: async (words: string) => {
      while (!err.includes(words)) await new Promise<void>((r) => (look = r));
    },
  };
};
const calls = () => read('calls').split('\n').filter(Boolean);
const ci = 'npm ci --no-audit --no-fund --no-update-notifier --loglevel=error';
/** An npm that is at work until `go` is there. */
const slowNpm = () =>
  npm(
    'mkdir -p node_modules/.bin; ln -sf "$NODE" node_modules/.bin/node; echo working >&2; while [ -e calls ] && ! [ -e go ]; do sleep 0.02; done',
  );

describe('the set-up', () => {
  it('installs and builds once, for running; for tests everything; and never takes the tests’ packages away', async () => {
    expect(await run().ended).toBe(0);
    expect(calls()).toEqual([`${ci} --omit=dev`, 'build']);
    expect(await run().ended).toBe(0);
    expect(await run('--dev').ended).toBe(0);
    expect(calls().slice(2)).toEqual([`${ci} --include=dev`]);
    expect(await run().ended).toBe(0);
    expect(await run('--dev').ended).toBe(0);
    expect(calls()).toHaveLength(3);
  });

  it('builds again when a source changed, and installs again when the lock did', async () => {
    await run().ended;
    writeFileSync(at('src/main.ts'), '22');
    await run().ended;
    expect(calls().slice(2)).toEqual(['build']);
    writeFileSync(at('package-lock.json'), '{"changed": true}');
    await run().ended;
    expect(calls().slice(3)).toEqual([`${ci} --omit=dev`, 'build']);
  });

  it(
    verifies('R2')('builds beside what runs: a server goes on from its own files, however often others are built'),
    async () => {
      const build = async (text: string) => {
        writeFileSync(at('src/main.ts'), text);
        expect(await run().ended).toBe(0);
        return realpathSync(at('dist/server'));
      };
      const first = await build('first');
      const server = spawn(process.execPath, [join(first, 'main.js')], { stdio: ['ignore', 'pipe', 'ignore'] });
      started.push(server);
      await once(server.stdout, 'data');
      const later: string[] = [];
      for (const text of ['a second', 'a third one', 'the fourth one', 'and the fifth one'])
        later.push(await build(text));
      expect(new Set([first, ...later]).size).toBe(5);
      expect([first, ...later].map((dir) => existsSync(join(dir, 'main.js')))).toEqual([true, false, true, true, true]);
      expect(realpathSync(at('dist/server'))).toBe(later.at(-1));
      server.kill('SIGKILL');
      await once(server, 'exit');
      const last = await build('the sixth one is built');
      expect(existsSync(first)).toBe(false);
      expect(existsSync(join(last, 'main.js'))).toBe(true);
    },
  );

  it('says what failed, starts nothing, and tries it again the next time', async () => {
    npm('echo no network >&2; exit 7');
    const failed = run();
    expect(await failed.ended).toBe(1);
    expect(failed.err()).toContain('no network');
    expect(failed.err()).toContain('npm ci failed (exit 7)');
    expect(calls()).toHaveLength(1);
    expect(existsSync(at('.setup.lock'))).toBe(false);
    await run().ended;
    expect(calls()).toHaveLength(2);
  });

  it('names npm when there is none', async () => {
    rmSync(at('bin/npm'));
    writeFileSync(at('bin/node'), `#!/bin/sh\nPATH=/nowhere exec ${process.execPath} "$@"\n`, { mode: 0o755 });
    const failed = run();
    expect(await failed.ended).toBe(1);
    expect(failed.err()).toContain('npm was not found. Install it');
  });

  it('started twice at once works once: the second waits and finds it done', async () => {
    slowNpm();
    const first = run();
    await first.says('working');
    const second = run();
    await second.says(`another set-up (pid ${first.child.pid}) is at work`);
    writeFileSync(at('go'), '');
    expect(await Promise.all([first.ended, second.ended])).toEqual([0, 0]);
    expect(calls()).toEqual([`${ci} --omit=dev`, 'build']);
  });

  it('stopped by Ctrl-C stops its npm, says so, and leaves no lock and no stamp', async () => {
    slowNpm();
    const stopped = run();
    await stopped.says('working');
    stopped.child.kill('SIGTERM');
    expect(await stopped.ended).toBe(130);
    expect(stopped.err()).toContain('npm ci was stopped (SIGTERM)');
    expect(existsSync(at('.setup.lock'))).toBe(false);
    expect(existsSync(at('node_modules/.drover-stamp'))).toBe(false);
  });

  it('that was killed leaves its npm at work: the next one waits for that npm, then does it again', async () => {
    slowNpm();
    const killed = run();
    await killed.says('working');
    // Its npm speaks before the set-up has written down who that is.
    await until(() => expect(read('.setup.lock').split('\n')[1]).toMatch(/^\d+/));
    const orphan = Number(read('.setup.lock').split('\n')[1]!.split(':')[0]);
    killed.child.kill('SIGKILL');
    const next = run();
    await next.says(`another set-up (pid ${orphan}) is at work`);
    writeFileSync(at('go'), '');
    expect(await next.ended).toBe(0);
    expect(calls()).toEqual([`${ci} --omit=dev`, `${ci} --omit=dev`, 'build']);
  });

  it.each([
    ['of a process that is gone', '4194304:1'],
    ['of a pid that is another process now', `${process.pid}:1`],
    ['that is empty', ''],
    ['of an older version', '4194304'],
  ])('a lock %s is taken away', async (_what, text) => {
    writeFileSync(at('.setup.lock'), text);
    expect(await run().ended).toBe(0);
    expect(calls()).toHaveLength(2);
    expect(existsSync(at('.setup.lock'))).toBe(false);
  });

  it('of many that find a stale lock one works at a time', async () => {
    npm(
      'mkdir .at-work || echo two at once >> calls; mkdir -p node_modules/.bin; ln -sf "$NODE" node_modules/.bin/node; rmdir .at-work',
    );
    writeFileSync(at('.setup.lock'), '4194304:1');
    expect(await Promise.all(Array.from({ length: 6 }, () => run().ended))).toEqual([0, 0, 0, 0, 0, 0]);
    expect(calls()).toEqual([`${ci} --omit=dev`, 'build']);
  });
});
