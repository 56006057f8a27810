import { describe, expect, it } from 'vitest';
import { anAgent, aRequest } from '../../test/support/rows.ts';
import { verifies } from '../../test/support/verifies.ts';
import type { AgentRow } from '../contract/agent.ts';
import { isRefusal } from '../contract/errors.ts';
import type { ExecutionRequest } from '../contract/execution.ts';
import { limits } from '../contract/limits.ts';
import type { Principal } from '../contract/principal.ts';
import type { ReadVerbs, Store } from '../store/store.ts';
import { type Admitted, admit } from './admit.ts';

const agent = (name: string, over: Partial<AgentRow> = {}): AgentRow =>
  anAgent({ id: `id-${name}`, name, owner_id: 'u1', ...over });

const agents = [
  agent('writer'),
  agent('reader'),
  agent('idle', { desired_state: 'stopped' }),
  agent('stranger', { owner_id: 'u2' }),
];
const executions: Record<string, { id: string; agent_id: string }> = {
  e1: { id: 'e1', agent_id: 'id-reader' },
  e2: { id: 'e2', agent_id: 'id-writer' },
};
const sessions: Record<string, { id: string; agent_id: string }> = { s1: { id: 's1', agent_id: 'id-writer' } };

/** Whom an agent with a list of its own may call. */
const permitted: Record<string, string[]> = { 'id-idle': ['id-reader'] };

/** Only the lookups of admission, over plain rows. */
const store = {
  read: async (verb: keyof ReadVerbs, args: { name?: string; id?: string; agent_id?: string }) => {
    if (verb === 'agent_by_name') return agents.find((a) => a.name === args.name) ?? null;
    if (verb === 'execution') return executions[args.id!] ?? null;
    if (verb === 'session') return sessions[args.id!] ?? null;
    if (verb === 'permissions') return permitted[args.agent_id!] ?? null;
    throw new Error(`admission does not read ${verb}`);
  },
} as Pick<Store, 'read'>;

const operator: Principal = { kind: 'user', id: 'u1', name: 'admin', role: 'owner' };
const ask = (over: Partial<ExecutionRequest> = {}, principal: Principal = operator) =>
  admit({ store }, aRequest({ agent_name: 'writer', class: 'interactive', durable: false, ...over }), principal);
const admitted = async (...args: Parameters<typeof ask>): Promise<Admitted> => {
  const answer = await ask(...args);
  if (isRefusal(answer)) throw new Error(`refused: ${answer.message}`);
  return answer;
};
const code = async (...args: Parameters<typeof ask>): Promise<string> => {
  const answer = await ask(...args);
  return isRefusal(answer) ? answer.code : 'admitted';
};

