/**
 * Where a person answers an agent: offered answers as buttons, any other in words; an approval is approved or denied, with a note
 * when there is something to say. The first answer stands, so what is sent says exactly what it is.
 */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { OperatorItemBody } from '../../../src/client/wire.ts';
import { api, inWords, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { Field } from '../parts/field.tsx';
import { say } from '../parts/notices.tsx';
import { headOf, plainText } from '../words/plain.ts';

const told = (item: OperatorItemBody): string => {
  const agent = item.agent_name ?? 'the agent';
  if (item.delivery === 'resumed') return `Answered. ${agent} goes on with it.`;
  if (item.delivery === 'failed') return `Answered, but it cannot be given: ${item.delivery_note ?? 'not known why'}`;
  if (item.delivery_note !== null) return `Answered, and kept until it can be given: ${item.delivery_note}`;
  return `Answered. ${agent} gets it.`;
};

export const AnswerBox = ({ item }: { item: OperatorItemBody }) => {
  const queries = useQueryClient();
  const [text, setText] = useState('');
  const give = useMutation({
    mutationFn: (given: { answer: string; note?: string }) => write(() => api.respond(item.id, given)),
    onSuccess: (answered) => say(told(answered)),
    // Also when it was refused: somebody else may have been first.
    onSettled: () => queries.invalidateQueries({ queryKey: keys.operator }),
  });
  const about = <span className="hidden-label">: {headOf(item.title, 60)}</span>;
  const approval = item.kind === 'approval';
  const decide = (answer: 'approve' | 'deny') => {
    const note = text.trim();
    give.mutate(note === '' ? { answer } : { answer, note });
  };
  return (
    <form
      className="answer-box"
      onSubmit={(e) => {
        e.preventDefault();
        if (!approval && text.trim() !== '') give.mutate({ answer: text });
      }}
    >
      {item.options.length > 0 && (
        <div className="offered">
          {item.options.map((option) => (
            <button
              key={option}
              type="button"
              className="small"
              disabled={give.isPending}
              onClick={() => give.mutate({ answer: option })}
            >
              <bdi>{plainText(headOf(option, 80))}</bdi>
              {about}
            </button>
          ))}
        </div>
      )}
      <Field label={approval ? 'Note' : 'Answer'} wrong={give.isError ? inWords(give.error) : undefined}>
        {(input) => <textarea {...input} rows={1} dir="auto" value={text} onChange={(e) => setText(e.target.value)} />}
      </Field>
      <div className="form-end">
        {approval ? (
          <>
            <button type="button" className="main small" disabled={give.isPending} onClick={() => decide('approve')}>
              Approve
              {about}
            </button>
            <button type="button" className="small" disabled={give.isPending} onClick={() => decide('deny')}>
              Deny
              {about}
            </button>
          </>
        ) : (
          <button type="submit" className="main small" disabled={give.isPending || text.trim() === ''}>
            Answer
            {about}
          </button>
        )}
      </div>
    </form>
  );
};
