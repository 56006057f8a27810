/** Work that time asks for: what is due when, each with its history of ticks, made and changed with its next ticks in view, and all held at once. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { useAgents } from '../now/data.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { useMayEdit } from '../parts/me.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { holdAll, type Schedule, useHeld, useSchedules } from '../schedules/data.ts';
import { ScheduleCard } from '../schedules/schedule-card.tsx';
import { ScheduleForm } from '../schedules/schedule-form.tsx';
import { msOf, plural } from '../words/times.ts';

const HoldButton = ({ held, on }: { held: boolean; on: number }) => {
  const queries = useQueryClient();
  const hold = useMutation({
    mutationFn: () => write(() => holdAll(held ? 'resume' : 'pause')),
    onSuccess: ({ body }) => {
      say(body.message);
      void queries.invalidateQueries({ queryKey: keys.schedules });
    },
    onError: sayProblem,
  });
  if (held)
    return (
      <button type="button" className="main" disabled={hold.isPending} onClick={() => hold.mutate()}>
        Go on with all
      </button>
    );
  return (
    <ConfirmButton
      label="Hold all"
      title="Hold all schedules?"
      about={
        <p>
          {plural(on, 'schedule')} will give no work until you go on. Each tick meanwhile is skipped and stands in its
          history; what runs goes on.
        </p>
      }
      action="Hold them"
      onConfirm={() => hold.mutate()}
    />
  );
};

export const Page = () => {
  const mayEdit = useMayEdit();
  const schedules = useSchedules();
  const held = useHeld().data ?? false;
  const agents = useAgents();
  const [editing, setEditing] = useState<Schedule | 'new' | null>(null);
  const rows = [...(schedules.data ?? [])].sort(
    (a, b) =>
      (msOf(a.next_run_at) ?? Number.POSITIVE_INFINITY) - (msOf(b.next_run_at) ?? Number.POSITIVE_INFINITY) ||
      (a.name < b.name ? -1 : 1),
  );
  const on = rows.filter((s) => s.enabled).length;
  return (
    <>
      <PageHead
        title="Schedules"
        count={schedules.data?.length}
        sub={rows.length > 0 ? `${on} on; the next to come first` : undefined}
        actions={
          mayEdit ? (
            <>
              {rows.length > 0 && <HoldButton held={held} on={on} />}
              <button type="button" className={held ? undefined : 'main'} onClick={() => setEditing('new')}>
                New schedule
              </button>
            </>
          ) : undefined
        }
      />
      {held && (
        <p className="banner mb-3" role="status">
          All schedules are held: each tick is skipped until you go on.
        </p>
      )}
      <Section title="All of them" error={schedules.error}>
        {schedules.data === undefined && schedules.error === null && <Skeleton rows={6} />}
        {schedules.data?.length === 0 && (
          <div className="nothing">
            {agents.data?.length === 0
              ? 'There is no agent yet that a schedule could give work to: add one on the page Agents.'
              : mayEdit
                ? 'Nothing is scheduled. Make one: an agent, a message, and when it is given to it.'
                : 'Nothing is scheduled.'}
          </div>
        )}
        <ul>
          {rows.map((s) => (
            <ScheduleCard key={s.id} schedule={s} held={held} onEdit={() => setEditing(s)} />
          ))}
        </ul>
      </Section>
      {editing !== null && <ScheduleForm of={editing === 'new' ? null : editing} onClose={() => setEditing(null)} />}
    </>
  );
};
