/** A schedule made or changed: the next ticks stand below the pattern as one types it, in the zone that is chosen. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { inWords, write } from '../api.ts';
import { useNow } from '../clock.ts';
import { keys } from '../live/keys.ts';
import { useAgents } from '../now/data.ts';
import { Field, problemOf } from '../parts/field.tsx';
import { Modal } from '../parts/modal.tsx';
import { say } from '../parts/notices.tsx';
import { msOf, span } from '../words/times.ts';
import { useZone } from '../zone.ts';
import { putSchedule, type Schedule, type ScheduleDraft, usePreview } from './data.ts';

const overlapWords = { skip: 'is skipped', queue: 'waits behind it' } as const;
const catchUpWords = { none: 'are skipped', once: 'are made up for by one run', all: 'are all run' } as const;

/** Patterns that most people want, to begin from. */
const patterns = [
  ['every hour', '0 * * * *'],
  ['every day at 7', '0 7 * * *'],
  ['weekdays at 7', '0 7 * * 1-5'],
  ['Mondays at 9', '0 9 * * 1'],
] as const;

const NextTicks = ({ cron, timezone }: { cron: string; timezone: string }) => {
  const now = useNow();
  const preview = usePreview(cron, timezone, 5);
  if (cron.trim() === '') return <>Minute, hour, day, month, weekday; with six fields, seconds first.</>;
  if (preview.isError) return <span className="text-bad">{inWords(preview.error)}</span>;
  if (preview.data === undefined) return <>Reading the pattern…</>;
  if (preview.data.length === 0) return <>It never comes true again.</>;
  return (
    <span className="ticks" data-ticks="">
      {preview.data.map((t) => (
        <span key={t.fire_at}>
          <span>{t.local}</span>
          <span>in {span((msOf(t.fire_at) ?? now) - now)}</span>
        </span>
      ))}
    </span>
  );
};

const fieldNames = ['name', 'cron_expression', 'timezone', 'message', 'jitter_seconds'];

/** `of` null: a new one, of `agent` where that is known. */
export const ScheduleForm = (props: { of: Schedule | null; agent?: string; onClose: () => void }) => {
  const { of, agent, onClose } = props;
  const queries = useQueryClient();
  const zone = useZone();
  const agents = useAgents();
  const [draft, setDraft] = useState<ScheduleDraft>(
    of ?? {
      agent_name: agent ?? '',
      name: '',
      cron_expression: '',
      timezone: zone,
      message: '',
      overlap: 'skip',
      catch_up: 'none',
      jitter_seconds: 0,
    },
  );
  const set = (patch: Partial<ScheduleDraft>) => setDraft({ ...draft, ...patch });
  const save = useMutation({
    mutationFn: () => {
      const { agent_name, name, cron_expression, timezone, message, overlap, catch_up, jitter_seconds } = draft;
      const wanted = { agent_name, name, cron_expression, timezone, message, overlap, catch_up, jitter_seconds };
      return write(() => putSchedule(of?.id ?? null, wanted));
    },
    onSuccess: ({ body }) => {
      say(of === null ? `The schedule ${body.name} is on.` : `The schedule ${body.name} is changed.`);
      void queries.invalidateQueries({ queryKey: keys.schedules });
      onClose();
    },
  });
  const wrong = (field: string) => (save.isError ? problemOf(save.error, field) : undefined);
  const elsewhere = save.isError && fieldNames.every((f) => wrong(f) === undefined);
  return (
    <Modal title={of === null ? 'A new schedule' : `Change ${of.name}`} className="wide-dialog" onClose={onClose}>
      <form
        className="form"
        onSubmit={(e: FormEvent) => {
          e.preventDefault();
          save.mutate();
        }}
      >
        <div className="pair">
          <Field label="Agent">
            {(input) =>
              of === null && agent === undefined ? (
                <select
                  {...input}
                  required
                  value={draft.agent_name}
                  onChange={(e) => set({ agent_name: e.target.value })}
                >
                  <option value="">choose one</option>
                  {agents.data?.map((a) => (
                    <option key={a.name}>{a.name}</option>
                  ))}
                </select>
              ) : (
                <input {...input} readOnly value={draft.agent_name} />
              )
            }
          </Field>
          <Field label="Name" wrong={wrong('name')}>
            {(input) => (
              <input
                {...input}
                required
                maxLength={200}
                autoComplete="off"
                value={draft.name}
                onChange={(e) => set({ name: e.target.value })}
              />
            )}
          </Field>
        </div>
        <div className="pair">
          <Field label="When" wrong={wrong('cron_expression')}>
            {(input) => (
              <input
                {...input}
                className="mono"
                required
                autoComplete="off"
                placeholder="0 7 * * 1-5"
                value={draft.cron_expression}
                onChange={(e) => set({ cron_expression: e.target.value })}
              />
            )}
          </Field>
          <Field label="In the time zone" wrong={wrong('timezone')}>
            {(input) => (
              <input
                {...input}
                required
                list="schedule-zones"
                autoComplete="off"
                value={draft.timezone}
                onChange={(e) => set({ timezone: e.target.value })}
              />
            )}
          </Field>
        </div>
        <datalist id="schedule-zones">
          {Intl.supportedValuesOf('timeZone').map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <div className="flex flex-wrap gap-1">
          {patterns.map(([words, cron]) => (
            <button key={cron} type="button" className="quiet small" onClick={() => set({ cron_expression: cron })}>
              {words}
            </button>
          ))}
        </div>
        <div className="field" aria-live="polite">
          <span className="label">Next</span>
          <span className="hint">
            <NextTicks cron={draft.cron_expression} timezone={draft.timezone} />
          </span>
        </div>
        <Field label="Message" wrong={wrong('message')}>
          {(input) => (
            <textarea
              {...input}
              dir="auto"
              required
              value={draft.message}
              onChange={(e) => set({ message: e.target.value })}
            />
          )}
        </Field>
        <details className="fold">
          <summary className="px-0">Overlap, missed ticks, spread</summary>
          <div className="form">
            <Field label="A tick while an earlier run goes">
              {(input) => (
                <select
                  {...input}
                  value={draft.overlap}
                  onChange={(e) => set({ overlap: e.target.value === 'queue' ? 'queue' : 'skip' })}
                >
                  {Object.entries(overlapWords).map(([value, words]) => (
                    <option key={value} value={value}>
                      {words}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <Field label="Ticks missed while no server was up">
              {(input) => (
                <select
                  {...input}
                  value={draft.catch_up}
                  onChange={(e) => set({ catch_up: e.target.value as ScheduleDraft['catch_up'] })}
                >
                  {Object.entries(catchUpWords).map(([value, words]) => (
                    <option key={value} value={value}>
                      {words}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <Field
              label="Spread, seconds"
              hint="Starts up to this much later, so that many schedules of one minute do not start at once."
              wrong={wrong('jitter_seconds')}
            >
              {(input) => (
                <input
                  {...input}
                  type="number"
                  min={0}
                  max={3600}
                  value={draft.jitter_seconds}
                  onChange={(e) => set({ jitter_seconds: Number(e.target.value) })}
                />
              )}
            </Field>
          </div>
        </details>
        {elsewhere && (
          <p className="problem" role="alert">
            {inWords(save.error)}
          </p>
        )}
        <div className="dialog-actions">
          <button type="button" onClick={onClose}>
            Back
          </button>
          <button type="submit" className="main" disabled={save.isPending}>
            {of === null ? 'Make schedule' : 'Save'}
          </button>
        </div>
      </form>
    </Modal>
  );
};
