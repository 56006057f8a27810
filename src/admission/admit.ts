/**
 * Admission: the door between a request and the queue. Says yes with everything the queue needs, or no with a typed refusal
 * and nothing stored. Called by `flow/submit.ts` alone, for whatever asked: HTTP, CLI, MCP, schedule, webhook.
 *
 * Looks things up, changes nothing. What must hold at the instant of the insert (backlog, depth, idempotency, the
 * session, the caller's token) is checked again in the enqueue transaction, not here.
 */
import type { AgentRow } from '../contract/agent.ts';
import { type Refusal, refuse } from '../contract/errors.ts';
import { ExecutionRequest } from '../contract/execution.ts';
import { limits } from '../contract/limits.ts';
import type { Principal } from '../contract/principal.ts';
import { cleanText } from '../contract/text.ts';
import type { Store } from '../store/store.ts';
import { visibleAgent } from './visible.ts';

export interface Admitted {
  agent: AgentRow;
  /** The request as it will be stored: cleaned texts, the agent's real name, the caller's own id as parent. */
  request: ExecutionRequest;
  /** Set when an execution asks: the queue checks the token in its transaction. */
  caller: { execution_id: string; token: string } | null;
}

/** Reads only. */
interface Lookups {
  store: Pick<Store, 'read'>;
}

export const admit = async (
  deps: Lookups,
  asked: ExecutionRequest,
  principal: Principal,
): Promise<Admitted | Refusal> => {
  if (principal.kind === 'runner' || (principal.kind === 'user' && principal.role === 'viewer'))
    return refuse('forbidden', 'Your role may look, but not give work to agents.');

  const agent = await visibleAgent(deps.store, asked.agent_name, principal);
  if (agent === null) return refuse('not_found', `There is no agent "${shortened(asked.agent_name)}".`);

  if (!(await mayCall(deps, principal, agent)))
    return refuse(
      'call_not_permitted',
      `You may not call ${agent.name}. An operator can permit it, in the permissions of the agent you are.`,
    );

  const request = checked(asked);
  if ('refused' in request) return request;

  // With an idempotency key the queue decides: what was accepted before the stop is still given back.
  if (agent.desired_state === 'stopped' && request.idempotency_key === null)
    return refuse('agent_stopped', `Agent ${agent.name} is stopped. Start it: POST /api/agents/${agent.name}/start.`);

  const parent = await parentOf(deps, request, principal);
  if ('refused' in parent) return parent;

  return {
    agent,
    request: {
      ...request,
      ...(await resumed(deps, request, agent)),
      agent_name: agent.name,
      parent_execution_id: parent.id,
      triggered_by: fromAnAgent(principal) ? 'agent' : request.triggered_by,
    },
    caller: principal.kind === 'execution' ? { execution_id: principal.executionId, token: principal.token } : null,
  };
};

/** The request itself: sizes, bounds, texts. Nothing here needs the store. */
const checked = (asked: ExecutionRequest): ExecutionRequest | Refusal => {
  const parsed = ExecutionRequest.safeParse(asked);
  if (!parsed.success) {
    const details = parsed.error.issues.map((i) => ({ field: i.path.join('.') || 'body', problem: i.message }));
    return refuse('invalid', details.map((d) => `${d.field}: ${d.problem}`).join('; '), { details });
  }
  const request = parsed.data;
  const message = cleanText(request.message);
  if (message.trim() === '') return invalidField('message', 'is empty; say what the agent is to do');
  const bytes = Buffer.byteLength(message);
  if (bytes > limits.messageBytes)
    return refuse(
      'too_large',
      `The message has ${bytes} bytes; at most ${limits.messageBytes} are accepted. Put the text into a file of the workspace and name it in the message.`,
    );
  // These become arguments of a CLI: a value that reads as an option would change what the CLI does.
  for (const [field, value] of asArguments(request)) {
    if (/^\s*-/.test(value)) return invalidField(field, 'must not begin with "-"');
    if (value.includes('\0')) return invalidField(field, 'holds a NUL byte, which no program can be given');
  }
  return {
    ...request,
    message,
    options: {
      ...request.options,
      ...(request.options.system_prompt != null && { system_prompt: cleanText(request.options.system_prompt) }),
    },
  };
};

const asArguments = ({ options, resume_session_id }: ExecutionRequest): [string, string][] => [
  ...(options.model != null ? [['model', options.model] as [string, string]] : []),
  ...(resume_session_id !== null ? [['resume_session_id', resume_session_id] as [string, string]] : []),
  ...(options.allowed_tools ?? []).map((tool): [string, string] => ['allowed_tools', tool]),
];

const invalidField = (field: string, problem: string): Refusal =>
  refuse('invalid', `${field} ${problem}.`, { details: [{ field, problem }] });

/** `resume_session_id` may name a session of the CLI, or Drover's own for it: every answer's `session_id` can be resumed. */
const resumed = async (
  deps: Lookups,
  { resume_session_id }: ExecutionRequest,
  agent: AgentRow,
): Promise<Partial<Pick<ExecutionRequest, 'session_id' | 'resume_session_id'>>> => {
  if (resume_session_id === null) return {};
  const own = await deps.store.read('session', { id: resume_session_id });
  return own !== null && own.agent_id === agent.id ? { session_id: own.id, resume_session_id: null } : {};
};

/** Who has no list of its own may call every agent it sees; itself always. */
const mayCall = async (deps: Lookups, principal: Principal, agent: AgentRow): Promise<boolean> => {
  if ((principal.kind !== 'agent' && principal.kind !== 'execution') || principal.agentId === agent.id) return true;
  const targets = await deps.store.read('permissions', { agent_id: principal.agentId });
  return targets === null || targets.includes(agent.id);
};

/** An execution's parent is itself, whatever it says; an agent's key may name an execution of that agent. */
const parentOf = async (
  deps: Lookups,
  request: ExecutionRequest,
  principal: Principal,
): Promise<{ id: string | null } | Refusal> => {
  const named = request.parent_execution_id;
  if (principal.kind === 'execution') {
    if (named !== null && named !== principal.executionId)
      return refuse('call_not_permitted', 'An execution can call other agents only in its own name.');
    return { id: principal.executionId };
  }
  if (named === null) return { id: null };
  const parent = await deps.store.read('execution', { id: named });
  if (parent === null || (principal.kind === 'agent' && parent.agent_id !== principal.agentId))
    return refuse('not_found', `There is no execution "${shortened(named)}" to be the parent.`);
  return { id: parent.id };
};

const fromAnAgent = (p: Principal): boolean => p.kind === 'agent' || p.kind === 'execution';

/** Quoted back to the reader: enough to recognise it. */
const shortened = (text: string): string => (text.length > 80 ? `${cleanText(text.slice(0, 80))}…` : cleanText(text));
