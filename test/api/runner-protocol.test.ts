import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runnerKeyPath } from '../../src/api/first-start.ts';
import { attemptTokenHeader, runnerProtocol, runnerProtocolHeader } from '../../src/contract/runner-protocol.ts';
import type { WriteVerbs } from '../../src/store/store.ts';
import { type Fleet, openFleet, output, room } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet();
  await fleet.agent('writer');
});
afterEach(() => fleet.end());

const submit = async (): Promise<string> =>
  (await fleet.api('POST', '/api/agents/writer/task', { message: 'x', async_mode: true })).body.execution_id;
const logOf = async (id: string) =>
  ((await fleet.api('GET', `/api/executions/${id}/log`)).body.log as { text: string }[]).map((e) => e.text);

/** Resolves when the store has answered a verb for the first time from here on. */
const firstWrite = (wanted: keyof WriteVerbs): Promise<void> =>
  new Promise((resolve) => {
    const { store } = fleet.deps;
    const write = store.write.bind(store);
    store.write = async (verb, args) => {
      const done = await write(verb, args);
      if (verb === wanted) resolve();
      return done;
    };
  });

/** A disk that takes its time over the next call of one verb. */
const holdNext = (wanted: keyof WriteVerbs) => {
  const { store } = fleet.deps;
  const write = store.write.bind(store);
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  store.write = async (verb, args) => {
    if (verb === wanted) {
      reached.resolve();
      await gate.promise;
    }
    return write(verb, args);
  };
  return { reached: reached.promise, release: () => gate.resolve() };
};

