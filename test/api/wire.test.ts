/**
 * The wire as clients of this kind speak it, pinned: every route with its method, the fields it takes and the fields it gives. Names are
 * never changed; a field that is gone breaks somebody. Requests and declared answers are held against the OpenAPI document; the
 * answers about work, which are as wide as a row, against what a run really gives.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Fleet, openFleet } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

/** `METHOD path | fields taken | fields given`; a field in [] stands in the entries of a bare array. */
const wire = `
GET /health | | status timestamp uptime_s loop_lag_p99_ms
GET /ready | |
GET /metrics | |
GET /api/setup/status | | setup_completed
POST /api/setup/admin-password | password confirm_password setup_token | success
POST /token | username password | access_token token_type
POST /api/token | username password | access_token token_type
GET /api/auth/mode | | setup_completed
GET /api/auth/validate | | valid user
GET /api/users/me | | username email role
GET /api/agents | | [name status type owner is_owner is_shared is_system]
POST /api/agents | name adapter type model workspace executable command env resources max_parallel_tasks max_backlog_depth timeout_seconds custom_instructions permission_mode allowed_tools workspace_mode pool | name status type owner
GET /api/agents/{name} | | name status type owner is_owner is_shared is_system shares can_delete limits health
DELETE /api/agents/{name} | |
POST /api/agents/{name}/start | | message
POST /api/agents/{name}/stop | | message
GET /api/agents/{name}/logs | | logs
GET /api/agents/{name}/info | |
GET /api/agents/{name}/capacity | | max_parallel_tasks ceiling effective
PUT /api/agents/{name}/capacity | max_parallel_tasks | max_parallel_tasks ceiling effective
GET /api/agents/{name}/timeout | | execution_timeout_seconds ceiling effective
PUT /api/agents/{name}/timeout | execution_timeout_seconds | execution_timeout_seconds ceiling effective
GET /api/agents/{name}/model | | model
PUT /api/agents/{name}/model | model | model
GET /api/agents/{name}/files | | tree
GET /api/agents/{name}/files/download | |
POST /api/agents/{name}/chat | message model session |
POST /api/agents/{name}/task | message model allowed_tools system_prompt timeout_seconds max_turns async_mode priority resume_session_id parent_execution_id |
GET /api/agents/{name}/executions | |
GET /api/agents/{name}/executions/{id} | |
GET /api/agents/{name}/executions/{id}/log | |
GET /api/agents/{name}/executions/{id}/stream | |
POST /api/agents/{name}/executions/{id}/terminate | reason |
GET /api/executions | |
GET /api/executions/{id} | |
GET /api/executions/stats | |
POST /api/agents/{name}/fan-out | tasks max_concurrency timeout_seconds |
GET /api/agents/{name}/fan-out/{id} | |
GET /api/agents/{name}/queue | |
POST /api/agents/{name}/queue/clear | |
POST /api/agents/{name}/queue/release | |
GET /api/agents/{name}/chat/history | |
DELETE /api/agents/{name}/chat/history | |
GET /api/agents/{name}/chat/history/persistent | |
GET /api/agents/{name}/chat/sessions | |
GET /api/agents/{name}/chat/session | |
GET /api/agents/{name}/activities | |
GET /api/activities/timeline | |
GET /api/agents/{name}/activity | |
DELETE /api/agents/{name}/activity | |
GET /api/agents/{name}/activity/{tool} | |
GET /api/agents/{name}/schedules | | [id name cron_expression message enabled timezone description timeout_seconds overlap catch_up max_retries next_run_at last_run_at]
POST /api/agents/{name}/schedules | name cron_expression message enabled timezone description timeout_seconds overlap catch_up max_retries | id next_run_at last_run_at
GET /api/agents/{name}/schedules/{id} | | id name cron_expression next_run_at last_run_at
PUT /api/agents/{name}/schedules/{id} | name cron_expression message enabled timezone description timeout_seconds overlap catch_up max_retries | id
DELETE /api/agents/{name}/schedules/{id} | |
POST /api/agents/{name}/schedules/{id}/enable | |
POST /api/agents/{name}/schedules/{id}/disable | |
POST /api/agents/{name}/schedules/{id}/trigger | | status schedule_id execution_id
GET /api/agents/{name}/schedules/{id}/executions | |
GET /api/agents/{name}/schedules/{id}/preview | |
GET /api/agents/{name}/permissions | | source_agent permitted_agents available_agents
PUT /api/agents/{name}/permissions | permitted_agents | source_agent permitted_agents available_agents
POST /api/agents/{name}/permissions/{target} | |
DELETE /api/agents/{name}/permissions/{target} | |
POST /api/mcp/keys | name description scope | id name key
GET /api/mcp/keys | | [id name]
POST /api/mcp/keys/{id}/revoke | |
DELETE /api/mcp/keys/{id} | |
POST /api/mcp/validate | | valid user_id user_email key_name agent_name scope
POST /api/mcp/keys/ensure-default | |
GET /api/subscriptions | | [id name kind state until last_evidence max_parallel]
POST /api/subscriptions | name token kind max_parallel | id name kind state
DELETE /api/subscriptions/{id} | |
PUT /api/subscriptions/agents/{name} | |
DELETE /api/subscriptions/agents/{name} | |
GET /api/subscriptions/{id}/usage | |
GET /api/subscriptions/settings/auto-switch | | enabled
PUT /api/subscriptions/settings/auto-switch | enabled | enabled
GET /api/subscriptions/events | | [id at credential_id cause]
GET /api/operator-queue | | [id kind priority agent_name execution_id title evidence status]
POST /api/operator-queue/{id}/respond | answer | id status
POST /api/operator-queue/{id}/acknowledge | | id status
GET /api/ops/fleet/status | | timestamp summary agents
GET /api/ops/fleet/health | | overall critical_issues warnings healthy_agents
POST /api/ops/fleet/stop | | summary
POST /api/ops/fleet/restart | | summary
POST /api/ops/schedules/pause | |
POST /api/ops/schedules/resume | |
POST /api/ops/emergency-stop | |
GET /api/ops/alerts | | alerts
GET /api/ops/costs | |
GET /api/fleet/limits | | agent_call_limit queue_timeout_s ceiling running waiting_by_reason
PUT /api/fleet/limits | agent_call_limit queue_timeout_s | agent_call_limit queue_timeout_s ceiling
POST /api/fleet/pause | |
POST /api/fleet/resume | |
GET /api/incidents | | incidents
GET /api/executions/{id}/why | |
GET /api/runners | | [id host version isolation room last_seen]
POST /api/runners | labels slots | token
DELETE /api/runners/{id} | |
GET /api/users | | [username email role]
POST /api/users | username password role | username role
GET /api/users/invites | | [role status]
POST /api/users/invites | role | token
POST /api/logout | | success
POST /api/password | new_password | success
GET /api/audit | | [at by action target]
GET /api/agents/{name}/webhooks | | [id name]
POST /api/agents/{name}/webhooks | name message | token
POST /api/webhooks/{token} | | execution_id
GET /api/templates | | [name]
POST /api/apply | manifest dry_run | plan result errors
GET /api/export | |
GET /api/budgets | | budgets
PUT /api/budgets | | budgets
GET /api/costs | |
POST /api/backup | |
GET /api/backups | |
GET /api/settings | | [key value]
GET /api/settings/{key} | | key value
PUT /api/settings/{key} | value | key value
DELETE /api/settings/{key} | |
GET /api/settings/api-keys | | anthropic
PUT /api/settings/api-keys/{provider} | api_key | anthropic
DELETE /api/settings/api-keys/{provider} | |
POST /api/settings/api-keys/{provider}/test | api_key | valid
GET /api/credentials | | [id name names]
POST /api/credentials | | id names
DELETE /api/credentials/{id} | |
POST /api/credentials/bulk | |
POST /api/agents/{name}/credentials/hot-reload | |
GET /api/agents/{name}/credentials/status | |
GET /api/observability/status | | enabled
GET /api/observability/metrics | | enabled totals
GET /api/version | | version
GET /api/doctor | | ok checks
GET /api/events | |
POST /api/runner/claim | room labels |
POST /api/runner/attempts/{id}/begin | token |
POST /api/runner/renew | |
POST /api/runner/attempts/{id}/events | |
POST /api/runner/attempts/{id}/facts | token facts |
`;

