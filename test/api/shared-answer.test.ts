/** Lists that many screens ask for at once: read once, and never older than what the one who asks has seen. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Fleet, openFleet } from '../support/fleet.ts';

let fleet: Fleet;
let reads: number;
beforeEach(async () => {
  fleet = await openFleet();
  await fleet.agent('a');
  reads = 0;
  const { store } = fleet.deps;
  const read = store.read.bind(store);
  store.read = ((verb, args) => {
    if (verb === 'executions_with_texts') reads++;
    return read(verb, args);
  }) as typeof store.read;
});
afterEach(() => fleet.end());

const list = async (query = '') => {
  const answer = await fleet.api('GET', `/api/executions${query}`);
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  return answer.body.executions.map((e: { message: string }) => e.message);
};
const give = (message: string) => fleet.api('POST', '/api/agents/a/task', { message, async_mode: true });

describe('a list of executions', () => {
  it('is read once for all who ask at the same time, and again for another question', async () => {
    await give('one');
    const answers = await Promise.all(Array.from({ length: 20 }, () => list()));
    expect(answers).toEqual(Array.from({ length: 20 }, () => ['one']));
    expect(reads).toBe(1);
    await list('?limit=1');
    expect(reads).toBe(2);
  });

  it('holds what was accepted before it was asked for', async () => {
    for (let n = 1; n <= 5; n++) {
      await give(`number ${n}`);
      expect(await list()).toHaveLength(n);
    }
    expect(reads).toBe(5);
  });

  it('is read again when time has passed, and after a failure', async () => {
    await give('one');
    await list();
    await fleet.clock.advance(250);
    await list();
    expect(reads).toBe(2);
    const { store } = fleet.deps;
    const read = store.read;
    store.read = (() => Promise.reject(new Error('the disk is gone'))) as typeof store.read;
    expect((await fleet.api('GET', '/api/executions?limit=7')).status).toBe(500);
    store.read = read;
    await list('?limit=7');
  });
});
