import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { sqliteFiles } from './engines/sqlite-files.ts';
import { openStore } from './open.ts';

it(
  verifies(
    'R46',
    'D33',
  )('a database locked by a backup tool: nothing is accepted, in clear words, and then it goes on'),
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'drover-locked-'));
    const store = await openStore({ home });
    try {
      const put = (value: string) => store.write('put_setting', { key: 'k', value, now: 1, steady: 1 });
      await put('before');
      const tool = new DatabaseSync(sqliteFiles(home).main);
      tool.exec('BEGIN IMMEDIATE');
      // All of a group, and readers go on.
      const [a, b] = await Promise.allSettled([put('a'), put('b')]);
      for (const r of [a, b])
        expect(r).toMatchObject({
          status: 'rejected',
          reason: { code: 'store_failed', message: expect.stringContaining('locked') },
        });
      expect((await store.read('setting', { key: 'k' }))?.value).toBe('before');
      tool.exec('ROLLBACK');
      tool.close();
      await put('after');
      expect((await store.read('setting', { key: 'k' }))?.value).toBe('after');
    } finally {
      await store.close();
      rmSync(home, { recursive: true, force: true });
    }
  },
);
