/**
 * A small installation for the suite: an engine, a clock the test owns, and the few sentences the tests speak. Every limit has a
 * value that does not bind unless a test sets it.
 */
import { anAgent, anEnqueue } from '../../../test/support/rows.ts';
import type { AgentRow } from '../../contract/agent.ts';
import type { CredentialRow } from '../../contract/credential.ts';
import { isRefusal, type Refusal } from '../../contract/errors.ts';
import type { ExecutionRequest, ExecutionRow } from '../../contract/execution.ts';
import { emptyFacts, type Facts } from '../../contract/facts.ts';
import type { RunnerRoom } from '../../contract/runner-protocol.ts';
import type { Decision, Verdict } from '../../contract/verdict.ts';
import type { RunnerAbout } from '../rows.ts';
import type {
  ClaimLimits,
  ClaimRow,
  EnqueueArgs,
  FanOutArgs,
  ReadVerbs,
  SettleArgs,
  WriteVerbs,
  Written,
} from '../store.ts';
import type { EngineUnderTest, OpenEngine } from './engine.ts';

const GB = 1024 ** 3;
export const room: RunnerRoom = {
  slots: 100,
  memory_total: 64 * GB,
  memory_available: 60 * GB,
  disk_total: 500 * GB,
  disk_available: 400 * GB,
};
export const leaseMs = 45_000;
export const about: RunnerAbout = { host: 'h1', boot_id: 'b1', version: '1', isolation: 'none', cgroup: 'none' };

export interface House {
  engine: EngineUnderTest;
  now(): number;
  pass(ms: number): void;
  /** The wall clock alone. */
  jump(ms: number): void;
  limits: ClaimLimits;
  write<V extends keyof WriteVerbs>(verb: V, args: WriteVerbs[V][0]): Promise<WriteVerbs[V][1]>;
  written<V extends keyof WriteVerbs>(verb: V, args: WriteVerbs[V][0]): Promise<Written<V>>;
  read<V extends keyof ReadVerbs>(verb: V, args: ReadVerbs[V][0]): Promise<ReadVerbs[V][1]>;
  agent(name: string, over?: Partial<AgentRow>): Promise<AgentRow>;
  credential(id: string, over?: Partial<CredentialRow>): Promise<CredentialRow>;
  ask(agent: string, request?: Partial<ExecutionRequest>, over?: Partial<EnqueueArgs>): Promise<ExecutionRow | Refusal>;
  enqueueArgs(agent: string, request?: Partial<ExecutionRequest>, over?: Partial<EnqueueArgs>): EnqueueArgs;
  submit(agent: string, request?: Partial<ExecutionRequest>, over?: Partial<EnqueueArgs>): Promise<ExecutionRow>;
  /** Many at once, as one group. */
  submitMany(all: { agent: string; request?: Partial<ExecutionRequest> }[]): Promise<void>;
  /** A batch of tasks of one agent. */
  fanOut(agent: string, tasks: number, over?: Partial<FanOutArgs>): Promise<ExecutionRow[]>;
  /** A call of a running execution: submitted with its token and waited for. */
  call(from: ClaimRow, agent: string, request?: Partial<ExecutionRequest>): Promise<ExecutionRow>;
  claim(max?: number, over?: { runner_id?: string; room?: Partial<RunnerRoom> }): Promise<ClaimRow[]>;
  /** Claims one and begins it. */
  start(over?: { runner_id?: string; room?: Partial<RunnerRoom> }): Promise<ClaimRow>;
  begin(claim: ClaimRow): Promise<WriteVerbs['begin'][1]>;
  settle(claim: ClaimRow, over?: SettleOver): Promise<WriteVerbs['settle'][1]>;
  status(id: string): Promise<ExecutionRow['status']>;
  row(id: string): Promise<NonNullable<ReadVerbs['execution'][1]>>;
  reason(id: string): Promise<string | null>;
  id(): string;
  end(): Promise<void>;
}
interface SettleOver extends Partial<Omit<SettleArgs, 'facts' | 'verdict' | 'attempt_id' | 'token'>> {
  facts?: Partial<Omit<Facts, 'stream'>> & { stream?: Partial<Facts['stream']> };
  verdict?: Partial<Verdict>;
}

const success: Verdict = {
  cause: 'success',
  secondary: [],
  mechanism: null,
  confidence: 'proven',
  tier: 'structured',
  evidence: [],
  retryable: false,
  switch_credential: false,
  reset_at: null,
  message: '',
  attention: [],
};
const ended: Decision = { kind: 'end', status: 'success' };

export const failed = (cause: Verdict['cause'], message = cause): Pick<SettleOver, 'verdict' | 'decision'> => ({
  verdict: { cause, message },
  decision: { kind: 'end', status: 'failed' },
});

