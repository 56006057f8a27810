import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manualClock } from '../../test/support/manual-clock.ts';
import { verifies } from '../../test/support/verifies.ts';
import { readConfig } from '../config.ts';
import { systemRandom, timeOrderedIds } from '../kernel/ids.ts';
import { silentLog } from '../kernel/log.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { ensureOwner } from './first-start.ts';
import { hashToken } from './secrets.ts';

let home: string;
let store: Store;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'drover-first-'));
  store = await openStore({ home });
});
afterEach(async () => {
  await store.close();
  rmSync(home, { recursive: true, force: true });
});
const start = () =>
  ensureOwner({
    kernel: { clock: manualClock(), ids: timeOrderedIds(systemRandom), random: systemRandom, log: silentLog },
    config: readConfig({ DROVER_HOME: home }),
    store,
    stir: () => {},
  });
const file = (name: string) => readFileSync(join(home, name), 'utf8').trim();
const live = async (scope: string) =>
  (await store.read('keys', {})).filter((k) => k.scope === scope && k.revoked_at === null);

describe('the first start', () => {
  it(verifies('R44')('makes an owner without a password and two files that only this user reads'), async () => {
    await start();
    expect(await store.read('users', {})).toMatchObject([{ username: 'admin', role: 'owner', password_hash: null }]);
    for (const name of ['owner.token', 'runner.key']) expect(statSync(join(home, name)).mode & 0o777).toBe(0o600);
    expect(await live('owner')).toMatchObject([{ hash: hashToken(file('owner.token')) }]);
    const [runner] = await live('runner');
    expect(runner!.hash).toBe(hashToken(file('runner.key')));
    expect((await store.read('runners', {})).map((r) => r.id)).toEqual([runner!.id]);
  });

  it('changes nothing at the second start', async () => {
    await start();
    const before = [file('owner.token'), file('runner.key'), await store.read('keys', {})];
    await start();
    expect([file('owner.token'), file('runner.key'), await store.read('keys', {})]).toEqual(before);
    expect(await store.read('users', {})).toHaveLength(1);
  });

  it(verifies('R44')('revokes a token whose file was deleted, and writes a new one'), async () => {
    await start();
    const old = file('owner.token');
    rmSync(join(home, 'owner.token'));
    await start();
    expect(file('owner.token')).not.toBe(old);
    expect((await live('owner')).map((k) => k.hash)).toEqual([hashToken(file('owner.token'))]);
  });

  it('takes the file along to another database', async () => {
    await start();
    const kept = file('owner.token');
    await store.close();
    for (const name of ['drover.db', 'drover.db-wal', 'drover.db-shm']) rmSync(join(home, name), { force: true });
    store = await openStore({ home });
    await start();
    expect(file('owner.token')).toBe(kept);
    expect(await live('owner')).toMatchObject([{ hash: hashToken(kept) }]);
  });

  it('never brings a revoked token back', async () => {
    await start();
    const old = file('owner.token');
    const [key] = await live('owner');
    await store.write('revoke_key', { id: key!.id, remove: false, now: 1, steady: 1 });
    await start();
    expect(file('owner.token')).not.toBe(old);
    expect(await live('owner')).toHaveLength(1);
  });
});
