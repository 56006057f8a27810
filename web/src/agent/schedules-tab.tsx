/** The schedules of one agent: the same cards and the same form as on the page of all of them. */
import { useState } from 'react';
import { useMayEdit } from '../parts/me.ts';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { type Schedule, useHeld, useSchedules } from '../schedules/data.ts';
import { ScheduleCard } from '../schedules/schedule-card.tsx';
import { ScheduleForm } from '../schedules/schedule-form.tsx';
import type { AgentDetail } from './data.ts';

export const Tab = ({ agent }: { agent: AgentDetail }) => {
  const mayEdit = useMayEdit();
  const schedules = useSchedules();
  const held = useHeld().data ?? false;
  const [editing, setEditing] = useState<Schedule | 'new' | null>(null);
  const own = schedules.data?.filter((s) => s.agent_name === agent.name);
  return (
    <>
      {held && (
        <p className="banner mb-3" role="status">
          All schedules are held: each tick is skipped until you go on, on the page Schedules.
        </p>
      )}
      <Section
        title="Schedules"
        count={own?.length}
        error={schedules.error}
        more={
          mayEdit ? (
            <button type="button" className="small" onClick={() => setEditing('new')}>
              New schedule
            </button>
          ) : undefined
        }
      >
        {own === undefined && !schedules.error && <Skeleton rows={3} />}
        {own?.length === 0 && <div className="nothing">No schedule gives it work.</div>}
        <ul>
          {own?.map((s) => (
            <ScheduleCard key={s.id} schedule={s} held={held} ofAgent onEdit={() => setEditing(s)} />
          ))}
        </ul>
      </Section>
      {editing !== null && (
        <ScheduleForm of={editing === 'new' ? null : editing} agent={agent.name} onClose={() => setEditing(null)} />
      )}
    </>
  );
};
