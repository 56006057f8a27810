/** People: invited, given roles, removed; what each role may do, on every route there is; and who did what, as a file too. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Fleet, openFleet } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet();
  await fleet.api('POST', '/api/setup/admin-password', {
    password: 'correct horse',
    confirm_password: 'correct horse',
    setup_token: fleet.owner,
  });
});
afterEach(() => fleet.end());

const as = async (token: string | null, method: string, url: string, payload?: object) => {
  const answer = await fleet.app.inject({
    method: method as 'GET',
    url,
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    ...(payload !== undefined && { payload }),
  });
  return {
    status: answer.statusCode,
    text: answer.payload,
    body: answer.payload.startsWith('{') ? answer.json() : null,
  };
};
const signIn = async (username: string, password: string) =>
  (await as(null, 'POST', '/api/token', { username, password })).body;
const person = async (username: string, role: string): Promise<string> => {
  await fleet.api('POST', '/api/users', { username, role, password: 'long enough' });
  return (await signIn(username, 'long enough')).access_token;
};

describe('an invitation', () => {
  const invite = async (over: object = {}) => (await fleet.api('POST', '/api/users/invites', over)).body;
  const accept = (token: string, over: object = {}) =>
    as(null, 'POST', '/api/users/invites/accept', { token, username: 'ada', password: 'long enough', ...over });

  it(verifies('R44')('lets one person in, once, with a password nobody else knows'), async () => {
    const made = await invite({ role: 'viewer', email: 'ada@example.org' });
    expect(made.path).toBe(`/invite#${made.token}`);
    expect((await fleet.api('GET', '/api/users/invites')).text).not.toContain(made.token);
    const look = await as(null, 'POST', '/api/users/invites/look', { token: made.token });
    expect(look.body).toMatchObject({ role: 'viewer', email: 'ada@example.org', invited_by: 'admin' });
    const accepted = await accept(made.token);
    expect(accepted.body).toMatchObject({ success: true, username: 'ada', role: 'viewer' });
    const me = await as(accepted.body.access_token, 'GET', '/api/users/me');
    expect(me.body).toMatchObject({ username: 'ada', role: 'viewer', email: 'ada@example.org' });
    expect((await accept(made.token, { username: 'eve' })).status).toBe(404);
    expect((await fleet.api('GET', '/api/users/invites')).body[0]).toMatchObject({ status: 'accepted' });
  });

  it('is worth nothing when it is over, taken back, guessed, or for another name', async () => {
    const late = await invite({ expires_in_hours: 1 });
    await fleet.clock.advance(3_600_000);
    expect((await accept(late.token)).status).toBe(404);
    const back = await invite();
    expect((await fleet.api('DELETE', `/api/users/invites/${back.id}`)).status).toBe(200);
    expect((await accept(back.token)).status).toBe(404);
    expect((await accept('dri_guess')).status).toBe(404);
    const named = await invite({ username: 'grace' });
    expect((await accept(named.token)).body.error.message).toContain('grace');
    expect((await accept(named.token, { username: undefined })).body.username).toBe('grace');
    for (let i = 0; i < 20; i++) await accept('dri_guess');
    expect((await accept('dri_guess')).status).toBe(429);
  });

  it('is refused a weak password and a name that is taken, and can then still be used', async () => {
    const { token } = await invite();
    expect((await accept(token, { password: 'short' })).status).toBe(400);
    expect((await accept(token, { confirm_password: 'other thing' })).status).toBe(400);
    expect((await accept(token, { username: 'admin' })).status).toBe(409);
    expect((await accept(token, { username: 'a b' })).status).toBe(422);
    expect((await accept(token)).status).toBe(200);
  });
});

describe('a person', () => {
  it(verifies('R44')('given another role has to sign in again and may do what the new one may'), async () => {
    const token = await person('ada', 'operator');
    expect((await as(token, 'POST', '/api/fleet/pause')).status).toBe(200);
    expect((await fleet.api('PUT', '/api/users/ada', { role: 'viewer' })).body).toMatchObject({ role: 'viewer' });
    expect((await as(token, 'GET', '/api/users/me')).status).toBe(401);
    const again = (await signIn('ada', 'long enough')).access_token;
    expect((await as(again, 'POST', '/api/fleet/resume')).status).toBe(403);
    expect((await as(again, 'GET', '/api/agents')).status).toBe(200);
  });

  it(verifies('R44')('removed is out at once, keys too, and the agents stay with who removed'), async () => {
    const token = await person('ada', 'operator');
    const { key } = (await as(token, 'POST', '/api/mcp/keys', { name: 'ci' })).body;
    await as(token, 'POST', '/api/agents', { name: 'hers', adapter: 'command', command: ['cat'] });
    expect((await as(key, 'GET', '/api/agents')).status).toBe(200);
    const gone = await fleet.api('DELETE', '/api/users/ada');
    expect(gone.body).toMatchObject({ keys: 1, agents: 1 });
    for (const t of [token, key]) expect((await as(t, 'GET', '/api/agents')).status).toBe(401);
    expect((await signIn('ada', 'long enough')).error.code).toBe('bad_login');
    expect((await fleet.api('GET', '/api/agents/hers')).body.owner).toBe('admin');
    expect((await fleet.api('DELETE', '/api/users/ada')).status).toBe(404);
  });

  it('who forgot the password gets a new one from an owner; admin can be neither removed nor demoted', async () => {
    await person('ada', 'viewer');
    expect((await fleet.api('POST', '/api/users/ada/password', { new_password: 'short' })).status).toBe(400);
    await fleet.api('POST', '/api/users/ada/password', { new_password: 'another one' });
    expect((await signIn('ada', 'another one')).access_token).toBeDefined();
    expect((await fleet.api('DELETE', '/api/users/admin')).status).toBe(403);
    expect((await fleet.api('PUT', '/api/users/admin', { role: 'viewer' })).status).toBe(403);
    expect((await fleet.api('POST', '/api/users', { username: 'ada', password: 'long enough' })).status).toBe(409);
    expect(
      (await fleet.api('POST', '/api/users', { username: 'x', password: 'long enough', role: 'king' })).status,
    ).toBe(422);
  });
});

/** What a viewer may send without changing anything of the fleet: about oneself, or a question. */
const viewersMaySend = [
  'post /api/logout',
  'post /api/password',
  'post /api/mcp/validate',
  'post /api/mcp/keys/{id}/revoke',
  'delete /api/mcp/keys/{id}',
  'post /api/schedules/preview',
  // For agents; a person who asks is refused inside.
  'post /api/operator-queue',
  'post /api/operator-queue/{id}/await',
];

