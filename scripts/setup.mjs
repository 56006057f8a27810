// Set-up: npm ci when the lock or the wanted set changed, then the bundle when sources changed. Runs on plain Node 20.
// Two set-ups at once would break each other, so there is a lock; stamps are written last. A server may run meanwhile (builds.mjs).
//   node scripts/setup.mjs          what `npm start` needs (no dev dependencies when nothing is installed yet)
//   node scripts/setup.mjs --dev    everything, for tests
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildDir, dropOldBuilds, switchTo } from './builds.mjs';
import { node24, root } from './node.mjs';
import { takeLock } from './set-up-lock.mjs';

const dev = process.argv.includes('--dev');
const at = (...parts) => join(root, ...parts);
const read = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
const say = (text) => process.stderr.write(`drover set-up: ${text}\n`);

const lockHash = createHash('sha256')
  .update(read(at('package-lock.json')))
  .update(`${process.platform}-${process.arch}`)
  .digest('hex');
const installed = () => {
  const [hash, kind] = read(at('node_modules', '.drover-stamp')).split(' ');
  return hash === lockHash && (kind === 'dev' || !dev);
};

// Names, sizes and times of everything the bundle is made of: cheap (about 10 ms) and enough to see a change.
const sourceStamp = () => {
  const hash = createHash('sha256').update(lockHash);
  const walk = (dir) => {
    for (const entry of readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = join(dir, entry.name);
      if (entry.isDirectory()) walk(file);
      else if (!entry.name.endsWith('.test.ts')) {
        const s = statSync(file);
        hash.update(`${file} ${s.size} ${s.mtimeMs}\n`);
      }
    }
  };
  for (const dir of ['src', 'web', 'scripts']) walk(at(dir));
  return hash.digest('hex');
};
const built = (stamp) => read(at('dist', '.stamp')) === stamp && existsSync(at('dist', 'server', 'main.js'));

const fail = (text) => {
  say(text);
  process.exit(1);
};

const node = () => {
  try {
    return node24();
  } catch (e) {
    return fail(e.message);
  }
};

let lock = null;
let child = null;
let interrupted = null;
const run = (what, command, args, env = {}) =>
  new Promise((resolve) => {
    const ended = (why) => {
      if (interrupted !== null) {
        say(`${what} was stopped (${interrupted}); nothing was started.`);
        process.exit(130);
      }
      if (why === null) return resolve();
      fail(`${what} failed (${why}). The lines above say why; nothing was started.`);
    };
    child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...env },
    });
    if (child.pid !== undefined) lock.works(child.pid);
    child.on('error', (e) =>
      e.code === 'ENOENT' ? fail(`${command} was not found. Install it and try again.`) : ended(e.message),
    );
    child.on('exit', (code, signal) => ended(code === 0 ? null : `exit ${code ?? signal}`));
  });

let stamp = sourceStamp();
if (!installed() || !built(stamp)) {
  lock = await takeLock(at('.setup.lock'), (pid) =>
    say(`another set-up (pid ${pid}) is at work here; waiting for it`),
  ).catch((e) => fail(`${root} cannot be written (${e.code ?? e.message}). Set the tree up as its owner.`));
  process.on('exit', lock.release);
  // What was started is stopped with us: nobody would wait for it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      interrupted = signal;
      if (child === null || child.exitCode !== null || child.signalCode !== null) process.exit(130);
      child.kill(signal);
    });
  if (!installed()) {
    say(
      dev ? 'installing packages, with those for tests (about a minute)' : 'installing packages (about half a minute)',
    );
    rmSync(at('node_modules', '.drover-stamp'), { force: true });
    await run(
      'npm ci',
      'npm',
      [
        'ci',
        '--no-audit',
        '--no-fund',
        '--no-update-notifier',
        '--loglevel=error',
        ...(dev ? ['--include=dev'] : ['--omit=dev']),
      ],
      { NODE_ENV: '' },
    );
    writeFileSync(at('node_modules', '.drover-stamp'), `${lockHash} ${dev ? 'dev' : 'run'}`);
  }
  stamp = sourceStamp();
  if (!built(stamp)) {
    say('building');
    const dir = buildDir(root, stamp);
    mkdirSync(at('dist'), { recursive: true });
    if (!existsSync(join(dir, 'main.js'))) {
      await run('the build', node(), [at('scripts', 'build.mjs'), `${dir}.part`]);
      rmSync(dir, { recursive: true, force: true });
      renameSync(`${dir}.part`, dir);
    }
    switchTo(root, dir);
    writeFileSync(at('dist', '.stamp'), stamp);
    dropOldBuilds(root, dir);
  }
}
