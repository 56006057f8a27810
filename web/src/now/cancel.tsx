/** Stops one execution: at once while it waits, after a question when it has begun, since its work so far ends with it. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ExecutionBody } from '../../../src/client/wire.ts';
import { api, write } from '../api.ts';
import type { RunList } from '../executions/run-list.ts';
import { keys } from '../live/keys.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { useMayEdit } from '../parts/me.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { Plain } from '../parts/text.tsx';
import { headOf } from '../words/plain.ts';

const outcomes = {
  terminated: 'is told to stop',
  cancelled_while_queued: 'is cancelled; it never started',
  already_finished: 'had ended already',
} as const;

export const CancelButton = ({ row, className = 'quiet small' }: { row: ExecutionBody; className?: string }) => {
  const queries = useQueryClient();
  const stop = useMutation({
    mutationFn: () => write(() => api.terminate(row.id, 'cancelled on the page')),
    onSuccess: ({ status }) => {
      // Far down a list nothing is read again: the row is told there, too.
      if (status === 'cancelled_while_queued')
        queries.setQueriesData<RunList>({ queryKey: keys.runLists }, (list) =>
          list?.rows === undefined
            ? list
            : { ...list, rows: list.rows.map((r) => (r.id === row.id ? { ...r, status: 'cancelled' as const } : r)) },
        );
      say(`The run of ${row.agent_name} ${outcomes[status] ?? status}.`);
      void queries.invalidateQueries({ queryKey: ['executions'] });
      void queries.invalidateQueries({ queryKey: keys.execution(row.id) });
    },
    onError: sayProblem,
  });
  const mayEdit = useMayEdit();
  if (!mayEdit) return null;
  const asked = stop.isPending || (row.cancel_requested_at ?? null) !== null;
  const label = (
    <>
      {asked ? 'Stopping…' : 'Cancel'}
      <span className="hidden-label">
        {' '}
        {row.agent_name}: {headOf(row.message, 60)}
      </span>
    </>
  );
  if (row.status === 'queued')
    return (
      <button type="button" className={className} disabled={asked} onClick={() => stop.mutate()}>
        {label}
      </button>
    );
  return (
    <ConfirmButton
      className={className}
      disabled={asked}
      label={label}
      title={`Cancel this run of ${row.agent_name}?`}
      about={
        <p>
          <Plain text={headOf(row.message, 160)} />
          <br />
          It is told to stop, and ended if it does not. What it has written so far is kept.
        </p>
      }
      action="Cancel the run"
      danger
      onConfirm={() => stop.mutate()}
    />
  );
};
