/** A PostgreSQL of its own for a comparison: a fresh cluster in a temporary directory, as the machine's packages set it up, gone afterwards. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Cluster {
  version: string;
  /** A fresh database; its URL. */
  database(name: string): string;
  stop(): void;
}

const binaries = (): string => {
  const root = '/usr/lib/postgresql';
  const newest = readdirSync(root).sort((a, b) => Number(b) - Number(a))[0];
  if (newest === undefined) throw new Error(`there is no PostgreSQL in ${root}: apt-get install postgresql`);
  return join(root, newest, 'bin');
};

const freePort = () =>
  new Promise<number>((done) => {
    const s = createServer().listen(0, '127.0.0.1', () => {
      const { port } = s.address() as { port: number };
      s.close(() => done(port));
    });
  });

/** PostgreSQL refuses to run as root: then it runs as the user its package made. */
const owner = (): { uid: number; gid: number } | null => {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
};

export const startCluster = async (): Promise<Cluster> => {
  const bin = binaries();
  const dir = mkdtempSync(join(tmpdir(), 'drover-compare-'));
  const as = owner();
  if (as !== null) chownSync(dir, as.uid, as.gid);
  const port = await freePort();
  const run = (program: string, ...args: string[]) => {
    const done = spawnSync(join(bin, program), args, {
      cwd: dir,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      ...as,
    });
    if (done.status !== 0) throw new Error(`${program}: ${done.stderr || done.error}`);
    return done.stdout.trim();
  };
  run('initdb', '-D', 'data', '-A', 'trust', '-U', 'postgres');
  const options = `-p ${port} -k ${dir} -c listen_addresses=127.0.0.1 -c max_connections=200`;
  run('pg_ctl', '-D', 'data', '-l', join(dir, 'log'), '-o', options, '-w', 'start');
  return {
    version: run('postgres', '--version').replace(/^postgres \(PostgreSQL\) /, ''),
    database(name) {
      run('createdb', '-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', name);
      return `postgres://postgres@127.0.0.1:${port}/${name}`;
    },
    stop() {
      run('pg_ctl', '-D', 'data', '-m', 'immediate', 'stop');
      rmSync(dir, { recursive: true, force: true });
    },
  };
};
