import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commit } from '../../src/record/commit.ts';
import { event, type Fleet, openFleet, output } from '../support/fleet.ts';
import { readSse, type SseReader } from '../support/sse.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
let url: string;
let readers: SseReader[];
beforeEach(async () => {
  fleet = await openFleet();
  await fleet.agent('writer');
  await fleet.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(fleet.app.server.address() as AddressInfo).port}`;
  readers = [];
});
afterEach(async () => {
  for (const r of readers) r.leave();
  await fleet.end();
});

const open = async (path: string, headers: Record<string, string> = {}): Promise<SseReader> => {
  const reader = await readSse(url + path, { authorization: `Bearer ${fleet.owner}`, ...headers });
  readers.push(reader);
  return reader;
};
const submit = async (): Promise<string> =>
  (await fleet.api('POST', '/api/agents/writer/task', { message: 'x', async_mode: true })).body.execution_id;
const seen = (r: SseReader) => r.messages.map((m) => JSON.parse(m.data) as Record<string, unknown>);
const ids = (r: SseReader) => r.messages.map((m) => Number(m.id));
/** One event each, as fast as the store takes them. */
const manyEvents = async (count: number, padding = '') => {
  const writes = Array.from({ length: count }, (_, i) =>
    commit(fleet.deps, 'put_operator_item', {
      item: {
        id: `item-${padding}-${i}`,
        kind: 'alert',
        dedup_key: `k${i}`,
        priority: 'low',
        title: 't',
        evidence: [],
      },
      agent_name: `${'n'.repeat(padding.length)}-${i}`,
      execution_id: null,
    }),
  );
  await Promise.all(writes);
  await fleet.until(
    async () => fleet.deps.feed.last,
    (last) => last >= count,
  );
};

describe('the stream of events', () => {
  it('tells every change of a run, in id order, as it happens', async () => {
    const reader = await open('/api/events');
    expect(reader.status).toBe(200);
    expect(reader.headers['content-type']).toContain('text/event-stream');
    const id = await submit();
    const [work] = await fleet.runner.claim();
    await fleet.runner.run(work!);
    await fleet.until(
      async () => seen(reader).map((e) => e.type),
      (types) => types.includes('execution.settled'),
    );
    const types = seen(reader)
      .filter((e) => e.execution_id === id)
      .map((e) => e.type);
    expect(types[0]).toBe('execution.queued');
    expect(types).toContain('execution.claimed');
    expect(types.at(-1)).toBe('execution.settled');
    expect(ids(reader)).toEqual(ids(reader).toSorted((a, b) => a - b));
    expect(new Set(ids(reader)).size).toBe(ids(reader).length);
  });

  it('goes on exactly where it was, by Last-Event-ID and by ?after=', async () => {
    const first = await open('/api/events?after=0');
    await manyEvents(5);
    await first.until(5);
    const [cut] = ids(first).slice(2);
    first.leave();
    await manyEvents(10);
    const all = await open('/api/events?after=0');
    await all.until(15);
    const [byHeader, byQuery] = [
      await open('/api/events?after=1', { 'last-event-id': String(cut) }),
      await open(`/api/events?after=${cut}`),
    ];
    const rest = ids(all).filter((id) => id > cut!);
    await Promise.all([byHeader.until(rest.length), byQuery.until(rest.length)]);
    expect(ids(byHeader)).toEqual(rest);
    expect(ids(byQuery)).toEqual(rest);
  });

  it('says reset, with the place to go on from, to who cannot be brought up to date', async () => {
    await manyEvents(3);
    for (const bad of ['99999999', 'nonsense']) {
      const reader = await open('/api/events', { 'last-event-id': bad });
      await reader.until(1);
      expect(reader.messages[0]).toMatchObject({ event: 'reset', id: String(fleet.deps.feed.last) });
      expect(seen(reader)[0]).toEqual({ type: 'reset', last: fleet.deps.feed.last });
      reader.leave();
    }
  });

  it('feeds fifty readers with the same events', async () => {
    const all = await Promise.all(Array.from({ length: 50 }, () => open('/api/events')));
    const start = fleet.deps.feed.last;
    await manyEvents(40);
    await Promise.all(all.map((r) => r.until(40)));
    const expected = Array.from({ length: 40 }, (_, i) => start + 1 + i);
    for (const r of all) expect(ids(r)).toEqual(expected);
  });

  it(verifies('R1')('a reader that stops reading holds up nobody, and misses nothing when it goes on'), async () => {
    const slow = await open('/api/events');
    const start = fleet.deps.feed.last;
    slow.pause();
    const quick = await open('/api/events');
    const padding = 'x'.repeat(20_000);
    const count = 600;
    await manyEvents(count, padding);
    await quick.until(count);
    expect(ids(quick)).toHaveLength(count);
    expect((await fleet.api('GET', '/health')).status).toBe(200);
    // 12 MB of events are waiting for it: far less may be held for it in memory.
    const waiting = [...serverSockets()].reduce((sum, bytes) => sum + bytes, 0);
    expect(waiting).toBeLessThan(2_000_000);
    slow.resume();
    await slow.until(count);
    expect(ids(slow)).toEqual(Array.from({ length: count }, (_, i) => start + 1 + i));
  });

  it('beats while nothing happens, and is for people only', async () => {
    const reader = await open('/api/events');
    await fleet.clock.advance(15_000);
    expect(reader.messages).toEqual([]);
    const anonymous = await fleet.api('GET', '/api/events', undefined, { authorization: 'Bearer nobody' });
    expect(anonymous.status).toBe(401);
  });

  it('ends at once when the server closes', async () => {
    const reader = await open('/api/events');
    await fleet.app.close();
    await reader.ended;
  });

  /** Bytes that Node holds for each connection of the server. */
  const serverSockets = (): number[] => [...sockets].map((s) => s.writableLength);
  const sockets = new Set<import('node:net').Socket>();
  beforeEach(() => {
    sockets.clear();
    fleet.app.server.on('connection', (s) => sockets.add(s));
  });
});

describe('the stream of a transcript', () => {
  const path = (id: string) => `/api/agents/writer/executions/${id}/stream`;

  it('replays what there is, follows what comes, and says when it has ended', async () => {
    const id = await submit();
    const [work] = await fleet.runner.claim();
    await fleet.runner.begin(work!);
    await fleet.runner.log(work!, [event({ type: 'system', subtype: 'init' }), output('one')]);
    const reader = await open(path(id));
    await reader.until(2);
    await fleet.runner.log(work!, [output('two')], 3);
    await reader.until(3);
    await fleet.runner.log(work!, [output('three')], 4);
    await fleet.runner.finish(work!);
    await reader.ended;
    expect(seen(reader).map((e) => e.text ?? e.subtype ?? e.type)).toEqual([
      'init',
      'one',
      'two',
      'three',
      'stream_end',
    ]);
    const replay = await open(path(id));
    await replay.ended;
    expect(seen(replay)).toEqual(seen(reader));
  });

  it('waits for a row that is still queued, and ends with one that never ran', async () => {
    const id = await submit();
    const reader = await open(path(id));
    await fleet.api('POST', `/api/executions/${id}/terminate`, {});
    await reader.ended;
    expect(seen(reader)).toEqual([{ type: 'stream_end' }]);
  });

  it('goes through every attempt, in order', async () => {
    const id = (await fleet.api('POST', '/api/agents/writer/task', { message: 'x', async_mode: true, max_retries: 1 }))
      .body.execution_id;
    const [first] = await fleet.runner.claim();
    const reader = await open(path(id));
    await fleet.runner.begin(first!);
    await fleet.runner.log(first!, [output('first')]);
    await fleet.runner.finish(first!, {
      exit_code: null,
      http: {
        accepted: false,
        status: null,
        error_code: null,
        message: null,
        termination_reason: null,
        connect_error: 'ECONNREFUSED',
      },
    });
    const poll = fleet.runner.claim();
    await fleet.until(
      async () => {
        await fleet.clock.advance(1_000);
        return (await fleet.row(id)).attempt as number;
      },
      (attempt) => attempt === 2,
    );
    const [second] = await poll;
    await fleet.runner.begin(second!);
    await fleet.runner.log(second!, [output('second')]);
    await fleet.runner.finish(second!);
    await reader.ended;
    expect(seen(reader).map((e) => e.text ?? e.type)).toEqual(['first', 'second', 'stream_end']);
  });

  it('of a long log comes whole and in order to a reader that stops in between', async () => {
    const id = await submit();
    const [work] = await fleet.runner.claim();
    await fleet.runner.begin(work!);
    const count = 3_000;
    const entries = Array.from({ length: count }, (_, i) => output(`${i} ${'y'.repeat(1_000)}`));
    await fleet.runner.log(work!, entries);
    await fleet.runner.finish(work!);
    const reader = await open(path(id));
    reader.pause();
    expect((await fleet.api('GET', '/health')).status).toBe(200);
    reader.resume();
    await reader.ended;
    const texts = seen(reader)
      .slice(0, -1)
      .map((e) => Number(String(e.text).split(' ')[0]));
    expect(texts).toEqual(Array.from({ length: count }, (_, i) => i));
    expect(seen(reader).at(-1)).toEqual({ type: 'stream_end' });
  });
});
