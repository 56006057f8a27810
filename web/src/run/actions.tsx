/**
 * What can be done with an execution: stop it; go on with its session (a new turn that knows what it did, in its kept tree); run
 * the same again, afresh; talk about it as a chat. Each makes a new execution: what has ended stays as it ended.
 */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { ExecutionBody } from '../../../src/client/wire.ts';
import { isTerminal } from '../../../src/contract/status.ts';
import { api, inWords, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { CancelButton } from '../now/cancel.tsx';
import { Field } from '../parts/field.tsx';
import { useMayEdit } from '../parts/me.ts';
import { Modal } from '../parts/modal.tsx';
import { sayProblem } from '../parts/notices.tsx';
import { idempotencyKey } from './idempotency-key.ts';

const useSubmit = (row: ExecutionBody, onSent?: () => void) => {
  const queries = useQueryClient();
  const go = useNavigate();
  return useMutation({
    mutationFn: (more: { message: string; resume_session_id?: string }) => {
      const key = idempotencyKey();
      return write(() =>
        api.task(row.agent_name, { ...more, async_mode: true, priority: 'interactive' }, { idempotencyKey: key }),
      );
    },
    onSuccess: ({ execution_id }) => {
      onSent?.();
      void queries.invalidateQueries({ queryKey: keys.runLists });
      if (execution_id !== null) void go({ to: '/executions/$id', params: { id: execution_id } });
    },
  });
};

const AgainButton = ({ row }: { row: ExecutionBody }) => {
  const submit = useSubmit(row);
  return (
    <button
      type="button"
      disabled={submit.isPending}
      title="The same message once more, in a session of its own"
      onClick={() => submit.mutate({ message: row.message }, { onError: sayProblem })}
    >
      Run again
    </button>
  );
};

const ResumeButton = ({ row, session }: { row: ExecutionBody; session: string }) => {
  const [open, setOpen] = useState(false);
  const [text, setText] = useState('Go on where you stopped.');
  const submit = useSubmit(row, () => setOpen(false));
  return (
    <>
      <button type="button" title="A new run in its session, which knows what it did" onClick={() => setOpen(true)}>
        Resume…
      </button>
      {open && (
        <Modal title={`Resume this run of ${row.agent_name}`} onClose={() => setOpen(false)}>
          <form
            className="form"
            onSubmit={(e) => {
              e.preventDefault();
              if (text.trim() !== '') submit.mutate({ message: text, resume_session_id: session });
            }}
          >
            <Field
              label="What shall it do"
              hint="It goes on in the same session, where it left its work."
              wrong={submit.isError ? inWords(submit.error) : undefined}
            >
              {(input) => (
                <textarea {...input} dir="auto" rows={4} value={text} onChange={(e) => setText(e.target.value)} />
              )}
            </Field>
            <div className="dialog-actions">
              <button type="button" onClick={() => setOpen(false)}>
                Back
              </button>
              <button type="submit" className="main" disabled={submit.isPending || text.trim() === ''}>
                Resume
              </button>
            </div>
          </form>
        </Modal>
      )}
    </>
  );
};

export const Actions = ({ row }: { row: ExecutionBody }) => {
  if (!useMayEdit()) return null;
  if (!isTerminal(row.status)) return <CancelButton row={row} className="danger" />;
  // A session is there to go on with once its CLI has named one.
  const session = row.cli_session_id ? (row.session_id ?? null) : null;
  return (
    <>
      {session !== null && row.kind !== 'chat' && <ResumeButton row={row} session={session} />}
      {session !== null && (
        <Link
          className="button"
          to="/agents/$name/$tab"
          params={{ name: row.agent_name, tab: 'chat' }}
          search={{ session }}
        >
          {row.kind === 'chat' ? 'To the chat' : 'Continue as chat'}
        </Link>
      )}
      <AgainButton row={row} />
    </>
  );
};
