import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { anAgent, anEnqueue } from '../../test/support/rows.ts';
import { verifies } from '../../test/support/verifies.ts';
import type { AgentRow } from '../contract/agent.ts';
import { openStore } from './open.ts';
import type { EnqueueArgs, Store } from './store.ts';

let home: string;
let store: Store | null = null;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'drover-open-'));
});
afterEach(async () => {
  await store?.close();
  store = null;
  rmSync(home, { recursive: true, force: true });
});

const at = { now: 1_000, steady: 1_000 };
const agent = (id: string, name = id): AgentRow => anAgent({ id, name, max_backlog_depth: 10_000 });
const request = (id: string, message = 'm'): EnqueueArgs & typeof at => ({
  ...at,
  ...anEnqueue({ id, agent_id: 'a' }, { agent_name: 'a', message }),
});
const ids = async (s: Store) => (await s.read('executions', { limit: 1_000 })).map((e) => e.id).sort();

describe('the store', () => {
  it(
    verifies('R46')('commits verbs that wait together: 10 of 50 that fail take back their own work only'),
    async () => {
      store = await openStore({ home });
      const s = store;
      await s.write('create_agent', { agent: agent('a'), ...at });
      await s.write('enqueue', request('taken'));
      const done = await Promise.allSettled(
        Array.from({ length: 50 }, (_, i) => s.write('enqueue', request(i % 5 === 0 ? 'taken' : `e${i}`))),
      );
      expect(done.filter((d) => d.status === 'rejected')).toHaveLength(10);
      expect((done[0] as PromiseRejectedResult).reason).toMatchObject({ name: 'Fault', code: 'internal' });
      expect(await ids(s)).toHaveLength(41);
      const { events } = await s.read('events_after', { after: 0, limit: 100 });
      expect(events.filter((e) => e.type === 'execution.queued')).toHaveLength(41);
      expect(events.map((e) => e.id)).toEqual(events.map((_, i) => i + 1));
    },
  );

  it('a verb tells the newest event of its commit, and a read after it sees what it wrote', async () => {
    store = await openStore({ home });
    await store.write('create_agent', { agent: agent('a'), ...at });
    const { stirred } = await store.write('enqueue', request('e1'));
    expect(stirred).toMatchObject({ claimable: true, ended: [], stops: [] });
    const { events, last } = await store.read('events_after', { after: stirred.last_event - 1, limit: 9 });
    expect([last, events[0]?.execution_id]).toEqual([stirred.last_event, 'e1']);
  });

  it(verifies('R48')('is owned by one process: a second one is told so, and the first goes on'), async () => {
    store = await openStore({ home });
    await expect(openStore({ home })).rejects.toMatchObject({
      code: 'not_ready',
      message: expect.stringContaining(`another server runs on this DROVER_HOME (${home})`),
    });
    expect(await store.read('ping', {})).toMatchObject({ ok: true });
    await store.close();
    store = await openStore({ home });
    expect(await store.read('ping', {})).toMatchObject({ ok: true });
  });

  it(verifies('R48', 'D33')('refuses a newer schema in words that say what to do, and touches nothing'), async () => {
    store = await openStore({ home });
    await store.close();
    store = null;
    const db = new DatabaseSync(join(home, 'drover.db'));
    db.exec("insert into schema_version (version, name, applied_at) values (99, 'of later', 1)");
    db.close();
    await expect(openStore({ home })).rejects.toMatchObject({
      code: 'not_ready',
      message: expect.stringMatching(/schema 99.*up to \d+\..*newer Drover.*backup/),
    });
  });

  it('says what is wrong with a home that cannot be one', async () => {
    const file = join(home, 'file');
    writeFileSync(file, '');
    await expect(openStore({ home: join(file, 'x') })).rejects.toMatchObject({
      code: 'not_ready',
      message: expect.stringContaining('DROVER_HOME'),
    });
    const odd = join(home, 'odd');
    mkdirSync(join(odd, 'drover.db'), { recursive: true });
    await expect(openStore({ home: odd })).rejects.toMatchObject({ name: 'Fault' });
  });

  it('answers what waits when it is closed, and refuses what comes after', async () => {
    store = await openStore({ home });
    await store.write('create_agent', { agent: agent('a'), ...at });
    const waiting = store.write('enqueue', request('e1'));
    await store.close();
    expect((await waiting).result).toMatchObject({ execution: { id: 'e1' } });
    await expect(store.write('enqueue', request('e2'))).rejects.toMatchObject({ code: 'shutting_down' });
    store = await openStore({ home });
    expect(await ids(store)).toEqual(['e1']);
  });

  it(verifies('R46')('what was accepted is there after kill -9, and the home is free again'), async () => {
    const script = `
      import { openStore } from ${JSON.stringify(new URL('./open.ts', import.meta.url).href)};
      const store = await openStore({ home: process.argv[2] });
      const send = (m) => new Promise((done) => process.stdout.write(m + '\\n', done));
      await store.write('create_agent', { agent: ${JSON.stringify(agent('a'))}, now: 1, steady: 1 });
      for (let i = 0; ; i++) {
        const id = 'e' + String(i).padStart(6, '0');
        await store.write('enqueue', { ...${JSON.stringify(request('x'))}, id, fresh_session_id: 's' + id });
        await send(id);
      }`;
    writeFileSync(join(home, 'writes.mjs'), script);
    const child = spawn(process.execPath, [join(home, 'writes.mjs'), home], { stdio: ['ignore', 'pipe', 'inherit'] });
    const accepted: string[] = [];
    let rest = '';
    const enough = Promise.withResolvers<void>();
    child.stdout.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      accepted.push(...lines);
      if (accepted.length >= 20) enough.resolve();
    });
    child.once('exit', () => enough.reject(new Error('the writer ended by itself')));
    const gone = once(child, 'exit');
    await enough.promise.finally(() => child.kill('SIGKILL'));
    expect(await gone).toEqual([null, 'SIGKILL']);
    store = await openStore({ home });
    const kept = new Set(await ids(store));
    expect(accepted.length).toBeGreaterThanOrEqual(20);
    expect(accepted.filter((id) => !kept.has(id))).toEqual([]);
  });
});

