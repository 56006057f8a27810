/**
 * Brings answers to who asked and has ended: a turn in the same session, through the one door for all work. The idempotency key is
 * the item, so that however often this runs and wherever it dies, the answer starts one turn. What is refused for now (agent
 * stopped, backlog full) stays pending and is tried again.
 */
import { createHash } from 'node:crypto';
import { errors, isRefusal } from '../contract/errors.ts';
import type { ExecutionRequest } from '../contract/execution.ts';
import type { OperatorItemRow } from '../contract/operator.ts';
import type { Principal } from '../contract/principal.ts';
import type { Deps } from '../flow/deps.ts';
import { submit } from '../flow/submit.ts';
import { commit } from '../record/commit.ts';
import type { AnswerDue } from '../store/operator-verbs.ts';

/** The answer is a person's, but the turn is the agent's own work going on: whoever answered, it is one and the same. */
const inTheNameOf: Principal = { kind: 'system', id: 'operator', name: 'operator' };

/** One turn. Those that are refused for now stand among them each time: well above how many a stopped agent can have. */
const most = 500;

/** `id`: one item; null = whatever is due. One that fails keeps no other from being brought. */
export const deliverAnswers = async (deps: Deps, id: string | null): Promise<void> => {
  for (const due of await deps.store.read('answers_due', { id, limit: most }))
    await deliver(deps, due).catch((error) =>
      deps.kernel.log.error('an answer could not be brought; it is tried again', { item: due.item.id, error }),
    );
};

const deliver = async (deps: Deps, due: AnswerDue): Promise<void> => {
  const { item } = due;
  const given = await submitAnswer(deps, due, item.session_id);
  // A session that was cleared, or of which no run ever told: the agent's conversation, with the whole question.
  const lost = isRefusal(given) && given.code === 'session_not_found' && item.session_id !== null;
  const done = lost ? await submitAnswer(deps, due, null) : given;
  const refused = isRefusal(done);
  await commit(deps, 'answer_delivered', {
    id: item.id,
    delivery: !refused ? 'resumed' : errors[done.code].retryable ? 'pending' : 'failed',
    execution_id: refused ? null : done.execution.id,
    note: refused ? done.message : lost ? 'its session is gone: given in the main conversation of the agent' : null,
  });
};

const submitAnswer = (deps: Deps, { item, options, timeout_s }: AnswerDue, session_id: string | null) => {
  const request: ExecutionRequest = {
    kind: 'chat',
    agent_name: item.agent_name ?? '',
    message: answerMessage(item, session_id === null),
    triggered_by: 'manual',
    class: 'interactive',
    durable: true,
    // As the run that asked: an answer must not widen what it was allowed.
    options,
    timeout_s,
    session_id,
    resume_session_id: null,
    parent_execution_id: null,
    idempotency_key: `answer:${item.id}`,
    max_retries: null,
  };
  return submit(deps, request, inTheNameOf, createHash('sha256').update(`${item.id}:${item.answer}`).digest('hex'));
};

/** What the agent reads. `whole`: its session does not remember the question. */
const answerMessage = (item: OperatorItemRow, whole: boolean): string => {
  const asked = [item.title, ...(whole ? item.evidence : [])].join('\n');
  const note = item.note === null ? '' : `\n\nNote: ${item.note}`;
  if (item.kind === 'approval')
    return `The operator has ${item.answer === 'approve' ? 'approved' : 'denied'} what you asked approval for.\n\nAsked: ${asked}${note}`;
  return `The operator has answered your question.\n\nQuestion: ${asked}\n\nAnswer: ${item.answer}${note}`;
};
