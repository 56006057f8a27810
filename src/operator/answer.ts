/**
 * A person answers: kept first, by compare-and-set, then brought to who asked. The first answer stands; another one after it is
 * told so, because who said "deny" must not believe it counted when "approve" was first.
 */
import { type Refusal, refuse } from '../contract/errors.ts';
import { approvalAnswers, type OperatorItemRow } from '../contract/operator.ts';
import { type Principal, principalScope } from '../contract/principal.ts';
import { cleanText } from '../contract/text.ts';
import type { Deps } from '../flow/deps.ts';
import { commit } from '../record/commit.ts';
import { deliverAnswers } from './deliver-answers.ts';

interface GivenAnswer {
  answer: string;
  note: string | null;
}

/** Null = there is no such item. */
export const answer = async (
  deps: Deps,
  id: string,
  given: GivenAnswer,
  principal: Principal,
): Promise<OperatorItemRow | Refusal | null> => {
  const item = await deps.store.read('operator_item', { id });
  if (item === null) return null;
  const text = cleanText(given.answer).trim();
  if (item.kind === 'approval' && !(approvalAnswers as readonly string[]).includes(text))
    return refuse('invalid', `An approval is answered by ${approvalAnswers.join(' or ')}; say more in note.`, {
      details: [{ field: 'answer', problem: `must be ${approvalAnswers.join(' or ')}` }],
    });
  if (text === '')
    return refuse('invalid', 'answer is empty.', { details: [{ field: 'answer', problem: 'is empty' }] });
  const note = given.note === null ? null : cleanText(given.note).trim() || null;
  // People know each other by name.
  const by = principal.kind === 'user' ? principal.name : principalScope(principal);
  const done = await commit(deps, 'answer_operator_item', { id, status: 'answered', answer: text, note, by });
  if (done === null) return null;
  if (done.status === 'closed')
    return refuse('conflict', 'It was closed meanwhile: nobody waits for the answer any more.');
  if (done.answer !== text)
    return refuse('conflict', `It was answered already by ${done.answered_by ?? 'somebody'}; that answer stands.`, {
      details: { answer: done.answer, answered_by: done.answered_by },
    });
  // Whoever is alive comes for it; the others get it now.
  await deliverAnswers(deps, id);
  return deps.store.read('operator_item', { id });
};
