/**
 * An agent asks a person: the one way in for questions and approvals, whatever the door (route, MCP tool). Who asks is checked in
 * the transaction that stores it. What comes back is the item to wait for with `awaitAnswer`, or to leave: the answer then comes
 * as a turn in the session of the execution that asked.
 */
import { createHash } from 'node:crypto';
import { type Refusal, refuse } from '../contract/errors.ts';
import type { OperatorItemRow, Severity } from '../contract/operator.ts';
import type { Principal } from '../contract/principal.ts';
import { cleanText } from '../contract/text.ts';
import type { Deps } from '../flow/deps.ts';
import { commit } from '../record/commit.ts';

interface Question {
  kind: 'question' | 'approval';
  title: string;
  details: string | null;
  /** Answers offered; to an approval there are two, and they are not named here. */
  options: readonly string[];
  severity: Severity;
  /** Of the asking agent; an execution's own token names it by itself. */
  execution_id: string | null;
}

export const ask = async (
  deps: Deps,
  question: Question,
  principal: Principal,
): Promise<{ item: OperatorItemRow; created: boolean } | Refusal> => {
  if (principal.kind !== 'agent' && principal.kind !== 'execution')
    return refuse('forbidden', 'Agents ask and people answer: use the key of an agent, or the token of an execution.');
  const own = principal.kind === 'execution' ? principal.executionId : null;
  if (own !== null && question.execution_id !== null && question.execution_id !== own)
    return refuse('call_not_permitted', 'An execution can ask only in its own name.');
  const title = cleanText(question.title).trim();
  if (title === '') return refuse('invalid', 'title is empty; say what you want to know.');
  if (question.kind === 'approval' && question.options.length > 0)
    return refuse(
      'invalid',
      'An approval is answered by approve or deny. Ask a question to offer options of your own.',
    );
  const options = question.options.map((o) => cleanText(o));
  const details = question.details === null ? '' : cleanText(question.details).trim();
  return commit(deps, 'ask_operator', {
    item: {
      id: deps.kernel.ids.next(deps.kernel.clock.now()),
      kind: question.kind,
      dedup_key: sameness(question.kind, title, details, options),
      priority: question.severity,
      title,
      evidence: details === '' ? [] : [details],
    },
    options,
    agent: { id: principal.agentId, name: principal.name },
    execution_id: own ?? question.execution_id,
    token: principal.kind === 'execution' ? principal.token : null,
  });
};

/** An attempt that is tried again asks the same again: it must not become two questions. */
const sameness = (...parts: unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
