/**
 * Every route of the OpenAPI document, asked wrongly in every way a client can: no sign-in, broken JSON, another content type, a body
 * that is no object, fields of every wrong type, ids and queries that mean nothing. None may fail by itself (5xx of ours), each
 * refusal has the one error body, and one about a field names it. New routes are walked the day they are registered.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errors } from '../../src/contract/errors.ts';
import { type Answer, type Fleet, openFleet } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

interface Operation {
  'x-needs': string;
  parameters: { name: string; in: string }[];
  requestBody?: {
    content: { 'application/json': { schema: { properties?: Record<string, unknown>; required?: string[] } } };
  };
}
interface Route {
  method: string;
  path: string;
  op: Operation;
}

let fleet: Fleet;
let routes: Route[] = [];
let runnerKey = '';
beforeAll(async () => {
  fleet = await openFleet();
  runnerKey = readFileSync(join(fleet.deps.config.home, 'runner.key'), 'utf8').trim();
  await fleet.api('POST', '/api/agents', { name: 'writer', adapter: 'command', command: ['cat'] });
  const { paths } = (await fleet.api('GET', '/openapi.json')).body as {
    paths: Record<string, Record<string, Operation>>;
  };
  routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, op]) => ({ method: method.toUpperCase(), path, op })),
  );
});
afterAll(() => fleet.end());

const at = (path: string, name = 'nope'): string =>
  path
    .replace('{name}', name)
    .replace('api-keys/{provider}', 'api-keys/openai')
    .replaceAll(/\{\w+\}/g, 'nope');
const fieldsOf = ({ op }: Route): string[] =>
  Object.keys(op.requestBody?.content['application/json'].schema.properties ?? {});
const withBody = () => routes.filter((r) => r.op.requestBody !== undefined && !takesForm(r));
/** The two that take a form beside JSON, and the one that takes whatever its sender sends. */
const takesForm = (r: Route) => ['/token', '/api/token'].includes(r.path);
const takesAnything = (r: Route) => r.path === '/api/webhooks/{token}' || r.path.endsWith('/events');
/** Answered by a stream or held open when asked rightly. */
const staysOpen = (r: Route) => r.path === '/api/events' || r.path.endsWith('/stream');
/** Asks a provider on the network about a text it is given. */
const asksOutside = (r: Route) => r.path.endsWith('/{provider}/test');

/** As whoever may: the runner's routes by a runner, all others by the owner. */
const ask = async (r: Route, url: string, payload?: string, headers: Record<string, string> = {}): Promise<Answer> => {
  const answer = await fleet.app.inject({
    method: r.method as 'POST',
    url,
    headers: {
      authorization: `Bearer ${r.op['x-needs'] === 'run' ? runnerKey : fleet.owner}`,
      'x-drover-runner-protocol': '1',
      // A right answer to work is its end; nobody waits for it here.
      prefer: 'wait=0',
      ...(payload !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(payload !== undefined && { payload }),
  });
  let body: Answer['body'] = null;
  try {
    body = JSON.parse(answer.payload);
  } catch {
    // Files, metrics, streams.
  }
  return { status: answer.statusCode, headers: answer.headers as Record<string, string>, text: answer.payload, body };
};

/** What is wrong with an answer as such; null: nothing. */
const fault = ({ status, headers, body, text }: Answer): string | null => {
  if (status < 400) return null;
  if (status === 500 || body?.error?.code === 'internal') return `failed: ${text.slice(0, 300)}`;
  if (typeof body?.error?.code !== 'string' || typeof body.error.message !== 'string' || body.detail === undefined)
    return `no error body: ${text.slice(0, 300)}`;
  if (typeof body.error.retryable !== 'boolean') return 'does not say whether to try again';
  if (headers['x-drover-error-code'] !== body.error.code) return 'the header has not the code';
  if (body.error.code in errors && errors[body.error.code as keyof typeof errors].status !== status)
    return `${body.error.code} with ${status}`;
  if (!/[.!?)\]]$|^setup_required$|: /.test(body.error.message)) return `no sentence: ${body.error.message}`;
  return null;
};

const wrong: unknown[] = [
  null,
  true,
  -1,
  1.5,
  1e300,
  '',
  '   ',
  'x',
  '\u0000',
  '\ud800',
  'y'.repeat(70_000),
  [],
  [null],
  {},
  { a: { b: [] } },
];
const label = (value: unknown): string => JSON.stringify(value)?.slice(0, 20) ?? 'undefined';

