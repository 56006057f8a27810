import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Fate, type RunnerServer, startRunnerServer } from '../../test/support/runner-server.ts';
import { verifies } from '../../test/support/verifies.ts';
import { systemClock } from '../kernel/clock.ts';
import { systemRandom, timeOrderedIds } from '../kernel/ids.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { silentLog } from '../kernel/log.ts';
import { startDelivery } from './deliver.ts';
import { openJournal } from './journal.ts';
import { connectServer, type ServerClient } from './server-client.ts';
import { openStreams } from './streams.ts';
import { startTail } from './tail.ts';

// Retries without waiting: what is tested is what arrives, not when.
const clock = { ...systemClock(), sleep: () => new Promise<void>((resolve) => setImmediate(resolve)) };
const kernel: Kernel = { clock, log: silentLog, random: systemRandom, ids: timeOrderedIds(systemRandom) };

let dir: string;
let server: RunnerServer;
let client: ServerClient;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'runner-deliver-'));
  server = await startRunnerServer();
  client = connectServer(server.url, () => 'key');
});
afterEach(async () => {
  await client.close();
  await server.close();
  rmSync(dir, { recursive: true, force: true });
});

/** A runner's reading and delivering of one attempt, from whatever is in `dir`. */
const follow = async (signal = new AbortController().signal) => {
  const streams = openStreams(dir);
  const journal = await openJournal(join(dir, 'journal'));
  const lines: string[] = [];
  const delivery = startDelivery({
    attempt: 'a1',
    token: 'secret-token',
    cli: 'command',
    streams,
    server: client,
    kernel,
    clean: (text) => text,
    signal,
  });
  const tail = await startTail({
    dir,
    streams,
    journal,
    clock,
    log: silentLog,
    delayMs: () => 0,
    logBytes: 1_000_000,
    onLine: (stream, text) => void lines.push(`${stream}:${text}`),
    onSlice: (slice) => delivery.add(slice),
    onFull: () => {},
  });
  const close = async () => {
    await tail.close();
    await delivery.drained();
    await journal.close();
    await streams.close();
  };
  return { tail, delivery, lines, close };
};
const write = (name: 'stdout' | 'stderr', text: string) => appendFileSync(join(dir, name), text);
const texts = () => server.log('a1').map((e) => `${e.stream}:${e.text}`);

it(
  verifies('R34', 'D28')('stores every line once and in order over a wire that loses requests and answers'),
  async () => {
    const fates: Fate[] = ['request_lost', 'answer_lost', '503', 'passes', 'answer_lost', 'passes', 'request_lost'];
    let i = 0;
    server.fate = (route) => (route === 'events' ? fates[i++ % fates.length]! : 'passes');
    const { tail, delivery, lines, close } = await follow();
    for (let n = 0; n < 40; n++) {
      write(n % 5 === 0 ? 'stderr' : 'stdout', `line ${n}\n`);
      await server.until(() => texts().some((t) => t.endsWith(`line ${n}`)));
    }
    await tail.finish();
    await delivery.drained();
    expect(texts()).toEqual(lines);
    expect(lines).toHaveLength(40);
    expect(server.seen.filter((s) => s.route === 'events').every((s) => s.token === 'secret-token')).toBe(true);
    await close();
  },
);

it(verifies('R34', 'D29')('goes on after a restart with the same numbers, and loses and doubles nothing'), async () => {
  write('stdout', 'one\ntwo\n');
  write('stderr', 'problem\n');
  const dies = new AbortController();
  const first = await follow(dies.signal);
  await server.until(() => texts().length === 3);
  // Read and journaled, but never stored: the runner goes before it could be sent.
  server.fate = () => 'request_lost';
  const before = server.seen.length;
  write('stdout', 'three\n');
  await server.until(() => server.seen.length > before);
  dies.abort();
  await first.close();
  expect(texts()).toHaveLength(3);
  server.fate = () => 'passes';

  write('stdout', 'four\nfive without an end');
  const second = await follow();
  await second.tail.finish();
  await second.delivery.drained();
  const all = [
    'stdout:one',
    'stdout:two',
    'stderr:problem',
    'stdout:three',
    'stdout:four',
    'stdout:five without an end',
  ];
  expect(texts()).toEqual(all);
  expect(second.lines).toEqual(all);
  await second.close();
});

it('cuts off a torn last record of the journal and reads those lines again', async () => {
  write('stdout', 'one\n');
  const first = await follow();
  await server.until(() => texts().length === 1);
  await first.close();
  appendFileSync(join(dir, 'journal'), '{"seq":2,"n":1,"at"');
  write('stdout', 'two\n');
  const second = await follow();
  await server.until(() => texts().length === 2);
  expect(texts()).toEqual(['stdout:one', 'stdout:two']);
  await second.close();
});

it(
  verifies('R26')('stops reading at the bound of the log, says so once, and gives back the disk behind it'),
  async () => {
    writeFileSync(join(dir, 'stdout'), `${'x'.repeat(999)}\n`.repeat(300));
    const streams = openStreams(dir);
    const journal = await openJournal(join(dir, 'journal'));
    const full: number[] = [];
    let lines = 0;
    const tail = await startTail({
      dir,
      streams,
      journal,
      clock,
      log: silentLog,
      delayMs: () => 0,
      logBytes: 100_000,
      onLine: () => void lines++,
      onSlice: () => {},
      onFull: (bytes) => void full.push(bytes),
    });
    await vi.waitFor(() => expect(full).toHaveLength(1));
    const read = lines;
    expect(read).toBeLessThan(300);
    write('stdout', `${'y'.repeat(999)}\n`.repeat(500));
    await vi.waitFor(() => expect(statSync(join(dir, 'stdout')).size).toBeLessThan(300_000), { timeout: 10_000 });
    await tail.finish();
    expect([lines, full.length]).toEqual([read, 1]);
    await journal.close();
    await streams.close();
  },
);

it('gives up on a transcript that the server refuses, and asks once', async () => {
  server.fate = () => '409';
  const { tail, delivery, close } = await follow();
  write('stdout', 'one\n');
  await tail.finish();
  await delivery.drained();
  expect(texts()).toEqual([]);
  expect(server.seen).toHaveLength(1);
  await close();
});