export const openHouse = async (open: OpenEngine): Promise<House> => {
  const engine = await open();
  let [wall, steady, n] = [1_760_000_000_000, 1_760_000_000_000, 0];
  const agents = new Map<string, AgentRow>();
  const id = () => `id${String(++n).padStart(8, '0')}`;
  const written: House['written'] = (verb, args) =>
    engine.write(verb, { ...args, now: wall, steady } as Parameters<typeof engine.write<typeof verb>>[1]);
  const write: House['write'] = async (verb, args) => (await written(verb, args)).result;
  const limits: ClaimLimits = { agent_call_limit: 100, max_depth: 8, memory_floor: 0.1, disk_floor_bytes: 2 * GB };

  const enqueue = (
    agent: string,
    request: Partial<ExecutionRequest> = {},
    over: Partial<EnqueueArgs> = {},
  ): EnqueueArgs => ({
    ...anEnqueue(
      { id: id(), agent_id: agents.get(agent)?.id ?? 'nobody', max_depth: limits.max_depth, fresh_session_id: id() },
      { agent_name: agent, class: 'interactive', durable: false, ...request },
    ),
    ...over,
  });
  const ask: House['ask'] = async (agent, request = {}, over = {}) => {
    const result = await write('enqueue', enqueue(agent, request, over));
    return isRefusal(result) ? result : result.execution;
  };
  const submit: House['submit'] = async (...args) => {
    const e = await ask(...args);
    if (isRefusal(e)) throw new Error(`refused: ${e.code}: ${e.message}`);
    return e;
  };
  const claim: House['claim'] = async (max = 1, over = {}) => {
    const { claims } = await write('claim_next', {
      runner_id: over.runner_id ?? 'r1',
      room: { ...room, ...over.room },
      about,
      max,
      lease_ms: leaseMs,
      fresh: Array.from({ length: max }, () => ({ attempt_id: id(), token: `token-${id()}` })),
      limits,
    });
    return claims;
  };
  const begin: House['begin'] = (c) => write('begin', { attempt_id: c.attempt_id, token: c.token, lease_ms: leaseMs });
  const row: House['row'] = async (eid) => {
    const found = await engine.read('execution', { id: eid });
    if (!found) throw new Error(`no execution ${eid}`);
    return found;
  };

  return {
    engine,
    now: () => wall,
    pass(ms) {
      wall += ms;
      steady += ms;
    },
    jump(ms) {
      wall += ms;
    },
    limits,
    write,
    written,
    read: (verb, args) => engine.read(verb, args),
    async agent(name, over = {}) {
      const made = await write('create_agent', {
        agent: anAgent({ id: `agent-${id()}`, name, created_at: wall, updated_at: wall, ...over }),
      });
      if (isRefusal(made)) throw new Error(made.message);
      agents.set(name, made);
      return made;
    },
    async credential(cid, over = {}) {
      const made = await write('put_credential', {
        credential: {
          id: cid,
          name: cid,
          kind: 'claude_oauth',
          sealed: 'x',
          max_parallel: null,
          pool: null,
          state: 'ok',
          until: null,
          last_evidence: null,
          last_used_at: null,
          created_at: wall,
          owner_id: null,
          agent_id: null,
          replaced_at: null,
          state_at: null,
          worked_at: null,
          pace: null,
          pace_at: null,
          headroom: null,
          ...over,
        },
      });
      if (isRefusal(made)) throw new Error(made.message);
      return made;
    },
    ask,
    enqueueArgs: enqueue,
    submit,
    submitMany: (all) =>
      engine.together(
        all.map((one) => ({
          verb: 'enqueue',
          args: { ...enqueue(one.agent, one.request ?? {}, {}), now: wall, steady },
        })),
      ),
    async fanOut(agent, tasks, over = {}) {
      const made = await write('enqueue_fan_out', {
        id: id(),
        agent_id: agents.get(agent)!.id,
        max_concurrency: tasks,
        items: Array.from({ length: tasks }, (_, i) => ({
          ...enqueue(agent, { triggered_by: 'fan_out' }, {}),
          item: `item-${i}`,
        })),
        caller: null,
        idempotency: null,
        open_call: null,
        ...over,
      });
      if (isRefusal(made)) throw new Error(`refused: ${made.code}: ${made.message}`);
      return made.executions;
    },
    async call(from, agent, request = {}) {
      const caller = { execution_id: from.execution.id, token: from.token };
      return submit(agent, { triggered_by: 'agent', ...request }, { caller, open_call: id() });
    },
    claim,
    async start(over) {
      const [c] = await claim(1, over);
      if (!c) throw new Error('nothing to claim');
      await begin(c);
      return c;
    },
    begin,
    settle: (c, over = {}) => {
      const { facts, verdict, ...rest } = over;
      const empty = emptyFacts('command');
      return write('settle', {
        attempt_id: c.attempt_id,
        token: c.token,
        facts: { ...empty, ...facts, stream: { ...empty.stream, ...facts?.stream } },
        verdict: { ...success, ...verdict },
        decision: ended,
        cost_usd: null,
        cost_kind: null,
        cost_estimated: false,
        operator_items: [],
        repeated: null,
        weather: null,
        login: null,
        seen: null,
        ...rest,
      });
    },
    status: async (eid) => (await row(eid)).status,
    row,
    reason: async (eid) => (await engine.read('waits', { execution_ids: [eid], limits }))[eid]?.reason ?? null,
    id,
    end: () => engine.end(),
  };
};