describe('admission', () => {
  it('admits a good request with the agent it names, by its cleaned name', async () => {
    const { agent: found, request, caller } = await admitted({ agent_name: 'Writer!' });
    expect(found.id).toBe('id-writer');
    expect(request.agent_name).toBe('writer');
    expect(caller).toBeNull();
  });

  it('answers an unknown agent with not_found, before it looks at the message', async () => {
    expect(await code({ agent_name: 'nobody', message: '' })).toBe('not_found');
  });

  it('refuses a stopped agent and names how to start it', async () => {
    const answer = await ask({ agent_name: 'idle' });
    expect(answer).toMatchObject({ code: 'agent_stopped', message: expect.stringContaining('/api/agents/idle/start') });
  });

  it(verifies('D15')('leaves a stopped agent to the queue when there is a key: it may be a replay'), async () => {
    expect(await code({ agent_name: 'idle', idempotency_key: 'k' })).toBe('admitted');
  });

  it('refuses an empty message, also one of blanks alone', async () => {
    expect(await code({ message: '' })).toBe('invalid');
    expect(await code({ message: ' \n\t' })).toBe('invalid');
  });

  it(verifies('D37')('takes a message of 1 MB and refuses one over the limit, counted in bytes'), async () => {
    expect(await code({ message: 'x'.repeat(1024 * 1024) })).toBe('admitted');
    expect(await code({ message: 'x'.repeat(limits.messageBytes) })).toBe('admitted');
    expect(await code({ message: 'x'.repeat(limits.messageBytes + 1) })).toBe('too_large');
    expect(await code({ message: 'é'.repeat(limits.messageBytes / 2 + 1) })).toBe('too_large');
  });

  it(
    verifies('D37')('cleans NUL and half surrogates at the door, and keeps right-to-left text and ANSI codes'),
    async () => {
      const { request } = await admitted({
        message: 'a\0b\ud800 \u202eabc\u202c \u001b[31m',
        options: { system_prompt: 'p\0' },
      });
      expect(request.message).toBe('a\ufffdb\ufffd \u202eabc\u202c \u001b[31m');
      expect(request.options.system_prompt).toBe('p\ufffd');
    },
  );

  it('refuses timeouts outside the bounds and takes the bounds themselves', async () => {
    for (const bad of [limits.timeoutS.min - 1, limits.timeoutS.max + 1, 60.5])
      expect(await code({ timeout_s: bad })).toBe('invalid');
    for (const good of [limits.timeoutS.min, limits.timeoutS.max, null])
      expect(await code({ timeout_s: good })).toBe('admitted');
  });

  it('names the field of a bad option', async () => {
    expect(await ask({ options: { max_turns: 0 } })).toMatchObject({
      code: 'invalid',
      details: [{ field: 'options.max_turns' }],
    });
  });

  it('refuses values that a CLI would read as options', async () => {
    expect(await code({ options: { model: '--dangerously-skip-permissions' } })).toBe('invalid');
    expect(await code({ options: { allowed_tools: ['Read', ' -x'] } })).toBe('invalid');
    for (const nul of [
      { options: { model: 'a\0' } },
      { options: { allowed_tools: ['a\0'] } },
      { resume_session_id: 'a\0' },
    ])
      expect(await code(nul)).toBe('invalid');
    expect(await code({ resume_session_id: '-p' })).toBe('invalid');
    expect(await code({ options: { model: 'claude-x', allowed_tools: ['Bash(rm -rf:*)'] } })).toBe('admitted');
  });

  it('resumes a session by the id of the CLI or by its own', async () => {
    expect((await admitted({ resume_session_id: 's1' })).request).toMatchObject({
      session_id: 's1',
      resume_session_id: null,
    });
    const other = { session_id: null, resume_session_id: 's1' };
    expect((await admitted({ resume_session_id: 's1', agent_name: 'reader' })).request).toMatchObject(other);
    const cli = { session_id: null, resume_session_id: '0b1c-uuid' };
    expect((await admitted({ resume_session_id: '0b1c-uuid' })).request).toMatchObject(cli);
  });

  it('lets a viewer and a runner give no work', async () => {
    expect(await code({}, { kind: 'user', id: 'u3', name: 'v', role: 'viewer' })).toBe('forbidden');
    expect(await code({}, { kind: 'runner', id: 'r1' })).toBe('forbidden');
  });

  it(
    verifies('R44')('shows an agent the agents of its own owner only; another one is as good as unknown'),
    async () => {
      const reader: Principal = { kind: 'agent', agentId: 'id-reader', name: 'reader' };
      expect((await admitted({}, reader)).request.triggered_by).toBe('agent');
      expect(await code({ agent_name: 'stranger' }, reader)).toBe('not_found');
      // A key of an agent that was deleted and made again under its name is not that agent's.
      expect(await code({}, { ...reader, agentId: 'id-older' })).toBe('not_found');
    },
  );

  it(verifies('R44')('lets an agent call those of its own list alone, and itself'), async () => {
    const idle: Principal = { kind: 'agent', agentId: 'id-idle', name: 'idle' };
    expect(await code({ agent_name: 'reader' }, idle)).toBe('admitted');
    expect(await code({ agent_name: 'writer' }, idle)).toBe('call_not_permitted');
    expect(await code({ agent_name: 'idle' }, idle)).toBe('agent_stopped');
  });

  it('makes the calling execution the parent, and never another one', async () => {
    const caller: Principal = {
      kind: 'execution',
      executionId: 'e1',
      token: 't1',
      agentId: 'id-reader',
      name: 'reader',
    };
    const { request, caller: who } = await admitted({}, caller);
    expect(request.parent_execution_id).toBe('e1');
    expect(request.triggered_by).toBe('agent');
    expect(who).toEqual({ execution_id: 'e1', token: 't1' });
    expect(await code({ parent_execution_id: 'e2' }, caller)).toBe('call_not_permitted');
  });

  it('takes a parent that exists, and from the key of an agent only its own', async () => {
    const reader: Principal = { kind: 'agent', agentId: 'id-reader', name: 'reader' };
    expect((await admitted({ parent_execution_id: 'e1' }, reader)).request.parent_execution_id).toBe('e1');
    expect(await code({ parent_execution_id: 'e2' }, reader)).toBe('not_found');
    expect(await code({ parent_execution_id: 'e2' })).toBe('admitted');
    expect(await code({ parent_execution_id: 'gone' })).toBe('not_found');
  });
});
