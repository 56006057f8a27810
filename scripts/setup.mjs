// Set-up: npm ci when the lock or the wanted set changed, then the bundle when sources changed. Runs on plain Node 20.
// Two set-ups at once would break each other, so a lock file names the holder; stamps are written last.
//   node scripts/setup.mjs          what `npm start` needs (no dev dependencies when nothing is installed yet)
//   node scripts/setup.mjs --dev    everything, for tests
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { node24, root } from './node.mjs';

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

const alive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (e) {
    return e.code === 'EPERM';
  }
};
const takeLock = () => {
  const file = at('.setup.lock');
  for (let told = false; ; ) {
    try {
      const fd = openSync(file, 'wx');
      writeSync(fd, String(process.pid));
      closeSync(fd);
      return () => rmSync(file, { force: true });
    } catch (e) {
      if (e.code !== 'EEXIST') throw e;
    }
    const holder = Number(read(file));
    if (holder && !alive(holder)) rmSync(file, { force: true });
    else {
      if (!told) say(`another set-up (pid ${holder}) is at work; waiting for it`);
      told = true;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    }
  }
};

const run = (what, command, args, env = {}) => {
  const r = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  });
  if (r.error || r.status !== 0) {
    say(
      `${what} failed (${r.error?.message ?? `exit ${r.status ?? r.signal}`}). The lines above say why; nothing was started.`,
    );
    process.exit(1);
  }
};

let stamp = sourceStamp();
if (!installed() || !built(stamp)) {
  const release = takeLock();
  process.on('exit', release);
  for (const s of ['SIGINT', 'SIGTERM']) process.on(s, () => process.exit(130));
  if (!installed()) {
    say(
      dev ? 'installing packages, with those for tests (about a minute)' : 'installing packages (about half a minute)',
    );
    rmSync(at('node_modules', '.drover-stamp'), { force: true });
    run(
      'npm ci',
      'npm',
      ['ci', '--no-audit', '--no-fund', '--loglevel=error', ...(dev ? ['--include=dev'] : ['--omit=dev'])],
      { NODE_ENV: '' },
    );
    writeFileSync(at('node_modules', '.drover-stamp'), `${lockHash} ${dev ? 'dev' : 'run'}`);
  }
  stamp = sourceStamp();
  if (!built(stamp)) {
    say('building');
    mkdirSync(at('dist'), { recursive: true });
    rmSync(at('dist', '.stamp'), { force: true });
    run('the build', node24(), [at('scripts', 'build.mjs')]);
    writeFileSync(at('dist', '.stamp'), stamp);
  }
}
