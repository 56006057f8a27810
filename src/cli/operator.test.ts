/** `drover inbox` and `drover notify` against the real app, with the questions of an agent whose runner the test plays. */
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cli } from '../../test/support/cli.ts';
import { type Fleet, openFleet } from '../../test/support/fleet.ts';
import { openReceiver, type Receiver } from '../../test/support/receiver.ts';
import { verifies } from '../../test/support/verifies.ts';
import { executionBearer } from '../contract/principal.ts';
import { commit } from '../record/commit.ts';

let fleet: Fleet;
let env: Record<string, string>;
beforeEach(async () => {
  fleet = await openFleet();
  await fleet.agent('writer');
  await fleet.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = fleet.app.server.address() as AddressInfo;
  env = { DROVER_SERVER_URL: `http://127.0.0.1:${port}`, DROVER_TOKEN: fleet.owner };
});
afterEach(() => fleet.end());

const drover = (argv: string[], stdin?: string) =>
  cli(argv, { env, now: () => fleet.clock.now(), ...(stdin === undefined ? { tty: true } : { stdin }) });

const asked = async (body: object): Promise<{ id: string }> => {
  await fleet.api('POST', '/api/agents/writer/task', { message: 'write', async_mode: true });
  const [work] = await fleet.until(
    () => fleet.runner.claim(1),
    (claims) => claims.length > 0,
  );
  await fleet.runner.begin(work!);
  const authorization = `Bearer ${executionBearer(work!.execution_id, work!.token)}`;
  const made = await fleet.api('POST', '/api/operator-queue', body, { authorization });
  await fleet.runner.finish(work!, { stream: { cli: 'claude', session_id: 'cli-1' } });
  return made.body;
};
const raise = (title: string, priority: 'low' | 'high') =>
  commit(fleet.deps, 'put_operator_item', {
    item: {
      id: fleet.deps.kernel.ids.next(fleet.clock.now()),
      kind: 'alert',
      dedup_key: title,
      priority,
      title,
      evidence: ['Setting: resources.memory'],
    },
    agent_name: 'writer',
    execution_id: null,
  });

describe('inbox', () => {
  it(verifies('R42')('lists what needs a person, most urgent first, with what to type'), async () => {
    expect((await drover(['inbox'])).out).toBe('Nothing needs you.\n');
    await raise('writer: a small thing', 'low');
    const { id } = await asked({ title: 'Which \u001b[31mbranch?', options: ['main', 'next'] });
    await raise('writer: out of memory', 'high');
    const { out, code } = await drover(['inbox']);
    expect(code).toBe(0);
    const heads = out.split('\n').filter((l) => !l.startsWith(' '));
    expect(heads).toEqual([
      'alert: writer: out of memory',
      'question: Which branch?',
      'alert: writer: a small thing',
      '',
    ]);
    expect(out).toContain('Setting: resources.memory');
    expect(out).toContain('offered: main | next');
    expect(out).toContain(`drover inbox answer ${id} TEXT`);
    expect((await drover(['inbox', '--json'])).json()).toMatchObject([[{ kind: 'alert' }, { id }, {}]]);
  });

  it(verifies('R42')('answers a question, and says where the agent goes on'), async () => {
    const { id } = await asked({ title: 'Which branch?' });
    const answered = await drover(['inbox', 'answer', id, 'the', 'next', 'one']);
    const [turn] = (await fleet.api('GET', '/api/executions?status=queued')).body.executions;
    expect(answered).toMatchObject({ code: 0, out: `Answered: writer goes on with it as execution ${turn.id}.\n` });
    expect(turn.message).toContain('Answer: the next one');
    expect(await drover(['inbox', 'answer', id, 'another'])).toMatchObject({
      code: 4,
      err: expect.stringContaining('answered already by admin'),
    });
    expect((await drover(['inbox'])).out).toBe('Nothing needs you.\n');
    expect((await drover(['inbox', '--all'])).out).toContain('admin: the next one');
  });

  it('takes a long answer from a pipe, and none from nobody', async () => {
    const { id } = await asked({ title: 'What?' });
    expect(await drover(['inbox', 'answer', id], 'line one\nline two\n')).toMatchObject({ code: 0 });
    const item = (await fleet.api('GET', `/api/operator-queue/${id}`)).body;
    expect(item.answer).toBe('line one\nline two');
    const { id: other } = await asked({ title: 'And what?' });
    expect(await drover(['inbox', 'answer', other])).toMatchObject({ code: 2 });
    expect(await drover(['inbox', 'answer', other], ' \n')).toMatchObject({ code: 2 });
    expect(await drover(['inbox', 'answer', 'nope', 'x'])).toMatchObject({ code: 9 });
  });

  it('approves and denies what asks for it, and nothing else', async () => {
    const { id } = await asked({ kind: 'approval', title: 'Push to main' });
    const question = await asked({ title: 'Which?' });
    expect(await drover(['inbox', 'answer', id, 'yes'])).toMatchObject({
      code: 2,
      err: expect.stringContaining(`drover inbox approve ${id}`),
    });
    expect(await drover(['inbox', 'approve', question.id])).toMatchObject({ code: 2 });
    expect(await drover(['inbox', 'deny', id, '--note', 'on a branch', '--json'])).toMatchObject({ code: 0 });
    const item = (await fleet.api('GET', `/api/operator-queue/${id}`)).body;
    expect(item).toMatchObject({ answer: 'deny', note: 'on a branch', delivery: 'resumed' });
  });

  it('marks an alert as seen, and says when it comes back', async () => {
    const { id } = await raise('writer: out of memory', 'high');
    expect(await drover(['inbox', 'ack', id])).toMatchObject({ code: 0, out: expect.stringContaining('in an hour') });
    expect((await drover(['inbox'])).out).toBe('Nothing needs you.\n');
    expect(await drover(['inbox', 'sack', id])).toMatchObject({ code: 2 });
  });
});