interface Schema {
  type?: string;
  properties?: Record<string, unknown>;
  items?: Schema;
  anyOf?: Schema[];
}
type Content = { content?: { 'application/json'?: { schema: Schema } } };
interface Operation {
  requestBody?: Content;
  responses: Record<string, Content>;
}

let fleet: Fleet;
let paths: Record<string, Record<string, Operation>> = {};
beforeAll(async () => {
  fleet = await openFleet();
  paths = (await fleet.api('GET', '/openapi.json')).body.paths;
});
afterAll(() => fleet.end());

const schemaOf = (content: Content | undefined): Schema => content?.content?.['application/json']?.schema ?? {};
/** Of an object, or of any of the shapes it may have. */
const propertiesOf = (schema: Schema): string[] => [
  ...Object.keys(schema.properties ?? {}),
  ...(schema.anyOf ?? []).flatMap(propertiesOf),
];

const lines = wire
  .trim()
  .split('\n')
  .map((line) => {
    const [route = '', taken = '', given = ''] = line.split('|').map((part) => part.trim());
    const [method = '', path = ''] = route.split(' ');
    const words = (text: string) => text.replaceAll(/[[\]]/g, '').split(' ').filter(Boolean);
    return { method, path, taken: words(taken), given: words(given), bare: given.startsWith('[') };
  });