describe('the runner’s protocol', () => {
  it('is spoken by runners alone', async () => {
    const asOwner = await fleet.api(
      'POST',
      '/api/runner/claim',
      {},
      { [runnerProtocolHeader]: String(runnerProtocol) },
    );
    expect([asOwner.status, asOwner.body.error.code]).toEqual([403, 'forbidden']);
    const noBody = await fleet.runner.request('/claim', {});
    expect([noBody.status, noBody.body.error.code]).toEqual([422, 'invalid']);
  });

  it('is refused with 426 in a version the server does not know, naming both', async () => {
    for (const version of [String(runnerProtocol + 1), 'x', '']) {
      const answer = await fleet.runner.request('/claim', {}, { [runnerProtocolHeader]: version });
      expect([answer.status, answer.body.error.code]).toEqual([426, 'protocol_version']);
      expect(answer.body.detail).toContain(JSON.stringify(version));
    }
    expect(
      (
        await fleet.runner.request(
          '/renew',
          { room, attempts: [] },
          { [runnerProtocolHeader]: String(runnerProtocol - 1) },
        )
      ).status,
    ).toBe(200);
  });

  it('answers a poll without work after its wait, and one with work at once', async () => {
    const looked = firstWrite('claim_next');
    const empty = fleet.runner.poll({ wait_ms: 5_000 });
    await looked;
    await fleet.clock.advance(5_000);
    expect((await empty).claims).toEqual([]);
    const waiting = fleet.runner.poll();
    const id = await submit();
    expect((await waiting).claims.map((c) => c.execution_id)).toEqual([id]);
  });

  it(verifies('R23')('hands over what was claimed just as the wait of the poll ended'), async () => {
    const looked = firstWrite('claim_next');
    const poll = fleet.runner.poll({ wait_ms: 5_000 });
    await looked;
    const slow = holdNext('claim_next');
    const id = await submit();
    await slow.reached;
    await fleet.clock.advance(5_000);
    slow.release();
    expect((await poll).claims.map((c) => c.execution_id)).toEqual([id]);
  });

  it(verifies('R22')('lets nothing begin with a wrong token, or after a cancel'), async () => {
    const id = await submit();
    const [work] = await fleet.runner.claim();
    expect(await fleet.runner.begin({ ...work!, token: 'wrong' })).toMatchObject({ go: false });
    expect(await fleet.runner.begin({ ...work!, attempt: 'nothing' })).toMatchObject({ go: false });
    await fleet.api('POST', `/api/executions/${id}/terminate`, {});
    expect(await fleet.runner.begin(work!)).toEqual({ go: false, why: 'cancelled' });
  });

  it(
    verifies('R22')('gives out again what a runner was given and does not know of, without waiting for a lease'),
    async () => {
      const id = await submit();
      const [lost] = await fleet.runner.claim();
      const [again] = (await fleet.runner.poll({ holds: [] })).claims;
      expect(again).toMatchObject({ execution_id: id, number: 2 });
      expect(await fleet.runner.begin(lost!)).toEqual({ go: false, why: 'reaped' });
      expect(await fleet.runner.begin(again!)).toMatchObject({ go: true });
    },
  );

  it(verifies('R22')('frees at a goodbye what was never begun and is not held'), async () => {
    for (let i = 0; i < 3; i++) await submit();
    const [begun, held, free] = await fleet.runner.claim();
    await fleet.runner.begin(begun!);
    const bye = (host: string) => fleet.runner.request('/goodbye', { host, holds: [held!.attempt] });
    expect((await bye('another-host')).body).toEqual({ given_back: 0 });
    expect((await bye('test-host')).body).toEqual({ given_back: 1 });
    expect((await fleet.row(free!.execution_id)).status).toBe('queued');
    expect((await fleet.row(held!.execution_id)).status).toBe('running');
    expect((await fleet.row(begun!.execution_id)).status).toBe('running');
  });

  it('tells a polling runner at once what to stop', async () => {
    const id = await submit();
    const [work] = await fleet.runner.claim();
    await fleet.runner.begin(work!);
    const poll = fleet.runner.poll();
    await fleet.api('POST', `/api/executions/${id}/terminate`, {});
    expect(await poll).toMatchObject({ claims: [], stops: [{ attempt: work!.attempt, reason: 'cancel' }] });
  });

  it(verifies('R34')('stores events once, however often they come, and says how far it has them'), async () => {
    const id = await submit();
    const [work] = await fleet.runner.claim();
    await fleet.runner.begin(work!);
    const [a, b, c] = [output('a'), output('b'), output('c\u2028d')];
    expect((await fleet.runner.log(work!, [a, b])).body).toEqual({ stored_seq: 2 });
    expect((await fleet.runner.log(work!, [a, b])).body).toEqual({ stored_seq: 2 });
    expect((await fleet.runner.log(work!, [b, c], 2)).body).toEqual({ stored_seq: 3 });
    expect((await fleet.runner.log(work!, [], 4)).body).toEqual({ stored_seq: 3 });
    expect(await logOf(id)).toEqual(['a', 'b', 'c\u2028d']);
  });

  it('takes no part of a delivery with a bad line, and names the line', async () => {
    const id = await submit();
    const [work] = await fleet.runner.claim();
    const send = (body: string, headers: Record<string, string> = {}) =>
      fleet.runner.request(`/attempts/${work!.attempt}/events?first_seq=1`, body, {
        'content-type': 'application/x-ndjson',
        [attemptTokenHeader]: work!.token,
        ...headers,
      });
    const good = JSON.stringify(output('a'));
    const bad = await send(`${good}\n{"at":\n`);
    expect([bad.status, bad.body.error.message]).toEqual([422, expect.stringContaining('Line 2')]);
    expect((await send(`${good}\n{"at":"now"}\n`)).status).toBe(422);
    expect((await send(good, { 'content-type': 'text/plain' })).status).toBe(415);
    expect(await logOf(id)).toEqual([]);
    expect((await send(good)).body).toEqual({ stored_seq: 1 });
  });

  it(verifies('R22')('takes events with the attempt’s own token only'), async () => {
    await submit();
    const [work] = await fleet.runner.claim();
    const other = await fleet.runner.log({ ...work!, token: 'wrong' }, [output('a')]);
    expect([other.status, other.body.error.code]).toEqual([409, 'stale_token']);
    const unknown = await fleet.runner.log({ ...work!, attempt: 'nothing' }, [output('a')]);
    expect(unknown.status).toBe(409);
    expect(await logOf(work!.execution_id)).toEqual([]);
  });

  it(
    verifies('R23')('settles facts once; the same again is replayed, others come late and change nothing'),
    async () => {
      const id = await submit();
      const [work] = await fleet.runner.claim();
      await fleet.runner.begin(work!);
      expect(await fleet.runner.finish({ ...work!, token: 'wrong' })).toBe('lost');
      expect(await fleet.runner.finish({ ...work!, attempt: 'nothing' })).toBe('lost');
      expect((await fleet.row(id)).status).toBe('running');
      expect(await fleet.runner.finish(work!)).toBe('settled');
      expect(await fleet.runner.finish(work!)).toBe('replayed');
      expect(await fleet.row(id)).toMatchObject({ status: 'success', response: 'done' });
    },
  );
});

