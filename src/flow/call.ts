/**
 * Work that somebody waits for, by whatever door. For people a wait is only a wait. For an execution it is a yield (R17): its row
 * becomes `waiting` in the transaction that queues what it waits for, gives its slots back, and every answer is handed back after
 * the resume, never before (F12). A wait ends in four ways: the end of what was waited for; its time, through the resume; the
 * caller's own end; a client that goes away, which gives the call up. A closing server gives nothing up: the client comes back.
 */
import { isRefusal, type Refusal } from '../contract/errors.ts';
import type { ExecutionRequest } from '../contract/execution.ts';
import type { Principal } from '../contract/principal.ts';
import { isTerminal } from '../contract/status.ts';
import { commit } from '../record/commit.ts';
import type { EnqueueResult } from '../store/store.ts';
import type { Deps } from './deps.ts';
import { type FanOutGiven, type FanOutTask, submit, submitFanOut } from './submit.ts';

export interface Wait {
  /** null = as long as it takes; 0 = not at all. */
  ms: number | null;
  /** Fires when the client has gone, or with `serverCloses` as its reason. */
  signal: AbortSignal;
  /** Set by a client that comes back for its answer after a broken line: it gives the call up by word, never by leaving. */
  callId: string | null;
  /** A reader that goes away ends its wait alone; left out, it gives up the call and with it what it waited for. */
  leaves?: 'goes_on';
  /** A person without a bound of its own is not held until a reset that is far: it gets the id instead. */
  resets?: 'answered';
}
/** `ended`: all of it. `time`: the wait was over first, or is one for a far reset. `left`: nobody is there to be answered. */
export type Waited = 'ended' | 'time' | 'left';

/** Why a signal fires when it is not the client that has gone. */
export const serverCloses = new Error('the server closes');

export type Given = { waited: Waited } & Exclude<EnqueueResult, Refusal>;

export const give = async (
  deps: Deps,
  asked: { request: ExecutionRequest; principal: Principal; bodyHash: string | null },
  wait: Wait,
): Promise<Given | Refusal> => {
  const call = callOf(deps, asked.principal, wait);
  const given = await submit(deps, asked.request, asked.principal, asked.bodyHash, call);
  if (isRefusal(given)) return given;
  const { id, status } = given.execution;
  // A caller that waits for another call of its own is not answered before its resume, not even with what has ended.
  const waited = isTerminal(status) && call === null ? 'ended' : await until(deps, asked.principal, [id], call, wait);
  return { ...given, waited };
};

export const giveMany = async (
  deps: Deps,
  asked: {
    agentName: string;
    tasks: FanOutTask[];
    maxConcurrency: number;
    timeoutS: number | null;
    key: string | null;
  },
  by: { principal: Principal; bodyHash: string | null },
  wait: Wait,
): Promise<({ waited: Waited } & FanOutGiven) | Refusal> => {
  const call = callOf(deps, by.principal, wait);
  const given = await submitFanOut(deps, asked, by, call);
  if (isRefusal(given)) return given;
  const ids = given.executions.map((e) => e.id);
  return { ...given, waited: await until(deps, by.principal, ids, call, wait) };
};

/** Waits for work that was given before. An execution may wait for its own alone. */
export const waitFor = async (
  deps: Deps,
  principal: Principal,
  ids: readonly string[],
  wait: Wait,
): Promise<Waited | Refusal> => {
  const call = callOf(deps, principal, wait);
  if (principal.kind === 'execution' && call !== null) {
    const { executionId: execution_id, token } = principal;
    const opened = await commit(deps, 'open_call', {
      call_id: call,
      caller: { execution_id, token },
      child_ids: [...ids],
    });
    if (isRefusal(opened)) return opened;
  }
  return until(deps, principal, ids, call, wait);
};

/** The CLI has cancelled the call, or closed the line for good: the child is cancelled and the caller runs at once (R21). */
export const giveUp = async (deps: Deps, principal: Principal, callId: string): Promise<boolean> => {
  if (principal.kind !== 'execution') return false;
  const call_id = scoped(principal.executionId, callId);
  return (await commit(deps, 'abandon_call', { call_id, caller_token: principal.token })).ok;
};

/** Ids of calls are the caller's own: another's are out of its reach. */
const scoped = (executionId: string, callId: string): string => `${executionId}:${callId}`;

/** Null: this wait gives up no slot, because nobody's slot is held by it or because it is none. */
const callOf = (deps: Deps, principal: Principal, wait: Wait): string | null =>
  principal.kind === 'execution' && wait.ms !== 0
    ? scoped(principal.executionId, wait.callId ?? deps.kernel.ids.next(deps.kernel.clock.now()))
    : null;

/** A reset within this is waited for: the answer is worth more than the id. */
const nearMs = 60_000;

/** It waits for the reset of a login, or until a time: that costs none of its budget (R12), so nothing else bounds it. */
const waitsForReset = async (deps: Deps, id: string): Promise<boolean> => {
  const wait = (await deps.store.read('waits', { execution_ids: [id], limits: deps.claimLimits() }))[id];
  const timed = wait?.reason === 'credentials_exhausted' || wait?.reason === 'not_before';
  return timed && (wait.until ?? 0) > deps.kernel.clock.now() + nearMs;
};

const until = async (
  deps: Deps,
  principal: Principal,
  ids: readonly string[],
  call: string | null,
  wait: Wait,
): Promise<Waited> => {
  // Nobody waits, so nobody needs a signal (one is made when it is asked for).
  if (wait.ms === 0) return 'time';
  const { ms, signal } = wait;
  const aside =
    wait.resets === 'answered' && ms === null && principal.kind !== 'execution'
      ? (id: string) => waitsForReset(deps, id)
      : undefined;
  const ended = (await Promise.all(ids.map((id) => deps.endings.wait(id, ms, signal, aside)))).every((e) => e);
  if (principal.kind !== 'execution' || call === null) return ended ? 'ended' : signal.aborted ? 'left' : 'time';
  const { executionId, token } = principal;
  const close = async (how: 'abandon_call' | 'detach_call') =>
    void (await commit(deps, how, { call_id: call, caller_token: token }));
  const leave = async (): Promise<Waited> => {
    // Whoever has a name for its call comes back, or says that it will not.
    if (signal.reason !== serverCloses && wait.callId === null)
      await close(wait.leaves === 'goes_on' ? 'detach_call' : 'abandon_call');
    return 'left';
  };
  if (!ended) {
    if (signal.aborted) return leave();
    await close('detach_call');
  }
  const back = await deps.endings.back(executionId, token, signal);
  if (back === 'left') return leave();
  // A caller that has ended hears nothing any more.
  return back === 'ended' ? 'left' : ended ? 'ended' : 'time';
};
