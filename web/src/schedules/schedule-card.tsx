/** One schedule: when it is due, the history of its ticks, run now, switched, changed, removed. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { write } from '../api.ts';
import { useNow } from '../clock.ts';
import { keys } from '../live/keys.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { AgentLink, RunLink } from '../parts/links.tsx';
import { useMayEdit } from '../parts/me.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Ago, Mark, Plain } from '../parts/text.tsx';
import { headOf } from '../words/plain.ts';
import { stateWords } from '../words/states.ts';
import { clockTime, exactTime, msOf, span } from '../words/times.ts';
import { useZone } from '../zone.ts';
import { doWith, type Schedule, ticksShown, useTicks } from './data.ts';

const Due = ({ schedule, held }: { schedule: Schedule; held: boolean }) => {
  const now = useNow();
  const zone = useZone();
  const due = msOf(schedule.next_run_at);
  if (!schedule.enabled) return <span className="chip">off</span>;
  if (due === null) return <span className="muted">never again</span>;
  return (
    <time dateTime={schedule.next_run_at ?? undefined} title={exactTime(due, zone)}>
      {held && <span className="chip flag">held</span>} <b>in {span(due - now)}</b>
    </time>
  );
};

const Ticks = ({ schedule }: { schedule: Schedule }) => {
  const ticks = useTicks(schedule);
  const now = useNow();
  const zone = useZone();
  if (ticks.error) return <p className="problem">{ticks.error.message}</p>;
  if (ticks.data === undefined) return <Skeleton rows={3} />;
  if (ticks.data.length === 0)
    return <p className="muted py-1">It did not tick yet. Run it now to see what it does.</p>;
  return (
    <ul className="ticks" aria-label={`Ticks of ${schedule.name}`}>
      {ticks.data.map((t) => (
        <li key={t.id}>
          <Mark status={t.status} />
          <span className="min-w-0 truncate">
            <RunLink id={t.id}>{stateWords[t.status] ?? t.status}</RunLink>{' '}
            <span className="muted">
              {t.by_hand && 'by hand '}
              <Plain text={t.status === 'success' ? headOf(t.response, 120) : headOf(t.error, 160)} />
            </span>
          </span>
          <time className="nowrap muted" dateTime={t.fire_at} title={exactTime(msOf(t.fire_at), zone)}>
            {clockTime(msOf(t.fire_at), now, zone)}
          </time>
        </li>
      ))}
      {ticks.data.length === ticksShown && <li className="muted">the newest {ticksShown}</li>}
    </ul>
  );
};

/** `ofAgent`: it stands on the page of its agent, which it needs not name. */
export const ScheduleCard = (props: { schedule: Schedule; held: boolean; onEdit: () => void; ofAgent?: boolean }) => {
  const { schedule, held, onEdit } = props;
  const mayEdit = useMayEdit();
  const queries = useQueryClient();
  const [open, setOpen] = useState(false);
  const act = useMutation({
    mutationFn: ({ verb }: { verb: Parameters<typeof doWith>[1]; said: string }) => write(() => doWith(schedule, verb)),
    onSuccess: (_answer, { said }) => {
      say(said);
      void queries.invalidateQueries({ queryKey: keys.schedules });
      void queries.invalidateQueries({ queryKey: keys.runLists });
    },
    onError: sayProblem,
  });
  const about = <span className="hidden-label"> {schedule.name}</span>;
  const { enabled } = schedule;
  return (
    <li className="card" data-off={!enabled}>
      <span className="title">
        <b>
          <Plain text={schedule.name} />
        </b>
        {!props.ofAgent && <AgentLink name={schedule.agent_name} className="link" />}
        <span className="mono muted">
          <Plain text={schedule.cron_expression} />
        </span>
        <span className="muted">{schedule.timezone}</span>
      </span>
      <span className="state">
        <Due schedule={schedule} held={held} />
      </span>
      <span className="about">
        <Plain text={headOf(schedule.message)} />
      </span>
      <span className="foot">
        <span>
          {schedule.last_run_at === null ? (
            'did not tick yet'
          ) : (
            <>
              last tick <Ago at={schedule.last_run_at} />
            </>
          )}
        </span>
        {schedule.overlap === 'queue' && <span>an overlapping tick waits</span>}
        {schedule.catch_up !== 'none' && <span>missed ticks: {schedule.catch_up}</span>}
        {schedule.jitter_seconds > 0 && <span>spread over {schedule.jitter_seconds}s</span>}
      </span>
      <details className="fold" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary>History{about}</summary>
        {open && <Ticks schedule={schedule} />}
      </details>
      {mayEdit && (
        <span className="acts">
          <button
            type="button"
            className="quiet small"
            disabled={act.isPending}
            onClick={() => act.mutate({ verb: 'trigger', said: `${schedule.name} runs now; its next tick stays.` })}
          >
            Run now{about}
          </button>
          <button
            type="button"
            className="quiet small"
            disabled={act.isPending}
            onClick={() =>
              act.mutate({
                verb: enabled ? 'disable' : 'enable',
                said: `${schedule.name} is ${enabled ? 'off' : 'on'}.`,
              })
            }
          >
            {enabled ? 'Switch off' : 'Switch on'}
            {about}
          </button>
          <button type="button" className="quiet small" onClick={onEdit}>
            Change{about}
          </button>
          <ConfirmButton
            className="quiet small"
            label={<>Remove{about}</>}
            title={`Remove the schedule ${schedule.name}?`}
            about={<p>It gives no more work. What it ran stays in the history. This cannot be undone.</p>}
            action="Remove it"
            danger
            onConfirm={() => act.mutate({ verb: 'remove', said: `${schedule.name} is removed.` })}
          />
        </span>
      )}
    </li>
  );
};
