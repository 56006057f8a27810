/** Adapter `http` through a whole runner: sent once, fetched by id, stopped when told; not reached is not accepted. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AgentService, startAgentService } from '../support/agent-service.ts';
import { type RunnerBench, runnerBench } from '../support/runner-bench.ts';
import { verifies } from '../support/verifies.ts';

let bench: RunnerBench;
let service: AgentService;
beforeEach(async () => {
  service = await startAgentService();
  bench = await runnerBench();
});
afterEach(async () => {
  await bench.end();
  await service.close();
});

const agent = () => ({ adapter: 'http' as const, base_url: service.url });
const good = {
  response: 'the answer',
  session_id: 's-9',
  status: 'success',
  metadata: { cost_usd: 0.25, num_turns: 3, input_tokens: 100, output_tokens: 20 },
  execution_log: [
    { type: 'assistant', message: { id: 'm', role: 'assistant', content: [{ type: 'text', text: 'hm' }] } },
  ],
};

it('takes an answer that comes at once, with its numbers and its log', async () => {
  service.onPost = () => ({ status: 200, body: good });
  const { claim, facts } = await bench.run({
    kind: 'chat',
    message: 'do it',
    cli_session_id: 's-8',
    credential: { id: 'c', kind: 'env', env: { TOKEN: 'token-of-the-service' } },
    agent: agent(),
  });
  expect(facts.http).toMatchObject({ accepted: true, status: 200, connect_error: null });
  expect(facts.stream).toMatchObject({
    cli: 'http',
    response: 'the answer',
    session_id: 's-9',
    cost_usd: 0.25,
    turns: 3,
    usage: { input_tokens: 100, output_tokens: 20 },
    result: { is_error: false },
  });
  expect(service.taken).toEqual([
    {
      path: '/api/chat',
      token: 'token-of-the-service',
      headers: expect.anything(),
      body: expect.objectContaining({ message: 'do it', resume_session_id: 's-8', execution_id: claim.execution_id }),
    },
  ]);
  expect(bench.server.log(claim.attempt).map((e) => e.event?.type)).toEqual(['assistant']);
});

it('fetches the result of accepted work by id, and sends nothing twice', async () => {
  const claim = bench.claim({ agent: agent() });
  bench.server.give(claim);
  await service.until(() => service.taken.length === 1);
  service.results.set(claim.execution_id, { status: 200, body: good });
  expect((await bench.facts(claim)).stream.response).toBe('the answer');
  expect(service.taken.map((t) => t.path)).toEqual(['/api/task']);
});

describe('a request that was not accepted', () => {
  it(verifies('R15')('is said to be so when nobody listens: the row may be queued again'), async () => {
    await service.close();
    const { facts } = await bench.run({ agent: agent() });
    expect(facts.http).toMatchObject({ accepted: false, connect_error: 'ECONNREFUSED' });
    expect(facts).toMatchObject({ spawned_at: null, exit_code: null });
    service = await startAgentService(service.port);
  });

  it(verifies('R15')('also when the connection broke and the service does not know the id'), async () => {
    service.onPost = () => 'drop';
    const { facts } = await bench.run({ agent: agent() });
    expect(facts.http).toMatchObject({ accepted: false });
    expect(service.taken).toEqual([]);
  });

  it(verifies('R15', 'R24')('but a connection that broke after the work was taken is followed by id'), async () => {
    service.onPost = () => 'take_and_drop';
    const claim = bench.claim({ agent: agent() });
    service.results.set(claim.execution_id, { status: 200, body: good });
    bench.server.give(claim);
    const facts = await bench.facts(claim);
    expect(facts.http).toMatchObject({ accepted: true, status: 200 });
    expect(service.taken).toHaveLength(1);
  });
});

it('keeps status, code and reason of a failure as they came', async () => {
  const body = {
    detail: { message: 'Killed', termination_reason: 'oom', metadata: { num_turns: 2 }, error_code: 'agent_error' },
  };
  service.onPost = () => ({ status: 504, body });
  const { facts } = await bench.run({ agent: agent() });
  expect(facts.http).toEqual({
    accepted: true,
    status: 504,
    error_code: 'agent_error',
    message: 'Killed',
    termination_reason: 'oom',
    connect_error: null,
  });
  expect(facts.stream.result).toBeNull();
});

it(verifies('R25')('is told to terminate on a cancel, and its partial result is kept'), async () => {
  const claim = bench.claim({ agent: agent() });
  bench.server.give(claim);
  await service.until(() => service.taken.length === 1);
  bench.server.stop(claim.attempt, 'cancel');
  await service.until(() => service.terminated.length === 1);
  service.results.set(claim.execution_id, { status: 200, body: { ...good, status: 'cancelled', response: 'so far' } });
  const facts = await bench.facts(claim);
  expect(facts.stop).toMatchObject({ reason: 'cancel' });
  expect(facts.stream).toMatchObject({ response: 'so far', result: null });
  expect(service.terminated).toEqual([claim.execution_id]);
});

it(verifies('R2', 'R24')('is found again by a restarted runner, which asks by id and sends nothing'), async () => {
  const claim = bench.claim({ agent: agent() });
  bench.server.give(claim);
  await service.until(() => service.taken.length === 1);
  await bench.runner.stop();
  service.results.set(claim.execution_id, { status: 200, body: good });
  await bench.another();
  const facts = await bench.facts(claim);
  expect(facts).toMatchObject({ runner_restarts: 1, http: { accepted: true, status: 200 } });
  expect(service.taken).toHaveLength(1);
});
