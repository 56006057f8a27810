/** Who comes in at all: what is answered before a route is reached, and in which order. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, openFleet } from '../../test/support/fleet.ts';
import { as, bare } from '../../test/support/stranger.ts';
import { verifies } from '../../test/support/verifies.ts';
import { executionBearer } from '../contract/principal.ts';

describe('the gate', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await openFleet();
  });
  afterAll(() => fleet.end());

  it(verifies('R44')('answers 401 before 404 and before it reads a body'), async () => {
    for (const [method, url] of [
      ['GET', '/api/agents'],
      ['GET', '/api/no-such-thing'],
      ['GET', '/api'],
      ['GET', '/api/agents/nobody'],
      ['POST', '/api/agents/nobody/chat'],
      ['DELETE', '/api/agents/nobody'],
    ] as const) {
      const answer = await bare(fleet, method, url, {
        payload: method === 'POST' ? '{not json' : undefined,
        headers: method === 'POST' ? { 'content-type': 'application/json' } : {},
      });
      expect([method, url, answer.statusCode]).toEqual([method, url, 401]);
      expect(answer.json().error).toMatchObject({ code: 'unauthorized', retryable: false });
      expect(answer.headers).toMatchObject({ 'x-drover-error-code': 'unauthorized', 'x-trinity-error-code': 'auth' });
    }
  });

  it('answers 401 to a token that it does not know, of whatever form', async () => {
    for (const token of ['x', 'drover_unknown', 'drs_unknown', executionBearer('0abc', 'token')])
      expect(await as(fleet, token, 'GET', '/api/agents').then((a) => [a.statusCode, a.json().detail])).toEqual([
        401,
        expect.stringContaining('This token is not known'),
      ]);
    const basic = await bare(fleet, 'GET', '/api/agents', { headers: { authorization: 'Basic YWRtaW46YWRtaW4=' } });
    expect(basic.statusCode).toBe(401);
  });

  it('answers the uniform 404 with a token, for unknown paths, agents and executions alike', async () => {
    for (const url of [
      '/api/no-such-thing',
      '/api/agents/nobody',
      '/api/executions/nobody',
      '/api/agents/nobody/info',
    ]) {
      const answer = await fleet.api('GET', url);
      expect([url, answer.status, answer.body.error.code]).toEqual([url, 404, 'not_found']);
      expect(typeof answer.body.detail).toBe('string');
    }
  });

  it('answers the same to a path that cannot be decoded or is endless', async () => {
    for (const url of ['/api/agents/%', '/api/%c0%ae', `/api/agents/${'a'.repeat(600)}`]) {
      const answer = await fleet.api('GET', url);
      expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
      expect((await bare(fleet, 'GET', url)).statusCode).toBe(401);
    }
  });

  it('answers 422 to bad JSON and to a missing field, and names the field', async () => {
    const bad = await fleet.app.inject({
      method: 'POST',
      url: '/api/agents',
      headers: { authorization: `Bearer ${fleet.owner}`, 'content-type': 'application/json' },
      payload: '{"name": ',
    });
    expect([bad.statusCode, bad.json().error.code]).toEqual([422, 'invalid_json']);
    expect(bad.json().detail).toBe('The body is not valid JSON.');
    const missing = await fleet.api('POST', '/api/agents', { adapter: 'claude' });
    expect([missing.status, missing.body.error.code]).toEqual([422, 'invalid']);
    expect(missing.body.error.details).toMatchObject([{ field: 'name' }]);
    expect(missing.body.detail).toBe('name: is missing');
  });

  it('refuses a body that would change the prototype of an object', async () => {
    const answer = await fleet.app.inject({
      method: 'POST',
      url: '/api/agents',
      headers: { authorization: `Bearer ${fleet.owner}`, 'content-type': 'application/json' },
      payload: '{"name": "a", "__proto__": {"x": 1}}',
    });
    expect(answer.statusCode).toBe(422);
  });

  it(verifies('R44')('takes a form at the sign-in alone; every other route says what to send'), async () => {
    const { paths } = (await fleet.api('GET', '/openapi.json')).body as { paths: Record<string, object> };
    let asked = 0;
    for (const [path, methods] of Object.entries(paths))
      for (const method of Object.keys(methods).filter((m) => m !== 'get')) {
        // A webhook takes what its sender sends; runners have bodies of their own.
        if (/^\/(api\/)?token$|^\/api\/(runner|webhooks)\//.test(path)) continue;
        const answer = await bare(fleet, method.toUpperCase(), path.replaceAll(/\{[^}]+\}/g, 'x'), {
          payload: 'name=a&message=b&password=long-enough&confirm_password=long-enough',
          headers: { authorization: `Bearer ${fleet.owner}`, 'content-type': 'application/x-www-form-urlencoded' },
        });
        expect([method, path, answer.statusCode, answer.json().detail]).toEqual([
          method,
          path,
          415,
          'Send application/json.',
        ]);
        asked++;
      }
    expect(asked).toBeGreaterThan(40);
    const nothing = await bare(fleet, 'POST', '/api/fleet/resume', {
      payload: '',
      headers: { authorization: `Bearer ${fleet.owner}`, 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(nothing.statusCode).toBe(200);
  });

  it('takes an empty JSON body where no field is required, and a body of another type never', async () => {
    const empty = { authorization: `Bearer ${fleet.owner}`, 'content-type': 'application/json' };
    const paused = await fleet.app.inject({ method: 'POST', url: '/api/fleet/resume', headers: empty, payload: '' });
    expect(paused.statusCode).toBe(200);
    const plain = (payload: string) =>
      fleet.app.inject({
        method: 'POST',
        url: '/api/fleet/resume',
        headers: { ...empty, 'content-type': 'text/plain;charset=UTF-8' },
        payload,
      });
    expect((await plain('')).statusCode).toBe(200);
    expect((await plain('{}')).statusCode).toBe(415);
    const xml = await fleet.app.inject({
      method: 'POST',
      url: '/api/agents',
      headers: { ...empty, 'content-type': 'application/xml' },
      payload: '<a/>',
    });
    expect([xml.statusCode, xml.json().error.code]).toEqual([415, 'unsupported_media_type']);
  });

  it('answers 413 to a body that no message needs', async () => {
    const answer = await fleet.app.inject({
      method: 'POST',
      url: '/api/agents',
      headers: { authorization: `Bearer ${fleet.owner}`, 'content-type': 'application/json' },
      payload: `{"name": "${'x'.repeat(13 * 1024 * 1024)}"}`,
    });
    expect([answer.statusCode, answer.json().error.code]).toEqual([413, 'too_large']);
  });

  it('lets nobody but a runner speak the runner’s protocol, and a runner speak nothing else', async () => {
    expect((await fleet.api('POST', '/api/runner/claim', {})).status).toBe(403);
    const key = readFileSync(join(fleet.deps.config.home, 'runner.key'), 'utf8').trim();
    expect((await as(fleet, key, 'GET', '/api/agents')).statusCode).toBe(403);
    expect((await as(fleet, key, 'GET', '/api/auth/validate')).statusCode).toBe(200);
  });
});
