/** The schedules of one agent: when each is due, switched on and off, run now, removed; and a form that shows the next ticks as one types. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { api, inWords, write } from '../api.ts';
import { useNow } from '../clock.ts';
import { keys } from '../live/keys.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { Field, problemOf } from '../parts/field.tsx';
import { useMayEdit } from '../parts/me.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Ago, Plain } from '../parts/text.tsx';
import { headOf } from '../words/plain.ts';
import { exactTime, msOf, span } from '../words/times.ts';
import { useZone } from '../zone.ts';
import type { AgentDetail } from './data.ts';

interface Schedule {
  id: string;
  name: string;
  cron_expression: string;
  timezone: string;
  message: string;
  enabled: boolean;
  next_run_at: string | null;
  last_run_at: string | null;
}

const at = (agent: string, more = '') => `/api/agents/${encodeURIComponent(agent)}/schedules${more}`;

const Due = ({ schedule }: { schedule: Schedule }) => {
  const now = useNow();
  const zone = useZone();
  const due = msOf(schedule.next_run_at);
  if (!schedule.enabled) return <span className="chip flag">off</span>;
  return <time title={exactTime(due, zone)}>{due === null ? 'never again' : `in ${span(due - now)}`}</time>;
};

const Row = ({ agent, schedule }: { agent: string; schedule: Schedule }) => {
  const mayEdit = useMayEdit();
  const queries = useQueryClient();
  const act = useMutation({
    mutationFn: ({ path, method }: { path: string; method: 'POST' | 'DELETE'; said: string }) =>
      write(() => api.request(at(agent, `/${encodeURIComponent(schedule.id)}${path}`), { method })),
    onSuccess: (_answer, { said }) => {
      say(said);
      void queries.invalidateQueries({ queryKey: keys.schedules });
    },
    onError: sayProblem,
  });
  const about = <span className="hidden-label"> {schedule.name}</span>;
  return (
    <li className="gauge">
      <span className="name">
        <b>
          <Plain text={schedule.name} />
        </b>{' '}
        <span className="mono muted">
          <Plain text={schedule.cron_expression} />
        </span>{' '}
        <span className="muted">{schedule.timezone}</span>
      </span>
      <span className="figure">
        <Due schedule={schedule} />
      </span>
      <div className="foot">
        <span className="min-w-0 truncate">
          <Plain text={headOf(schedule.message, 120)} />
        </span>
        {schedule.last_run_at !== null && (
          <span>
            last <Ago at={schedule.last_run_at} />
          </span>
        )}
        {mayEdit && (
          <span className="ml-auto flex gap-1">
            <button
              type="button"
              className="quiet small"
              disabled={act.isPending}
              onClick={() => act.mutate({ path: '/trigger', method: 'POST', said: `${schedule.name} runs now.` })}
            >
              Run now{about}
            </button>
            <button
              type="button"
              className="quiet small"
              disabled={act.isPending}
              onClick={() =>
                act.mutate(
                  schedule.enabled
                    ? { path: '/disable', method: 'POST', said: `${schedule.name} is off.` }
                    : { path: '/enable', method: 'POST', said: `${schedule.name} is on.` },
                )
              }
            >
              {schedule.enabled ? 'Switch off' : 'Switch on'}
              {about}
            </button>
            <ConfirmButton
              className="quiet small"
              label={<>Remove{about}</>}
              title={`Remove the schedule ${schedule.name}?`}
              about={<p>It gives no more work. What it ran stays in the history. This cannot be undone.</p>}
              action="Remove it"
              danger
              onConfirm={() => act.mutate({ path: '', method: 'DELETE', said: `${schedule.name} is removed.` })}
            />
          </span>
        )}
      </div>
    </li>
  );
};

const Preview = ({ cron, timezone }: { cron: string; timezone: string }) => {
  const preview = useQuery({
    queryKey: ['schedule-preview', cron, timezone],
    queryFn: async () =>
      (
        await write(() =>
          api.request<{ times: { fire_at: string; local: string }[] }>('/api/schedules/preview', {
            method: 'POST',
            json: { cron_expression: cron, timezone, count: 3 },
          }),
        )
      ).body.times,
    enabled: cron.trim() !== '',
    retry: false,
  });
  if (preview.isError) return <span className="text-bad">{inWords(preview.error)}</span>;
  if (!preview.data) return <>Minute, hour, day, month, weekday: 0 7 * * 1-5</>;
  return <>Next: {preview.data.map((t) => t.local).join(', ') || 'never'}</>;
};

const Add = ({ agent }: { agent: string }) => {
  const queries = useQueryClient();
  const zone = useZone();
  const empty = { name: '', cron_expression: '', timezone: zone, message: '' };
  const [draft, setDraft] = useState(empty);
  const add = useMutation({
    mutationFn: () => write(() => api.request(at(agent), { method: 'POST', json: draft })),
    onSuccess: () => {
      say(`The schedule ${draft.name} is on.`);
      setDraft(empty);
      void queries.invalidateQueries({ queryKey: keys.schedules });
    },
  });
  const wrong = (field: string) => (add.isError ? problemOf(add.error, field) : undefined);
  const whole = add.isError && ['name', 'cron_expression', 'timezone', 'message'].every((f) => wrong(f) === undefined);
  const field = (name: 'name' | 'cron_expression' | 'timezone', label: string, hint?: ReactNode) => (
    <Field label={label} hint={hint} wrong={wrong(name)}>
      {(input) => (
        <input
          {...input}
          className={name === 'cron_expression' ? 'mono' : undefined}
          autoComplete="off"
          required
          value={draft[name]}
          onChange={(e) => setDraft({ ...draft, [name]: e.target.value })}
        />
      )}
    </Field>
  );
  return (
    <form
      className="form"
      onSubmit={(e: FormEvent) => {
        e.preventDefault();
        add.mutate();
      }}
    >
      {field('name', 'Name')}
      {field('cron_expression', 'When', <Preview cron={draft.cron_expression} timezone={draft.timezone} />)}
      {field('timezone', 'In the time zone')}
      <Field label="Message" wrong={wrong('message')}>
        {(input) => (
          <textarea
            {...input}
            dir="auto"
            required
            value={draft.message}
            onChange={(e) => setDraft({ ...draft, message: e.target.value })}
          />
        )}
      </Field>
      {whole && (
        <p className="problem" role="alert">
          {inWords(add.error)}
        </p>
      )}
      <div className="form-end">
        <button type="submit" className="main" disabled={add.isPending}>
          Add schedule
        </button>
      </div>
    </form>
  );
};

export const Tab = ({ agent }: { agent: AgentDetail }) => {
  const mayEdit = useMayEdit();
  const schedules = useQuery({
    queryKey: [...keys.schedules, agent.name],
    queryFn: async () => (await api.request<Schedule[]>(at(agent.name))).body,
  });
  return (
    <div className="columns">
      <div className="column">
        <Section title="Schedules" count={schedules.data?.length} error={schedules.error}>
          {schedules.data === undefined && !schedules.error && <Skeleton rows={3} />}
          {schedules.data?.length === 0 && (
            <div className="nothing">No schedule gives it work. Add one beside this, or by the API.</div>
          )}
          <ul>
            {schedules.data?.map((s) => (
              <Row key={s.id} agent={agent.name} schedule={s} />
            ))}
          </ul>
        </Section>
      </div>
      {mayEdit && (
        <aside className="column" aria-label="A new one">
          <Section title="A new one">
            <Add agent={agent.name} />
          </Section>
        </aside>
      )}
    </div>
  );
};
