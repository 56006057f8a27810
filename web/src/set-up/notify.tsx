/** Where a person is told when something needs one: a webhook, signed, plain or for Slack; tried now; and the last of what was sent. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { NotifyFormat, Severity } from '../../../src/contract/operator.ts';
import { api, inWords, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { Field, problemOf } from '../parts/field.tsx';
import { say, sayProblem } from '../parts/notices.tsx';
import { Section } from '../parts/section.tsx';
import { Ago, Plain } from '../parts/text.tsx';
import { useNotifications } from './data.ts';

// The contract's own lists bring a validator of 25 kB with them; the types hold these complete.
const formatWords: Record<NotifyFormat, string> = { json: 'plain JSON', slack: 'slack' };
const formats = Object.keys(formatWords) as NotifyFormat[];
const severityWords: Record<Severity, string> = { low: 'low', normal: 'normal', high: 'high' };
const severities = Object.keys(severityWords) as Severity[];

const stateWords = { waiting: 'on its way', sent: 'sent', gave_up: 'given up' };

const Target = ({ onDone }: { onDone: () => void }) => {
  const [url, setUrl] = useState('');
  const [secret, setSecret] = useState('');
  const [format, setFormat] = useState<NotifyFormat>('json');
  const [severity, setSeverity] = useState<Severity>('low');
  const save = useMutation({
    mutationFn: () => write(() => api.setNotifications({ url, format, min_severity: severity, secret })),
    onSuccess: () => {
      setUrl('');
      setSecret('');
      onDone();
      say('Notifications go there from now on. Try it.');
    },
  });
  return (
    <form
      className="form"
      onSubmit={(e) => {
        e.preventDefault();
        save.mutate();
      }}
    >
      <Field label="Webhook" hint="An address that takes POST." wrong={problemOf(save.error, 'url')}>
        {(input) => (
          <input
            {...input}
            type="url"
            value={url}
            onChange={(e) => setUrl(e.target.value)}
            placeholder="https://…"
            required
          />
        )}
      </Field>
      <div className="pair">
        <Field label="Shape">
          {(input) => (
            <select
              {...input}
              value={format}
              onChange={(e) => setFormat(formats.find((f) => f === e.target.value) ?? format)}
            >
              {formats.map((f) => (
                <option key={f} value={f}>
                  {formatWords[f]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="From severity">
          {(input) => (
            <select
              {...input}
              value={severity}
              onChange={(e) => setSeverity(severities.find((s) => s === e.target.value) ?? severity)}
            >
              {severities.map((s) => (
                <option key={s} value={s}>
                  {severityWords[s]}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Field
        label="Signing secret"
        hint="Signs each notification, so that the receiver knows who sends."
        wrong={problemOf(save.error, 'secret')}
      >
        {(input) => (
          <input
            {...input}
            type="password"
            value={secret}
            onChange={(e) => setSecret(e.target.value)}
            autoComplete="new-password"
            required
          />
        )}
      </Field>
      {save.isError && problemOf(save.error, 'url') === undefined && (
        <p className="problem" role="alert">
          {inWords(save.error)}
        </p>
      )}
      <div className="form-end">
        <button type="submit" className="main" disabled={save.isPending}>
          Notify there
        </button>
      </div>
    </form>
  );
};

export const NotifySection = () => {
  const queries = useQueryClient();
  const { data, error } = useNotifications();
  const stale = () => queries.invalidateQueries({ queryKey: keys.notifications });
  const test = useMutation({
    mutationFn: () => write(() => api.testNotifications()),
    onSuccess: (r) =>
      say(
        r.delivered ? 'It arrived.' : `It did not arrive: ${r.error ?? `the receiver answered ${r.status}`}.`,
        r.delivered ? 'plain' : 'bad',
      ),
    onError: sayProblem,
    onSettled: stale,
  });
  const stop = useMutation({
    mutationFn: () => write(() => api.stopNotifications()),
    onSuccess: ({ message }) => say(message),
    onError: sayProblem,
    onSettled: stale,
  });
  return (
    <Section
      title="Notifications"
      error={error}
      none={data?.configured === false ? 'Nobody is told but this page.' : undefined}
    >
      {data?.configured && (
        <div className="entry">
          <span className="name">{data.format === 'json' ? 'webhook' : data.format}</span>
          <span className="about">
            <Plain text={data.url ?? ''} /> · from {data.min_severity} · {data.signed ? 'signed' : 'not signed'}
          </span>
          <span className="time" />
          <span className="act">
            <button type="button" className="quiet small" disabled={test.isPending} onClick={() => test.mutate()}>
              {test.isPending ? 'Sending…' : 'Try it'}
            </button>
            <ConfirmButton
              className="quiet small"
              label="Stop"
              title="Notify nobody?"
              about={<p>What waits to be sent is given up. The inbox stays as it is.</p>}
              action="Stop"
              danger
              onConfirm={() => stop.mutate()}
            />
          </span>
        </div>
      )}
      <ul>
        {data?.deliveries.slice(0, 8).map((d) => (
          <li key={d.id} className="entry">
            <span className="name font-normal">{stateWords[d.state]}</span>
            <span className="about">
              <Plain text={d.title} />
              {d.last_error !== null && (
                <span className="text-bad">
                  {' '}
                  <Plain text={d.last_error} />
                </span>
              )}
            </span>
            <span className="time">
              <Ago at={d.created_at} />
            </span>
          </li>
        ))}
      </ul>
      <details className="fold" open={data?.configured === false}>
        <summary>{data?.configured ? 'Another receiver' : 'Tell a webhook'}</summary>
        <Target onDone={stale} />
      </details>
    </Section>
  );
};
