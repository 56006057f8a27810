/**
 * What every engine must do with people, keys, credentials, settings, the audit and retention. Takes the engine as a function
 * that opens it empty; speaks verbs only.
 */
import { describe, expect, it } from 'vitest';
import { anAgent, anEnqueue } from '../../../test/support/rows.ts';
import { verifies } from '../../../test/support/verifies.ts';
import type { AgentRow } from '../../contract/agent.ts';
import type { CredentialRow } from '../../contract/credential.ts';
import { isRefusal } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import type { KeyRow, UserRow } from '../rows.ts';
import type { EnqueueArgs, WriteVerbs } from '../store.ts';
import type { EngineUnderTest, OpenEngine } from './engine.ts';

const user = (over: Partial<UserRow> = {}): UserRow => ({
  id: 'u1',
  username: 'admin',
  email: null,
  role: 'owner',
  password_hash: null,
  created_at: 1,
  ...over,
});
const key = (over: Partial<KeyRow> = {}): KeyRow => ({
  id: 'k1',
  name: 'ci',
  description: null,
  prefix: 'drover_abc',
  hash: 'h1',
  scope: 'user',
  user_id: 'u1',
  agent_id: null,
  created_at: 1,
  last_used_at: null,
  revoked_at: null,
  ...over,
});
const credential = (over: Partial<CredentialRow> = {}): CredentialRow => ({
  id: 'c1',
  name: 'main',
  kind: 'anthropic_api_key',
  sealed: 'c2VhbGVk',
  max_parallel: null,
  pool: null,
  state: 'unknown',
  until: null,
  last_evidence: null,
  last_used_at: null,
  created_at: 1,
  owner_id: null,
  agent_id: null,
  replaced_at: null,
  state_at: null,
  worked_at: null,
  pace: null,
  pace_at: null,
  headroom: null,
  ...over,
});
const agent = (over: Partial<AgentRow> = {}): AgentRow => anAgent({ id: 'a1', name: 'one', owner_id: 'u1', ...over });
const work = (id: string, over: Partial<EnqueueArgs> = {}): EnqueueArgs => ({
  ...anEnqueue(
    { id, agent_id: 'a1', timeout_s: 60, max_retries: 0 },
    { agent_name: 'one', kind: 'chat', class: 'interactive' },
  ),
  ...over,
});

