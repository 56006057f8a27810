/** Webhooks: made, called by who has nothing but the address, signed, limited, sent again; and what they must not tell. */
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Fleet, openFleet } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet();
  await fleet.agent('writer');
});
afterEach(() => fleet.end());

const at = '/api/agents/writer/webhooks';
const make = async (over: object = {}) =>
  (await fleet.api('POST', at, { name: 'deploy', message: 'Look at the deploy.', ...over })).body;
/** As a stranger calls it. */
const call = async (path: string, payload: string | object = {}, headers: Record<string, string> = {}) => {
  const answer = await fleet.app.inject({ method: 'POST', url: path, payload, headers });
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
};

describe('a webhook', () => {
  it(verifies('R45')('shows its token once, keeps only a hash, and seals its secret'), async () => {
    const made = await make({ secret: 'a-secret-of-sixteen' });
    expect(made.path).toBe(`/api/webhooks/${made.token}`);
    const [listed] = (await fleet.api('GET', at)).body;
    expect(listed).toMatchObject({ name: 'deploy', signed: true, enabled: true, last_called_at: null });
    const stored = JSON.stringify(await fleet.deps.store.read('webhooks', { agent_id: (await agentId())! }));
    for (const text of [JSON.stringify(listed), stored, (await fleet.api('GET', '/api/audit')).text]) {
      expect(text).not.toContain(made.token);
      expect(text).not.toContain('a-secret-of-sixteen');
    }
  });
  const agentId = async () => (await fleet.deps.store.read('agent_by_name', { name: 'writer' }))?.id;

  it(
    verifies('R4', 'R43')('gives its agent work with what the call brings, marked as coming from outside'),
    async () => {
      const { path, id } = await make();
      const answer = await call(path, { context: { branch: 'main' } });
      expect(answer.status).toBe(202);
      expect(answer.headers['x-execution-id']).toBe(answer.body.execution_id);
      const row = await fleet.row(answer.body.execution_id);
      expect(row).toMatchObject({ agent_name: 'writer', triggered_by: 'webhook', status: 'queued' });
      expect(row.message).toContain('Look at the deploy.');
      expect(row.message).toMatch(/from outside[\s\S]*"branch": "main"/);
      expect((await fleet.row((await call(path)).body.execution_id)).message).toBe('Look at the deploy.');
      const plain = await call(path, 'it broke', { 'content-type': 'text/plain' });
      expect((await fleet.row(plain.body.execution_id)).message).toContain('it broke');
      const [listed] = (await fleet.api('GET', at)).body;
      expect(listed).toMatchObject({ id, last_called_at: expect.any(String) });
    },
  );

  it('with a secret takes only calls that are signed with it', async () => {
    const secret = 'a-secret-of-sixteen';
    const { path } = await make({ secret });
    const body = JSON.stringify({ context: 'x' });
    const sign = (key: string, text = body) => `sha256=${createHmac('sha256', key).update(text).digest('hex')}`;
    const send = (signature?: string, name = 'x-hub-signature-256') =>
      call(path, body, { 'content-type': 'application/json', ...(signature && { [name]: signature }) });
    expect((await send()).status).toBe(401);
    expect((await send(sign('another-secret-of-16'))).status).toBe(401);
    expect((await send(sign(secret, '{}'))).status).toBe(401);
    expect((await send('sha256=zz')).status).toBe(401);
    expect((await send(sign(secret))).status).toBe(202);
    expect((await send(sign(secret), 'x-drover-signature')).status).toBe(202);
  });

  it('delivered again under its delivery id is the same execution', async () => {
    const { path } = await make();
    const headers = { 'x-github-delivery': 'd-1' };
    const one = await call(path, { a: 1 }, headers);
    const two = await call(path, { a: 1 }, headers);
    expect(two.body).toEqual({ ...one.body, replay: true });
    expect(two.headers['x-idempotent-replay']).toBe('true');
    expect((await call(path, { a: 2 }, headers)).status).toBe(409);
    const other = await make({ name: 'other' });
    expect((await call(other.path, { a: 1 }, headers)).body.execution_id).not.toBe(one.body.execution_id);
  });

  it('is limited per minute, and so are guesses at addresses', async () => {
    const { path } = await make({ max_per_minute: 2 });
    await call(path);
    await call(path);
    const third = await call(path);
    expect([third.status, Number(third.headers['retry-after'])]).toEqual([429, 60]);
    await fleet.clock.advance(60_000);
    expect((await call(path)).status).toBe(202);
    const statuses = [];
    for (let i = 0; i < 31; i++) statuses.push((await call('/api/webhooks/drw_no')).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([404, 429]);
  });

  it('that is off, deleted, or whose agent is gone is nothing; a stopped agent is a 503', async () => {
    const { path, id } = await make();
    await fleet.api('PUT', `${at}/${id}`, { enabled: false });
    expect((await call(path)).status).toBe(404);
    await fleet.api('PUT', `${at}/${id}`, { enabled: true, message: 'Again.' });
    await fleet.api('POST', '/api/agents/writer/stop');
    expect((await call(path)).status).toBe(503);
    await fleet.api('POST', '/api/agents/writer/start');
    expect((await fleet.row((await call(path)).body.execution_id)).message).toBe('Again.');
    const second = await make({ name: 'second' });
    expect((await fleet.api('DELETE', `${at}/${id}`)).status).toBe(200);
    expect((await call(path)).status).toBe(404);
    await fleet.api('DELETE', '/api/agents/writer');
    await fleet.agent('writer');
    expect((await call(second.path)).status).toBe(404);
    expect((await fleet.api('GET', at)).body).toEqual([]);
  });

  it('is refused with the name of what is wrong', async () => {
    const refused = async (over: object) => (await make(over)).error?.message;
    expect(await refused({ message: '' })).toContain('message');
    expect(await refused({ name: '' })).toContain('name');
    expect(await refused({ secret: 'short' })).toContain('16 characters');
    expect(await refused({ max_per_minute: 0 })).toContain('max_per_minute');
    await make();
    expect(await refused({})).toContain('deploy');
  });
});