const mount = (...args: string[]) => spawnSync('mount', args, { encoding: 'utf8' });
const canMount = (): boolean => {
  if (process.getuid?.() !== 0) return false;
  const dir = mkdtempSync(join(tmpdir(), 'drover-mount-'));
  const done = mount('-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', dir).status === 0;
  if (done) spawnSync('umount', [dir]);
  rmSync(dir, { recursive: true, force: true });
  return done;
};

/** Needs root and the right to mount: a disk of 4 MB that really fills up. */
describe.skipIf(!canMount())('a full disk', () => {
  it(
    verifies(
      'D33',
      'R46',
    )('accepts nothing that is not durable, answers each verb, and goes on when there is room again'),
    async () => {
      const disk = join(home, 'disk');
      mkdirSync(disk);
      expect(mount('-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk).status).toBe(0);
      try {
        store = await openStore({ home: disk });
        const s = store;
        await s.write('create_agent', { agent: agent('a'), ...at });
        const accepted: string[] = [];
        const faults: unknown[] = [];
        for (let i = 0; faults.length === 0 && i < 100; i++)
          await Promise.all(
            Array.from({ length: 8 }, async (_, k) => {
              const id = `e${i}-${k}`;
              await s.write('enqueue', request(id, 'x'.repeat(20_000))).then(
                () => accepted.push(id),
                (e: unknown) => faults.push(e),
              );
            }),
          );
        expect(faults.length).toBeGreaterThan(0);
        for (const f of faults) expect(f).toMatchObject({ name: 'Fault', code: 'store_failed' });
        expect(await ids(s)).toEqual(accepted.sort());
        expect(readdirSync(disk)).toContain('drover.db');
        expect(mount('-o', 'remount,size=64m', 'tmpfs', disk).status).toBe(0);
        await s.write('enqueue', request('after'));
        expect(await ids(s)).toEqual([...accepted, 'after'].sort());
      } finally {
        await store?.close();
        store = null;
        spawnSync('umount', [disk]);
      }
    },
  );

  it(
    verifies('R34')(
      'frees the ballast once, keeps what it gives for endings, and takes work again when it is laid again',
    ),
    async () => {
      const disk = join(home, 'disk');
      mkdirSync(disk);
      expect(mount('-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', disk).status).toBe(0);
      const ballast = join(disk, 'ballast');
      try {
        store = await openStore({ home: disk });
        const s = store;
        await s.write('create_agent', { agent: agent('a'), ...at });
        await s.write('enqueue', request('first'));
        writeFileSync(ballast, Buffer.alloc(1024 * 1024, 1));
        // Somebody else fills the disk, to its last page.
        const filler = openSync(join(disk, 'filler'), 'w');
        try {
          for (;;) writeSync(filler, Buffer.alloc(4096, 1));
        } catch {
          closeSync(filler);
        }
        const refused = { code: 'store_failed', message: expect.stringContaining('kept for the endings') };
        for (const id of ['second', 'third'])
          await expect(s.write('enqueue', request(id, 'x'.repeat(50_000)))).rejects.toMatchObject(refused);
        expect(existsSync(ballast)).toBe(false);
        // An ending, in the space that was freed.
        const ended = await s.write('cancel', { execution_id: 'first', by: 'x', reason: null, ...at });
        expect(ended.result.result).toBe('cancelled_while_queued');
        rmSync(join(disk, 'filler'));
        await expect(s.write('enqueue', request('fourth'))).rejects.toMatchObject(refused);
        writeFileSync(ballast, Buffer.alloc(1024 * 1024, 1));
        await s.write('enqueue', request('fifth'));
        expect(await ids(s)).toEqual(['fifth', 'first']);
      } finally {
        await store?.close();
        store = null;
        spawnSync('umount', [disk]);
      }
    },
  );

  for (const name of ['drover.db', 'logs.db', 'owner.db'])
    it(verifies('D33')(`a damaged ${name} is refused at the start, named, with what can be done`), async () => {
      store = await openStore({ home });
      await store.close();
      store = null;
      for (const end of ['-wal', '-shm']) rmSync(join(home, name + end), { force: true });
      writeFileSync(join(home, name), Buffer.alloc(20_000, 'not a database '));
      await expect(openStore({ home })).rejects.toMatchObject({
        code: 'not_ready',
        message: expect.stringMatching(new RegExp(`Cannot open .*${name}.*The file is damaged. Put a copy`)),
      });
    });

  it(verifies('D33')('and a home that cannot be written is refused at the start, in words that name it'), async () => {
    const inner = join(home, 'inner');
    const view = join(home, 'view');
    mkdirSync(inner);
    mkdirSync(view);
    store = await openStore({ home: inner });
    await store.close();
    store = null;
    expect(mount('--bind', inner, view).status).toBe(0);
    try {
      expect(mount('-o', 'remount,ro,bind', view).status).toBe(0);
      await expect(openStore({ home: view })).rejects.toMatchObject({
        code: 'not_ready',
        message: expect.stringMatching(
          /Cannot open .*view.*DROVER_HOME needs to be a directory this user may write to/,
        ),
      });
    } finally {
      spawnSync('umount', [view]);
    }
  });
});
