/** Lists of executions: from either end by keyset, and by words of the message, stretch by stretch. */
import { expect, it } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { OpenEngine } from './engine.ts';
import { openHouse } from './house.ts';

export const listsConformance = (open: OpenEngine): void => {
  it(verifies('R48')('lists executions from either end, page by page, over several states too'), async () => {
    const h = await openHouse(open);
    try {
      await h.agent('a');
      const ids: string[] = [];
      for (const message of ['one', 'two', 'three', 'four', 'five']) ids.push((await h.submit('a', { message })).id);
      await h.write('cancel', { execution_id: ids[1]!, by: 'x', reason: null });
      const read = async (f: { before?: string; oldest_first?: boolean }) =>
        (await h.read('executions', { status: ['queued', 'cancelled'], limit: 2, ...f })).map((e) => e.id);
      expect(await read({})).toEqual([ids[4], ids[3]]);
      expect(await read({ before: ids[3] })).toEqual([ids[2], ids[1]]);
      expect(await read({ oldest_first: true })).toEqual([ids[0], ids[1]]);
      expect(await read({ oldest_first: true, before: ids[1] })).toEqual([ids[2], ids[3]]);
    } finally {
      await h.end();
    }
  });

  it('finds by a part of the message whatever its case, by an id, and takes no sign of a person for a pattern', async () => {
    const h = await openHouse(open);
    try {
      const a = await h.agent('a');
      await h.agent('b');
      const first = await h.submit('a', { message: 'Cut the release 2.4' });
      const second = await h.submit('b', { message: 'cut 50% of the noise_here' });
      const find = async (search: string, more: object = {}) => {
        const { rows, next } = await h.read('search_executions', { search, text_chars: 9, limit: 5, ...more });
        expect(next).toBeNull();
        return rows.map((e) => e.id);
      };
      expect(await find('CUT')).toEqual([second.id, first.id]);
      expect(await find('cut', { agent_id: a.id })).toEqual([first.id]);
      expect(await find('0%')).toEqual([second.id]);
      expect(await find('e_h')).toEqual([second.id]);
      expect(await find('release_2')).toEqual([]);
      expect(await find('c%t')).toEqual([]);
      expect(await find(first.id.toUpperCase())).toEqual([first.id]);
      expect(await find('cut', { status: ['failed'] })).toEqual([]);
      const page = await h.read('search_executions', { search: 'cut', text_chars: 9, limit: 1 });
      expect(page).toMatchObject({ rows: [{ id: second.id, message: 'cut 50% o' }], next: second.id });
      expect(await find('cut', { before: page.next })).toEqual([first.id]);
    } finally {
      await h.end();
    }
  });
};
