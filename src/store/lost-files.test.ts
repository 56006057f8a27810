import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { type Log, silentLog } from '../kernel/log.ts';
import { openStore } from './open.ts';

let home: string;
let said: string[];
const log: Log = { ...silentLog, warn: (text) => void said.push(text) };
const put = (name: string, text = '') => writeFileSync(join(home, name), text);
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'drover-lost-'));
  said = [];
});
afterEach(() => rmSync(home, { recursive: true, force: true }));
const opens = async () => (await openStore({ home, log })).close();

it(
  verifies('D33')('refuses an empty database in a home that was used, by each trace of it, and touches nothing'),
  async () => {
    for (const trace of ['secret.key', 'owner.token', 'runner.key', join('runner', 'attempts', '0abc')]) {
      put('drover.db');
      mkdirSync(join(home, 'runner', 'attempts'), { recursive: true });
      put(trace, 'x');
      const before = readdirSync(home);
      await expect(openStore({ home, log })).rejects.toMatchObject({
        code: 'not_ready',
        message: expect.stringMatching(
          /drover\.db is empty \(0 bytes\).*used before.*Put a copy of it back.*remove the empty file/,
        ),
      });
      expect(readdirSync(home)).toEqual(before);
      expect(statSync(join(home, 'drover.db')).size).toBe(0);
      rmSync(join(home, trace));
    }
    mkdirSync(join(home, 'backups'));
    put(join('backups', 'before-schema-4-1.db'), 'x');
    put('secret.key', 'x');
    await expect(openStore({ home, log })).rejects.toThrow(/the newest in .*backups is before-schema-4-1\.db/);
  },
);

it('takes the empty file of a first start that was cut off', async () => {
  put('drover.db');
  await opens();
  expect(said).toEqual([]);
});

it(verifies('D33')('says aloud that the database of a used home is missing, and starts anew'), async () => {
  put('secret.key', 'x');
  await opens();
  expect(said).toEqual([expect.stringMatching(/drover\.db is missing.*secret\.key.*put a copy back/)]);
  said = [];
  await opens();
  expect(said).toEqual([]);
  writeFileSync(join(home, 'logs.db'), '');
  await opens();
  expect(said).toEqual([expect.stringMatching(/logs\.db is empty.*transcripts/)]);
});
