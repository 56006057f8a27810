/**
 * Who asks for work in a history: people, who send again with the same key until they are answered, and the agents' processes,
 * which wait for what they ask and come back for it after a broken line, as the runner does.
 */
import { isRefusal, type Refusal } from '../../src/contract/errors.ts';
import type { ExecutionRequest } from '../../src/contract/execution.ts';
import type { Principal } from '../../src/contract/principal.ts';
import { give, giveMany, giveUp } from '../../src/flow/call.ts';
import { cancel } from '../../src/flow/cancel.ts';
import { submit } from '../../src/flow/submit.ts';
import { aRequest } from '../support/rows.ts';
import type { Proc } from './host.ts';
import type { Net } from './net.ts';
import type { Server } from './server.ts';

interface Asked {
  key: string;
  agent: string;
  /** Ids of the executions it was told; more than one would be work done twice. */
  told: Set<string>;
  refused: Refusal | null;
  answered: boolean;
}
interface Call {
  id: string;
  proc: Proc;
  /** How the process heard of its end. */
  heard: 'answer' | 'refusal' | 'given up' | null;
}

export interface Callers {
  asked: Asked[];
  calls: Call[];
  /** Executions that somebody asked to stop. */
  cancels: Set<string>;
  submit(agent: string, how: { wait: boolean; chat: boolean; batch: boolean; session: string | null }): void;
  cancel(id: string): void;
  call(proc: Proc, agents: string[], how: { many: boolean; boundMs: number | null; session: string | null }): void;
  giveUp(proc: Proc): void;
}

const callRequest = aRequest({ agent_name: '', triggered_by: 'agent', durable: false });
const user: Principal = { kind: 'user', id: 'owner', name: 'owner', role: 'owner' };

/** `onAnswer`: an answer leaves the server. */
export const createCallers = (net: Net, onAnswer: (call: Call) => void): Callers => {
  let n = 0;
  /** Until an answer comes; what the server says in a fault is asked again, too. */
  const insist = async <T>(
    from: string,
    about: string,
    lives: () => boolean,
    ask: (s: Server, signal: AbortSignal) => Promise<T>,
  ): Promise<T | null> => {
    while (lives())
      try {
        return await net.send(from, about, ask);
      } catch {
        // Lost, or not stored: again.
      }
    return null;
  };

  const callers: Callers = {
    asked: [],
    calls: [],
    cancels: new Set(),
    submit(agent, { wait, chat, batch, session }) {
      const key = `key-${++n}`;
      const a: Asked = { key, agent, told: new Set(), refused: null, answered: false };
      callers.asked.push(a);
      const request: ExecutionRequest = aRequest({
        agent_name: agent,
        kind: chat ? 'chat' : 'task',
        session_id: session,
        class: batch ? 'batch' : 'interactive',
        durable: !wait,
        idempotency_key: key,
      });
      void insist(
        `person-${n}`,
        'submit',
        () => true,
        async (server, signal) => {
          const given = wait
            ? await give(server.deps, { request, principal: user, bodyHash: key }, { ms: null, signal, callId: null })
            : await submit(server.deps, request, user, key);
          // The id comes first, also when the answer does not.
          if (!isRefusal(given)) a.told.add(given.execution.id);
          return given;
        },
      ).then((given) => {
        a.answered = true;
        if (given !== null && isRefusal(given)) a.refused = given;
      });
    },
    cancel(id) {
      callers.cancels.add(id);
      void insist(
        'person',
        'cancel',
        () => true,
        (server) => cancel(server.deps, id, 'person', null),
      );
    },
    call(proc, agents, { many, boundMs, session }) {
      const call: Call = { id: `call-${++n}`, proc, heard: null };
      callers.calls.push(call);
      proc.blocked = true;
      const { execution_id, token, agent } = proc.claim;
      const principal: Principal = {
        kind: 'execution',
        executionId: execution_id,
        token,
        agentId: agent.id,
        name: agent.name,
      };
      const lives = () => proc.alive && call.heard === null;
      const wait = (signal: AbortSignal) => ({ ms: boundMs, signal, callId: call.id });
      const key = `call:${call.id}`;
      const ask = (server: Server, signal: AbortSignal): Promise<object> =>
        many
          ? giveMany(
              server.deps,
              {
                agentName: agents[0]!,
                tasks: agents.map((_, i) => ({ id: String(i), message: 'x' })),
                maxConcurrency: 2,
                timeoutS: null,
                key,
              },
              { principal, bodyHash: key },
              wait(signal),
            )
          : give(
              server.deps,
              {
                request: { ...callRequest, agent_name: agents[0]!, idempotency_key: key, session_id: session },
                principal,
                bodyHash: key,
              },
              wait(signal),
            );
      void insist(call.id, 'call', lives, async (server, signal) => {
        const given = await ask(server, signal);
        if (!isRefusal(given) && (given as { waited: string }).waited !== 'left') onAnswer(call);
        return given;
      }).then((given) => {
        // `left`: it speaks for nobody any more; its process is about to be ended.
        if (given === null || !lives() || (given as { waited?: string }).waited === 'left') return;
        call.heard = isRefusal(given) ? 'refusal' : 'answer';
        proc.refused = call.heard === 'refusal';
        proc.blocked = false;
      });
    },
    giveUp(proc) {
      const call = callers.calls.find((c) => c.proc === proc && c.heard === null);
      if (!call) return;
      call.heard = 'given up';
      proc.blocked = false;
      proc.gaveUp = true;
      net.forget(call.id);
      const { execution_id, token, agent } = proc.claim;
      const principal: Principal = {
        kind: 'execution',
        executionId: execution_id,
        token,
        agentId: agent.id,
        name: agent.name,
      };
      void insist(
        `${call.id}-over`,
        'give up',
        () => proc.alive,
        (server) => giveUp(server.deps, principal, call.id),
      );
    },
  };
  return callers;
};