describe('every route, asked wrongly', () => {
  it('is in the document with whoever may use it', () => {
    expect(routes.length).toBeGreaterThan(100);
  });

  it(verifies('R44')('without a sign-in: 401 before anything is looked at, the body too'), async () => {
    for (const r of routes.filter((r) => r.op['x-needs'] !== 'anyone')) {
      const answer = await ask(r, at(r.path), r.method === 'GET' ? undefined : '{"broken', { authorization: '' });
      expect([r.method, r.path, answer.status, fault(answer)]).toEqual([r.method, r.path, 401, null]);
    }
  });

  it('with JSON that is none, or a body that is no object: 422 that says so', async () => {
    for (const r of withBody().filter((r) => !takesAnything(r)))
      for (const payload of ['{"broken', 'nope', '[]', '"text"', '7', 'true']) {
        const answer = await ask(r, at(r.path, 'writer'), payload);
        expect([r.method, r.path, payload, answer.status, fault(answer)]).toEqual([
          r.method,
          r.path,
          payload,
          422,
          null,
        ]);
      }
  });

  it('with a body of another type: 415 that names the right one, before the size matters', async () => {
    for (const r of withBody().filter((r) => !takesAnything(r)))
      for (const type of [
        'text/xml',
        'application/x-www-form-urlencoded',
        'text/plain',
        'multipart/form-data; boundary=x',
      ]) {
        const answer = await ask(r, at(r.path, 'writer'), 'a=b', { 'content-type': type });
        expect([r.method, r.path, type, answer.status, fault(answer)]).toEqual([r.method, r.path, type, 415, null]);
        expect(answer.body.error.message).toContain('application/json');
      }
  });

  it('with a body that is announced too large: 413, unread', async () => {
    for (const r of routes.filter((r) => r.op.requestBody !== undefined)) {
      const answer = await ask(r, at(r.path, 'writer'), '{}', { 'content-length': String(5e9) });
      expect([r.method, r.path, answer.status, fault(answer)]).toEqual([r.method, r.path, 413, null]);
    }
  });

  it('with an empty body where no field is required, and no body at all: never a refusal of the body', async () => {
    for (const r of routes.filter((r) => r.method !== 'GET' && !takesAnything(r))) {
      const required = r.op.requestBody?.content['application/json'].schema.required ?? [];
      if (required.length > 0 || r.path.startsWith('/api/runner')) continue;
      const answer = await ask(r, at(r.path), '', { 'content-type': 'application/json' });
      expect([r.method, r.path, fault(answer)]).toEqual([r.method, r.path, null]);
      expect([r.method, r.path, answer.body?.error?.code]).not.toEqual([r.method, r.path, 'invalid_json']);
    }
  });

  it('with a field of every wrong type: no failure of ours, and a refusal that names the field', async () => {
    const unnamed: string[] = [];
    for (const r of withBody().filter((r) => !asksOutside(r))) {
      for (const field of fieldsOf(r))
        for (const value of wrong) {
          const answer = await ask(r, at(r.path, 'writer'), JSON.stringify({ [field]: value }));
          const where = `${r.method} ${r.path} ${field}=${label(value)}`;
          expect([where, fault(answer)]).toEqual([where, null]);
          const { message } = answer.body?.error ?? {};
          // A value that happens to be right leaves what else is missing, which is named instead.
          const named = [...fieldsOf(r), 'line 1'].some((name) => message?.includes(name));
          if (answer.status === 422 && !named) unnamed.push(`${where}: ${message}`);
        }
      const unknown = await ask(
        r,
        at(r.path, 'writer'),
        JSON.stringify({ nonsense: 1, __proto__x: {}, constructor: 1 }),
      );
      expect([r.method, r.path, fault(unknown)]).toEqual([r.method, r.path, null]);
    }
    expect(unnamed).toEqual([]);
  });

  it('with queries that mean nothing: an answer or a refusal, never a failure', async () => {
    for (const r of routes.filter((r) => !staysOpen(r)))
      for (const p of r.op.parameters.filter((p) => p.in === 'query'))
        for (const value of ['', 'x', '-1', '1.5', '1e99', '%00', '../../etc', 'a'.repeat(3_000), '%ED%A0%80', '[]']) {
          const answer = await ask(
            r,
            `${at(r.path, 'writer')}?${p.name}=${value}`,
            r.method === 'GET' ? undefined : '{}',
          );
          const where = `${r.method} ${r.path}?${p.name}=${value.slice(0, 12)}`;
          expect([where, fault(answer)]).toEqual([where, null]);
          if (r.method === 'GET') {
            const twice = await ask(r, `${at(r.path, 'writer')}?${p.name}=${value}&${p.name}=2`);
            expect([where, 'twice', fault(twice)]).toEqual([where, 'twice', null]);
          }
        }
  });

  it('by a method it has not: 405 that names those it has', async () => {
    for (const path of new Set(routes.map((r) => r.path).filter((p) => p.startsWith('/api/')))) {
      const has = routes.filter((r) => r.path === path).map((r) => r.method);
      const answer = await fleet.api('PATCH', at(path));
      expect([path, answer.status, answer.body.error.code]).toEqual([path, 405, 'method_not_allowed']);
      for (const method of has) expect([path, answer.headers.allow]).toEqual([path, expect.stringContaining(method)]);
    }
    expect((await fleet.app.inject({ method: 'PATCH', url: '/api/agents' })).statusCode).toBe(401);
    expect((await fleet.api('PATCH', '/api/nothing')).status).toBe(404);
  });

  it('with names and ids that mean nothing: 404, and never a failure', async () => {
    const odd = [
      'nope',
      '%00',
      '%2e%2e%2f',
      '..%5c',
      '%F0%9F%A6%86',
      'a'.repeat(299),
      'a'.repeat(600),
      '-',
      "'; drop",
      '%zz',
    ];
    for (const r of routes.filter((r) => r.path.includes('{') && !takesAnything(r)))
      for (const id of odd) {
        const url = r.path.replaceAll(/\{\w+\}/g, encodeURI(id).replaceAll('%25', '%'));
        const answer = await ask(r, url, r.method === 'GET' || r.method === 'DELETE' ? undefined : '{}');
        const where = `${r.method} ${r.path} ${id.slice(0, 12)}`;
        expect([where, fault(answer)]).toEqual([where, null]);
        expect([where, answer.status >= 400 || r.path.includes('{key}')]).toEqual([where, true]);
      }
  });

  it('and the server is as it was: healthy, its invariants hold', async () => {
    expect((await fleet.api('GET', '/health')).body.status).toBe('healthy');
    expect((await fleet.api('GET', '/api/doctor')).body).toMatchObject({ ok: true });
  });
});