export const peopleConformance = (open: OpenEngine): void => {
  const withStore =
    (
      run: (
        write: <V extends keyof WriteVerbs>(verb: V, args: WriteVerbs[V][0], now?: number) => Promise<WriteVerbs[V][1]>,
        read: EngineUnderTest['read'],
        engine: EngineUnderTest,
      ) => Promise<void>,
    ) =>
    async () => {
      const engine = await open();
      try {
        await run(
          async (verb, args, now = 1_000) => (await engine.write(verb, { ...args, now, steady: now })).result,
          engine.read,
          engine,
        );
      } finally {
        await engine.end();
      }
    };

  describe('people', () => {
    it(
      'have names of their own, and a first password only once',
      withStore(async (write, read) => {
        expect(await write('create_user', { user: user() })).toEqual(user());
        expect(await write('create_user', { user: user({ id: 'u2' }) })).toMatchObject({ code: 'duplicate' });
        expect(await write('set_password', { user_id: 'u1', password_hash: 'p1', first: true })).toEqual({ ok: true });
        expect(await write('set_password', { user_id: 'u1', password_hash: 'p2', first: true })).toEqual({ ok: false });
        expect(await read('user_by_name', { username: 'admin' })).toEqual(user({ password_hash: 'p1' }));
        expect(await read('user', { id: 'nobody' })).toBeNull();
        expect(await read('users', {})).toHaveLength(1);
      }),
    );

    it(
      verifies('R44')('lose every sign-in with a new password, and what ran out with the next one'),
      withStore(async (write, read) => {
        await write('create_user', { user: user() });
        const login = (hash: string, expires_at: number) => ({ hash, user_id: 'u1', created_at: 1, expires_at });
        await write('create_login', { login: login('l1', 2_000) });
        expect(await read('login', { hash: 'l1' })).toMatchObject({ expires_at: 2_000, user: { username: 'admin' } });
        await write('create_login', { login: login('l2', 9_000) }, 3_000);
        expect(await read('login', { hash: 'l1' })).toBeNull();
        await write('set_password', { user_id: 'u1', password_hash: 'p' });
        expect(await read('login', { hash: 'l2' })).toBeNull();
        await write('create_login', { login: login('l3', 9_000) });
        await write('delete_login', { hash: 'l3' });
        expect(await read('login', { hash: 'l3' })).toBeNull();
      }),
    );
  });

  describe('keys', () => {
    it(
      'are found by their hash, marked when revoked, gone when removed',
      withStore(async (write, read) => {
        expect(await write('create_key', { key: key() })).toEqual(key());
        await write('touch_key', { id: 'k1' }, 5_000);
        expect(await read('key_by_hash', { hash: 'h1' })).toEqual(key({ last_used_at: 5_000 }));
        expect(await read('key_by_hash', { hash: 'h2' })).toBeNull();
        expect(await write('revoke_key', { id: 'k1', remove: false }, 6_000)).toEqual({ found: true });
        expect(await write('revoke_key', { id: 'k1', remove: false }, 7_000)).toEqual({ found: true });
        expect(await read('keys', {})).toMatchObject([{ revoked_at: 6_000 }]);
        expect(await write('revoke_key', { id: 'k1', remove: true })).toEqual({ found: true });
        expect(await write('revoke_key', { id: 'k1', remove: true })).toEqual({ found: false });
        expect(await read('keys', {})).toEqual([]);
      }),
    );
  });

  describe('credentials', () => {
    it(
      'have names of their own; a second put of one id replaces it; a deleted one leaves its agents',
      withStore(async (write, read, engine) => {
        await write('create_agent', { agent: agent({ credential_id: 'c1' }) });
        expect(await write('put_credential', { credential: credential() })).toEqual(credential());
        const taken = await write('put_credential', { credential: credential({ id: 'c2' }) });
        expect(isRefusal(taken) && taken.code).toBe('duplicate');
        const replaced = credential({ name: 'renamed', sealed: 'bmV3' });
        const written = await engine.write('put_credential', { credential: replaced, now: 1, steady: 1 });
        expect(written.stirred.claimable).toBe(true);
        expect(await read('credentials', {})).toEqual([{ ...replaced, replaced_at: 1 }]);
        const reseal = (before: string, after: string) => write('reseal_credential', { id: 'c1', before, after });
        expect(await reseal('b2xk', 'b3RoZXI=')).toEqual({ done: false });
        expect(await reseal('bmV3', 'cmVmcmVzaGVk')).toEqual({ done: true });
        expect(await read('credentials', {})).toEqual([{ ...replaced, sealed: 'cmVmcmVzaGVk', replaced_at: 1 }]);
        expect(await write('delete_credential', { id: 'c1' })).toEqual({ deleted: true });
        expect(await write('delete_credential', { id: 'c1' })).toEqual({ deleted: false });
        expect((await read('agent_by_name', { name: 'one' }))!.credential_id).toBeNull();
      }),
    );
  });

  describe('settings', () => {
    it(
      verifies('R9')('that are limits of the fleet stir the claim and tell that what is kept in memory is stale'),
      withStore(async (write, read, engine) => {
        await write('put_setting', { key: 'theme', value: 'dark' });
        await write('put_setting', { key: 'theme', value: 'light' }, 2_000);
        expect(await read('setting', { key: 'theme' })).toEqual({ key: 'theme', value: 'light', updated_at: 2_000 });
        await write('put_setting', { key: 'theme', value: null });
        expect(await read('settings', {})).toEqual([]);
        const put = (k: string) => engine.write('put_setting', { key: k, value: '2', now: 1, steady: 1 });
        expect((await put('theme')).stirred).toMatchObject({ claimable: false });
        expect((await put('agent_call_limit')).stirred).toMatchObject({ claimable: true, limits_changed: true });
        const { events } = await read('events_after', { after: 0, limit: 100 });
        expect(events.map((e) => e.type)).toEqual(['limits.changed']);
      }),
    );
  });

  describe('chats', () => {
    it(
      'begin anew after a clear: the next turn has another session, which remembers nothing',
      withStore(async (write, read) => {
        await write('create_agent', { agent: agent() });
        await write('enqueue', work('e1'));
        await write('cancel', { execution_id: 'e1', by: 'user:u1', reason: null });
        const [before] = await read('sessions', { agent_id: 'a1' });
        expect(before).toMatchObject({ id: 's-e1', is_main: true, cleared_at: null });
        expect(await write('clear_chat', { agent_id: 'a1' }, 2_000)).toEqual({ cleared: 1 });
        expect(await read('session', { id: 's-e1' })).toMatchObject({ is_main: false, cleared_at: 2_000 });
        await write('enqueue', work('e2'));
        expect((await read('execution', { id: 'e2' }))!.session_id).toBe('s-e2');
        expect(await read('session', { id: 's-e2' })).toMatchObject({ is_main: true, cli_session_id: null });
      }),
    );
  });

  describe('operator items', () => {
    it(
      'are answered once, and counted while open',
      withStore(async (write, read) => {
        const item = (id: string) => ({
          id,
          kind: 'alert' as const,
          dedup_key: 'oom',
          priority: 'high' as const,
          title: 't',
          evidence: ['x'],
        });
        const put = (id: string) =>
          write('put_operator_item', { item: item(id), agent_name: 'one', execution_id: null });
        await put('i1');
        expect(await put('i2')).toMatchObject({ id: 'i1', count: 2 });
        const answer = (status: 'acknowledged' | 'answered', text: string | null) =>
          write('answer_operator_item', { id: 'i1', status, answer: text, by: 'user:u1' });
        expect(await answer('acknowledged', null)).toMatchObject({ status: 'acknowledged' });
        expect(await answer('answered', 'yes')).toMatchObject({ status: 'answered', answer: 'yes' });
        expect(await answer('answered', 'no')).toMatchObject({ answer: 'yes' });
        expect(await read('operator_items', { status: 'open', limit: 10 })).toEqual([]);
        expect(await read('operator_items', { status: null, limit: 10 })).toMatchObject([
          { id: 'i1', evidence: ['x'] },
        ]);
        expect(await put('i3')).toMatchObject({ id: 'i3', count: 1, status: 'open' });
      }),
    );
  });

  describe('the audit', () => {
    it(
      'is read newest first, page by page',
      withStore(async (write, read) => {
        for (const id of ['01', '02', '03'])
          await write(
            'audit',
            { id, by: 'user:u1', action: 'agent.create', target: 'one', data: { n: id } },
            Number(id),
          );
        const first = await read('audit_log', { limit: 2, before: null });
        expect(first.map((r) => r.id)).toEqual(['03', '02']);
        expect(first[0]).toEqual({
          id: '03',
          at: 3,
          by: 'user:u1',
          action: 'agent.create',
          target: 'one',
          data: { n: '03' },
        });
        expect((await read('audit_log', { limit: 2, before: '02' })).map((r) => r.id)).toEqual(['01']);
      }),
    );
  });

  describe('the clock', () => {
    it(
      verifies('R8')('never goes back'),
      withStore(async (write, read) => {
        expect(await read('clock_high_water', {})).toBe(0);
        await write('keep_clock', { steady: 500 }, 500);
        await write('keep_clock', { steady: 400 }, 400);
        expect(await read('clock_high_water', {})).toBe(500);
      }),
    );

    it(
      verifies('R8')('and the newest id is known to the next process'),
      withStore(async (write, read) => {
        expect(await read('newest_id', {})).toBe(null);
        for (const id of ['03', '07', '05'])
          await write('audit', { id, by: 'user:u1', action: 'agent.create', target: 'one', data: {} }, 3);
        expect(await read('newest_id', {})).toBe('07');
      }),
    );
  });

  describe('retention', () => {
    it(
      verifies('R48')('takes old ended executions whole, in bounded steps, and leaves what is young or has not ended'),
      withStore(async (write, read, engine) => {
        await write('create_agent', { agent: agent() });
        for (const id of ['e1', 'e2', 'e3', 'e4']) await write('enqueue', work(id), 100);
        for (const id of ['e1', 'e2']) await write('cancel', { execution_id: id, by: 'u', reason: null }, 200);
        await write('cancel', { execution_id: 'e3', by: 'u', reason: null }, 900);
        const retain = (max: number) => write('retain', { events_before: 0, executions_before: 500, max }, 1_000);
        expect(await retain(1)).toEqual({ deleted: 1, more: true });
        expect(await retain(10)).toEqual({ deleted: 1, more: false });
        const left = await read('executions_with_texts', { limit: 10 });
        expect(left.map((e) => e.id)).toEqual(['e4', 'e3']);
        expect(await read('execution', { id: 'e1' })).toBeNull();
        expect(await engine.wholeTableReads('executions')).toEqual([]);
      }),
    );

    it(
      'keeps the newest event whatever its age, so that readers know the last id',
      withStore(async (write, read) => {
        await write('create_agent', { agent: agent() }, 10);
        await write('create_agent', { agent: agent({ id: 'a2', name: 'two' }) }, 20);
        await write('create_agent', { agent: agent({ id: 'a3', name: 'three' }) }, 30);
        const { last } = await read('events_after', { after: 0, limit: 10 });
        expect(await write('retain', { events_before: 1_000, executions_before: 0, max: 100 })).toEqual({
          deleted: 2,
          more: false,
        });
        const after = await read('events_after', { after: 0, limit: 10 });
        expect([after.first, after.last]).toEqual([last, last]);
      }),
    );

    it(
      verifies('D35')('of one row with a time from the future does not keep the older ones'),
      withStore(async (write, read) => {
        const hour = 3_600_000;
        await write('create_agent', { agent: agent() }, 10);
        await write('create_agent', { agent: agent({ id: 'a2', name: 'two' }) }, 40 * 24 * hour);
        await write('create_agent', { agent: agent({ id: 'a3', name: 'three' }) }, 20);
        await write('create_agent', { agent: agent({ id: 'a4', name: 'four' }) }, 5_000);
        expect((await write('retain', { events_before: 1_000, executions_before: 0, max: 100 })).deleted).toBe(3);
        expect((await read('events_after', { after: 0, limit: 10 })).events).toHaveLength(1);
      }),
    );

    it(
      'forgets idempotency keys after their time, by the clock that does not jump',
      withStore(async (write, read) => {
        await write('create_agent', { agent: agent() });
        const once = { idempotency: { scope: 'user:u1', key: 'k', body_hash: 'h' } };
        await write('enqueue', work('e1', once), 1_000);
        const later = 1_000 + limits.idempotencyMs - 1;
        await write('retain', { events_before: 0, executions_before: 0, max: 100 }, later);
        expect(await write('enqueue', work('e2', once), later)).toMatchObject({ replay: true });
        await write('retain', { events_before: 0, executions_before: 0, max: 100 }, later + 2);
        expect(await write('enqueue', work('e3', once), later + 2)).toMatchObject({ replay: false });
        expect((await read('executions', { limit: 10 })).map((e) => e.id)).toEqual(['e3', 'e1']);
      }),
    );
  });
};
