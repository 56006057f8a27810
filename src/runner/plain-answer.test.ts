import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { plainAnswer } from './plain-answer.ts';
import { openStreams, type Streams } from './streams.ts';

let dir: string;
let streams: Streams;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-answer-'));
  streams = openStreams(dir);
});
afterEach(async () => {
  await streams.close();
  rmSync(dir, { recursive: true, force: true });
});
const print = (text: string) => appendFileSync(join(dir, 'stdout'), text);
const asIs = (text: string) => text;

it('is all that was printed, the line without a newline too', async () => {
  print('one\r\n\ntwo ← \n');
  print('three');
  expect(await plainAnswer(streams, await streams.size('stdout'), asIs)).toBe('one\n\ntwo ← \nthree');
});

it('ends where the transcript ends, and is null when nothing was printed', async () => {
  expect(await plainAnswer(streams, 0, asIs)).toBeNull();
  print('told\n');
  const told = await streams.size('stdout');
  print('came after the end\n');
  expect(await plainAnswer(streams, told, asIs)).toBe('told');
});

it('shows nothing that is to be hidden, also where it lies across two reads', async () => {
  const padding = `${'x'.repeat(99)}\n`.repeat(2621);
  print(`${padding}the key is sk-secret\n`);
  const answer = await plainAnswer(streams, await streams.size('stdout'), (t) => t.replace('sk-secret', '[hidden]'));
  expect(answer).toBe(`${padding}the key is [hidden]`);
});

it('says where the rest is after 1 MiB, and reads no further', async () => {
  print(`${'y'.repeat(1023)}\n`.repeat(3 * 1024));
  let read = 0;
  const counted: Pick<Streams, 'read'> = {
    read: async (...args) => {
      const chunk = await streams.read(...args);
      read += chunk.length;
      return chunk;
    },
  };
  const answer = await plainAnswer(counted, await streams.size('stdout'), asIs);
  expect(answer).toMatch(/\n\[cut at 1 MiB; the log of the run has the rest\]$/);
  expect(answer!.length).toBeLessThan(1024 * 1024 + 100);
  expect(read).toBeLessThan(1.5 * 1024 * 1024);
});