describe('the wire', () => {
  it.each(lines)('$method $path', ({ method, path, taken, given, bare }) => {
    const op = paths[path]?.[method.toLowerCase()];
    if (op === undefined) throw new Error(`There is no ${method} ${path}.`);
    expect(propertiesOf(schemaOf(op.requestBody))).toEqual(expect.arrayContaining(taken));
    if (given.length === 0) return;
    const [, answer] = Object.entries(op.responses).find(([status]) => status.startsWith('2'))!;
    const schema = schemaOf(answer);
    expect(bare).toBe(schema.type === 'array');
    expect(propertiesOf(bare ? schema.items! : schema)).toEqual(expect.arrayContaining(given));
  });

  it(verifies('R13')('what a run gives: chat, task, rows, log, queue, history, activities'), async () => {
    await fleet.api('POST', '/api/agents', { name: 'writer', adapter: 'command', command: ['cat'] });
    const fields = (answer: Answer, status: number, ...names: string[]) => {
      expect([answer.status, Object.keys(answer.body)]).toEqual([status, expect.arrayContaining(names)]);
      return answer.body;
    };
    const get = (path: string) => fleet.api('GET', `/api/agents/writer${path}`);
    const work = ['response', 'session_id', 'timestamp', 'metadata', 'execution_log', 'execution'];
    const asked = fleet.api('POST', '/api/agents/writer/chat', { message: 'hello' });
    const [claim] = await fleet.until(
      () => fleet.runner.claim(1),
      (claims) => claims.length > 0,
    );
    const id = claim!.execution_id;
    await fleet.runner.begin(claim!);
    fields(await get('/queue'), 200, 'agent_name', 'is_busy', 'current_execution', 'queue_length', 'queued_executions');
    await fleet.runner.log(claim!, [{ type: 'output', stream: 'stdout', text: 'hi' }]);
    await fleet.runner.finish(claim!, { stream: { response: 'hi' } });
    const chat = fields(await asked, 200, ...work);
    expect(Object.keys(chat.metadata)).toEqual(
      expect.arrayContaining(['cost_usd', 'duration_ms', 'num_turns', 'input_tokens', 'output_tokens']),
    );
    expect(chat.execution).toMatchObject({ id, queue_status: expect.any(String), was_queued: expect.any(Boolean) });

    const accepted = fields(
      await fleet.api('POST', '/api/agents/writer/task', { message: 'later', async_mode: true }),
      202,
      'status',
      'execution_id',
      'agent_name',
      'message',
      'async_mode',
    );
    expect(accepted).toMatchObject({ async_mode: true, agent_name: 'writer', message: expect.any(String) });
    const ended = fields(
      await fleet.api('POST', `/api/agents/writer/executions/${accepted.execution_id}/terminate`),
      200,
      'status',
    );
    expect(ended.status).toBe('cancelled_while_queued');

    const row = [
      'id',
      'agent_name',
      'status',
      'message',
      'response',
      'error',
      'cause',
      'verdict',
      'secondary',
      'attention',
    ];
    const times = [
      'started_at',
      'completed_at',
      'queued_at',
      'duration_ms',
      'triggered_by',
      'cost',
      'context_used',
      'context_max',
    ];
    fields(await get(`/executions/${id}`), 200, ...row, ...times, 'attempts', 'wait');
    expect((await get('/executions?limit=1')).body).toHaveLength(1);
    fields(await get(`/executions/${id}/log`), 200, 'execution_id', 'has_log', 'log');
    fields(await get('/chat/history/persistent'), 200, 'agent_name', 'message_count', 'messages');
    fields(await get('/chat/sessions'), 200, 'session_count', 'sessions');
    expect((await get('/chat/history')).body[0]).toMatchObject({
      role: 'user',
      content: 'hello',
      timestamp: expect.any(String),
    });
    const { activities } = fields(await get('/activities'), 200, 'agent_name', 'count', 'activities');
    expect(Object.keys(activities[0])).toEqual(
      expect.arrayContaining([
        'id',
        'agent_name',
        'activity_type',
        'activity_state',
        'started_at',
        'triggered_by',
        'details',
      ]),
    );
    fields(await get('/activity'), 200, 'status', 'active_tool', 'tool_counts', 'timeline');
    fields(await fleet.api('POST', '/api/agents/writer/queue/release'), 200, 'was_running');
    fields(await fleet.api('GET', '/api/executions'), 200, 'executions');
    const fan = await fleet.api(
      'POST',
      '/api/agents/writer/fan-out',
      { tasks: [{ id: 'a', message: 'x' }] },
      { prefer: 'wait=0' },
    );
    expect(fan.body.status).toBe('running');
  });

  it('times and filters older clients send: a time without a zone is UTC, a type that has no activity matches none', async () => {
    const old = '?start_time=1990-01-01T00:00:00&end_time=1990-01-02';
    expect((await fleet.api('GET', `/api/activities/timeline${old}`)).body).toEqual({ count: 0, activities: [] });
    const types = '?activity_types=agent_collaboration,schedule_start,schedule_end,chat_start,chat_end';
    expect((await fleet.api('GET', `/api/activities/timeline${types}`)).status).toBe(200);
    const wrong = await fleet.api('GET', '/api/activities/timeline?start_time=yesterday');
    expect([wrong.status, wrong.body.detail]).toEqual([422, expect.stringContaining('2026-11-30T08:00:00Z')]);
  });

  it('what narrows a stop of the fleet and is not known stops nobody', async () => {
    await fleet.api('POST', '/api/agents', { name: 'lone', adapter: 'command', command: ['cat'] });
    for (const path of ['fleet/stop', 'fleet/restart', 'schedules/pause', 'schedules/resume', 'emergency-stop']) {
      const answer = await fleet.api('POST', `/api/ops/${path}?agent_nam=lone`);
      expect([path, answer.status, answer.body.detail]).toEqual([path, 422, expect.stringContaining('agent_nam')]);
    }
    const none = await fleet.api('POST', '/api/ops/fleet/stop?system_prefix=nobody-');
    expect(none.body).toMatchObject({ agents: [], summary: { total: 0, successes: 0 }, results: [] });
    expect((await fleet.api('GET', '/api/agents/lone')).body.status).toBe('running');
    const one = await fleet.api('POST', '/api/ops/fleet/stop?system_prefix=lo');
    expect(one.body).toMatchObject({ agents: ['lone'], results: [{ agent: 'lone', result: 'success' }] });
  });

  it('a permission says what became of it; an agent needs none for itself', async () => {
    await fleet.api('POST', '/api/agents', { name: 'caller', adapter: 'command', command: ['cat'] });
    await fleet.api('POST', '/api/agents', { name: 'callee', adapter: 'command', command: ['cat'] });
    const ask = async (method: string, path = '', body?: object) =>
      (await fleet.api(method, `/api/agents/caller/permissions${path}`, body)).body;
    expect(await ask('PUT', '', { permitted_agents: [] })).toMatchObject({ status: 'updated', permitted_count: 0 });
    expect((await ask('POST', '/callee')).status).toBe('added');
    expect((await ask('POST', '/callee')).status).toBe('already_exists');
    expect((await ask('DELETE', '/callee')).status).toBe('removed');
    expect((await ask('DELETE', '/callee')).status).toBe('not_found');
    expect((await fleet.api('POST', '/api/agents/caller/permissions/caller')).status).toBe(422);
  });
});