describe('notify', () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await openReceiver();
  });
  afterEach(() => receiver.close());

  it(verifies('R42', 'R45')('is set with a secret from stdin, tried, shown and switched off'), async () => {
    expect((await drover(['notify'])).out).toContain('Nobody is notified');
    const set = ['notify', 'set', `${receiver.url}/hook`, '--secret-from-stdin', '--min-severity', 'high'];
    const done = await drover(set, 'planted-secret-of-it\n');
    expect(done).toMatchObject({ code: 0, out: expect.stringContaining('drover notify test') });
    expect(done.out + done.err).not.toContain('planted');
    expect(await drover(['notify', 'test'])).toMatchObject({ code: 0, out: 'Taken: the receiver answered 204.\n' });
    expect(receiver.received[0]!.headers['x-drover-signature']).toMatch(/^v1=[0-9a-f]{64}$/);
    receiver.answer = (response) => void response.writeHead(500).end();
    expect(await drover(['notify', 'test'])).toMatchObject({
      code: 10,
      err: 'Not taken: the receiver answered 500.\n',
    });
    await raise('writer: out of memory', 'high');
    const listed = await fleet.until(
      () => drover(['notify']),
      (r) => r.out.includes('answered 500'),
    );
    expect(listed.out).toContain(`${receiver.url}/… as json, signed, from severity high on.`);
    expect(listed.out).toMatch(/waiting +1 .*writer: out of memory/);
    expect(await drover(['notify', 'off'])).toMatchObject({ code: 0 });
    expect((await drover(['notify'])).out).toMatch(/Nobody is notified.*gave_up/s);
  });

  it('takes a secret address from stdin, too, and says what is missing', async () => {
    const set = (flags: string[], stdin?: string) => drover(['notify', 'set', ...flags], stdin);
    expect(await set(['-', '--format', 'slack'], `${receiver.url}/services/T0/B0/x\n`)).toMatchObject({ code: 0 });
    expect(await set(['-', '--secret-from-stdin'], `${receiver.url}\n`)).toMatchObject({
      code: 2,
      err: expect.stringContaining('two lines'),
    });
    expect(await set([receiver.url, '--secret-from-stdin'])).toMatchObject({ code: 2 });
    expect(await set([receiver.url, '--secret-from-stdin'], 'short\n')).toMatchObject({
      code: 2,
      err: expect.stringContaining('at least 16'),
    });
    expect(await set(['ftp://x'])).toMatchObject({ code: 2, err: expect.stringContaining('http or https') });
    expect(await set([receiver.url, '--min-severity', 'urgent'])).toMatchObject({ code: 2 });
  });
});