describe('every route', () => {
  const may: Record<string, string[]> = {
    anyone: ['owner', 'operator', 'viewer'],
    signed_in: ['owner', 'operator', 'viewer'],
    read: ['owner', 'operator', 'viewer'],
    view: ['owner', 'operator', 'viewer'],
    submit: ['owner', 'operator'],
    operate: ['owner', 'operator'],
    own: ['owner'],
    run: [],
  };
  it(verifies('R44')(
    'is refused to each role that may not use it, before anything else is looked at, and to strangers',
  ), async () => {
    const roles = ['operator', 'viewer'] as const;
    const tokens = new Map<string, string>();
    for (const role of roles) tokens.set(role, await person(role, role));
    const { paths } = (await fleet.api('GET', '/openapi.json')).body as {
      paths: Record<string, Record<string, { 'x-needs': string }>>;
    };
    const sent: string[] = [];
    const wrong: string[] = [];
    let tried = 0;
    for (const [path, methods] of Object.entries(paths))
      for (const [method, operation] of Object.entries(methods)) {
        const needs = operation['x-needs'];
        const allowed = may[needs];
        if (allowed === undefined) throw new Error(`${method} ${path} needs ${needs}: not in the table`);
        if (allowed.includes('viewer') && needs !== 'anyone' && method !== 'get') sent.push(`${method} ${path}`);
        const url = path.replace(/\{\w+\}/g, 'none');
        const stranger = (await as(null, method.toUpperCase(), url)).status;
        if (needs !== 'anyone' && stranger !== 401) wrong.push(`stranger ${method} ${path}: ${stranger}`);
        for (const role of roles) {
          if (allowed.includes(role)) continue;
          tried++;
          const { status } = await as(tokens.get(role)!, method.toUpperCase(), url);
          if (status !== 403) wrong.push(`${role} ${method} ${path}: ${status}`);
        }
      }
    expect(wrong).toEqual([]);
    expect(tried).toBeGreaterThan(60);
    expect(sent.sort()).toEqual([...viewersMaySend].sort());
  }, 60_000);
});

describe('the audit', () => {
  it('is filtered, paged and exported, and a cell cannot become a formula', async () => {
    const ada = await person('ada', 'operator');
    await as(ada, 'POST', '/api/agents', { name: 'one', adapter: 'command', command: ['cat'] });
    await as(ada, 'POST', '/api/agents', { name: 'two', adapter: 'command', command: ['cat'] });
    await as(ada, 'PUT', '/api/settings/x', {});
    const get = async (query: string) => (await fleet.api('GET', `/api/audit?${query}`)).body;
    expect(await get('by=ada')).toMatchObject([
      { action: 'agent.create', target: 'two', by_name: 'ada' },
      { action: 'agent.create', target: 'one' },
    ]);
    expect((await get('action=agent')).length).toBe(2);
    expect(await get('action=user.create&target=ada')).toHaveLength(1);
    const [first] = await get('limit=1');
    expect((await get(`limit=1&before=${first.id}`))[0].id < first.id).toBe(true);
    expect(await get(`until=${new Date(0).toISOString()}`)).toEqual([]);
    expect((await fleet.api('GET', '/api/audit?since=yesterday')).status).toBe(422);
    const csv = await fleet.api('GET', '/api/audit/export?action=agent');
    expect(csv.headers['content-type']).toContain('text/csv');
    const lines = csv.text.trim().split('\r\n');
    expect(lines[0]).toBe('id,at,by,by_name,action,target,data');
    expect(lines).toHaveLength(3);
    expect(lines[1]).toContain('agent.create,two,"{""adapter"":""command""}"');
    await fleet.api('POST', '/api/mcp/keys', { name: '=1+1' });
    expect((await fleet.api('GET', '/api/audit/export?action=key.create')).text).toContain(",'=1+1,");
    const json = await fleet.api('GET', '/api/audit/export?format=json&by=ada');
    expect(
      json.text
        .trim()
        .split('\n')
        .map((l) => JSON.parse(l).target),
    ).toEqual(['two', 'one']);
  });
});