describe('over a real connection', () => {
  const listen = async () => {
    await fleet.app.listen({ host: '127.0.0.1', port: 0 });
    return `http://127.0.0.1:${(fleet.app.server.address() as AddressInfo).port}`;
  };

  it(verifies('R22')('a runner that has gone is given no claim: the work goes to the next that asks'), async () => {
    const url = await listen();
    const leave = new AbortController();
    const closed = new Promise<void>((resolve) => {
      fleet.app.server.once('request', (_, response) => response.once('close', () => resolve()));
    });
    const looked = firstWrite('claim_next');
    const key = runnerKey();
    const poll = fetch(`${url}/api/runner/claim`, {
      method: 'POST',
      signal: leave.signal,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        [runnerProtocolHeader]: String(runnerProtocol),
      },
      body: JSON.stringify({
        room,
        host: 'gone',
        boot_id: 'b',
        version: '0',
        isolation: 'none',
        cgroup: 'none',
      }),
    }).catch((error: Error) => error.name);
    await looked;
    leave.abort();
    expect(await poll).toBe('AbortError');
    await closed;
    const id = await submit();
    const [work] = await fleet.runner.claim();
    expect(work).toMatchObject({ execution_id: id, number: 1 });
    await fleet.runner.run(work!);
    expect((await fleet.row(id)).attempts).toHaveLength(1);
  });

  it(verifies('R22')('what was claimed for a runner while it went away is free at once'), async () => {
    const url = await listen();
    const leave = new AbortController();
    const closed = new Promise<void>((resolve) => {
      fleet.app.server.once('request', (_, response) => response.once('close', () => resolve()));
    });
    const id = await submit();
    const slow = holdNext('claim_next');
    const given = firstWrite('give_back');
    const poll = fetch(`${url}/api/runner/claim`, {
      method: 'POST',
      signal: leave.signal,
      headers: {
        authorization: `Bearer ${runnerKey()}`,
        'content-type': 'application/json',
        [runnerProtocolHeader]: String(runnerProtocol),
      },
      body: JSON.stringify({ room, host: 'gone', boot_id: 'b', version: '0', isolation: 'none', cgroup: 'none' }),
    }).catch((error: Error) => error.name);
    await slow.reached;
    leave.abort();
    expect(await poll).toBe('AbortError');
    await closed;
    slow.release();
    await given;
    const [work] = await fleet.runner.claim();
    expect(work).toMatchObject({ execution_id: id, number: 2 });
  });

  it(verifies('D15')('a client that goes away loses nothing: the same key gives the same execution'), async () => {
    const url = await listen();
    const send = (signal?: AbortSignal) =>
      fetch(`${url}/api/agents/writer/chat`, {
        method: 'POST',
        signal: signal ?? null,
        headers: {
          authorization: `Bearer ${fleet.owner}`,
          'content-type': 'application/json',
          'idempotency-key': 'again',
        },
        body: JSON.stringify({ message: 'long work' }),
      });
    const leave = new AbortController();
    const first = send(leave.signal).catch((error: Error) => error.name);
    const [work] = await fleet.runner.claim();
    await fleet.runner.begin(work!);
    leave.abort();
    expect(await first).toBe('AbortError');
    const second = send();
    await fleet.runner.finish(work!, { stream: { response: 'kept' } });
    const answer = await second;
    expect(answer.headers.get('x-execution-id')).toBe(work!.execution_id);
    expect(answer.headers.get('x-idempotent-replay')).toBe('true');
    expect(((await answer.json()) as { response: string }).response).toBe('kept');
    const { executions } = (await fleet.api('GET', '/api/executions')).body;
    expect(executions).toHaveLength(1);
    expect(executions[0].attempt).toBe(1);
  });

  it('a closing server gives every waiting call the id to go on with', async () => {
    const url = await listen();
    const asked = fetch(`${url}/api/agents/writer/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fleet.owner}`, 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'long work' }),
    });
    const [work] = await fleet.runner.claim();
    await fleet.runner.begin(work!);
    const closing = fleet.app.close();
    const answer = await asked;
    expect(answer.status).toBe(202);
    expect(answer.headers.get('x-execution-id')).toBe(work!.execution_id);
    expect(((await answer.json()) as { execution_id: string }).execution_id).toBe(work!.execution_id);
    await closing;
    expect((await fleet.deps.store.read('execution', { id: work!.execution_id }))?.status).toBe('running');
  });

  const runnerKey = (): string => readFileSync(runnerKeyPath(fleet.deps.config.home), 'utf8').trim();
});
