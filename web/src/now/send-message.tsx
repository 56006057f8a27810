/** Gives an agent work: a task of its own, or a turn of its chat. The page gets the id at once and shows the run. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, inWords, write } from '../api.ts';
import { Field } from '../parts/field.tsx';
import { Section } from '../parts/section.tsx';
import { idempotencyKey } from '../run/idempotency-key.ts';
import { useAgents } from './data.ts';

export const SendMessage = () => {
  const queries = useQueryClient();
  const go = useNavigate();
  const agents = useAgents();
  const names = (agents.data ?? []).map((a) => a.name).sort((a, b) => a.localeCompare(b));
  const [agent, setAgent] = useState('');
  const [kind, setKind] = useState<'task' | 'chat'>('task');
  const [message, setMessage] = useState('');
  const chosen = names.includes(agent) ? agent : (names[0] ?? '');
  const send = useMutation({
    mutationFn: () => {
      const key = { idempotencyKey: idempotencyKey() };
      return write(() =>
        kind === 'task'
          ? api.task(chosen, { message, async_mode: true, priority: 'interactive' }, key)
          : api.chat(chosen, { message }, { waitS: 0, ...key }),
      );
    },
    onSuccess: ({ execution_id }) => {
      setMessage('');
      void queries.invalidateQueries({ queryKey: ['executions'] });
      if (execution_id !== null) void go({ to: '/executions/$id', params: { id: execution_id } });
    },
  });
  if (names.length === 0) return null;
  return (
    <Section title="Send a message">
      <form
        className="form"
        onSubmit={(e) => {
          e.preventDefault();
          if (message.trim() !== '') send.mutate();
        }}
      >
        <Field label="To">
          {(input) => (
            <select {...input} value={chosen} onChange={(e) => setAgent(e.target.value)}>
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </Field>
        <fieldset className="field">
          <legend>As</legend>
          <div className="choices">
            <label>
              <input type="radio" name="kind" checked={kind === 'task'} onChange={() => setKind('task')} />a task,
              afresh
            </label>
            <label>
              <input type="radio" name="kind" checked={kind === 'chat'} onChange={() => setKind('chat')} />a turn of its
              chat
            </label>
          </div>
        </fieldset>
        <Field label="Message" wrong={send.isError ? inWords(send.error) : undefined}>
          {(input) => (
            <textarea
              {...input}
              value={message}
              dir="auto"
              onChange={(e) => setMessage(e.target.value)}
              onKeyDown={(e) => {
                if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) e.currentTarget.form?.requestSubmit();
              }}
              required
            />
          )}
        </Field>
        <div className="form-end">
          <button type="submit" className="main" disabled={send.isPending || message.trim() === ''}>
            Send
          </button>
          <span className="hint">Ctrl+Enter</span>
        </div>
      </form>
    </Section>
  );
};
