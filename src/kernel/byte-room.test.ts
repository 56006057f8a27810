import { expect, it } from 'vitest';
import { byteRoom } from './byte-room.ts';

/** Names of those that were let in, in order. */
const enterAll = (room: ReturnType<typeof byteRoom>, sizes: Record<string, number>) => {
  const inside: string[] = [];
  const leave = Object.fromEntries(
    Object.entries(sizes).map(([name, bytes]) => [
      name,
      room.take(bytes).then((giveBack) => {
        inside.push(name);
        return giveBack;
      }),
    ]),
  ) as Record<string, Promise<() => void>>;
  return { inside, leave };
};
const turn = () => new Promise((r) => setImmediate(r));

it('lets in what fits, in the order of arrival, and the next when one leaves', async () => {
  const { inside, leave } = enterAll(byteRoom(10), { a: 6, b: 4, c: 5, d: 1 });
  await turn();
  expect(inside).toEqual(['a', 'b']);
  (await leave.b!)();
  await turn();
  // d would fit, but c came first: a large one is not overtaken for ever.
  expect(inside).toEqual(['a', 'b']);
  (await leave.a!)();
  (await leave.a!)();
  await turn();
  expect(inside).toEqual(['a', 'b', 'c', 'd']);
});

it('takes one that is larger than the room when nobody else is in it', async () => {
  const { inside, leave } = enterAll(byteRoom(10), { a: 1, b: 50, c: 1 });
  await turn();
  expect(inside).toEqual(['a']);
  (await leave.a!)();
  await turn();
  expect(inside).toEqual(['a', 'b']);
  (await leave.b!)();
  await turn();
  expect(inside).toEqual(['a', 'b', 'c']);
});
