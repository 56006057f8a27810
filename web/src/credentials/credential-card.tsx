/** One login: its state in words with a clock until it is good again, the room in its plan, what was said of it last, and its history. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { CredentialBody } from '../../../src/client/wire.ts';
import type { Cause } from '../../../src/contract/causes.ts';
import { api, write } from '../api.ts';
import { useNow } from '../clock.ts';
import { keys } from '../live/keys.ts';
import { causeTitle } from '../now/ended.tsx';
import { ConfirmButton } from '../parts/confirm.tsx';
import { RunLink } from '../parts/links.tsx';
import { useMayEdit } from '../parts/me.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { Ago, Mark, Plain, Track } from '../parts/text.tsx';
import { headOf } from '../words/plain.ts';
import { clockTime, exactTime, msOf, plural, span } from '../words/times.ts';
import { useZone } from '../zone.ts';
import { type CredentialEvent, kindWords } from './data.ts';

const states = {
  ok: ['success', 'good'],
  limited: ['waiting', 'used up'],
  rejected: ['failed', 'rejected'],
  unknown: ['queued', 'not tried yet'],
} as const;

const State = ({ of }: { of: CredentialBody }) => {
  const now = useNow();
  const zone = useZone();
  const until = msOf(of.until);
  const [mark, words] = states[of.state] ?? states.unknown;
  return (
    <span className="inline-flex items-center gap-2">
      <span aria-hidden="true">
        <Mark status={mark} />
      </span>
      <b className={of.state === 'rejected' ? 'text-bad' : of.state === 'limited' ? 'text-wait' : undefined}>
        {of.state === 'unknown' && of.last_used_at !== null ? 'nothing known yet' : words}
      </b>
      {of.state === 'rejected' && until === null && <span className="muted">until it has a new secret</span>}
      {until !== null && of.state !== 'ok' && (
        <time className="muted" dateTime={of.until ?? undefined} title={exactTime(until, zone)}>
          {until <= now
            ? 'the next run tries it'
            : `${of.state === 'limited' ? 'good again' : 'tried again'} in ${span(until - now)}, at ${clockTime(until, now, zone)}`}
        </time>
      )}
    </span>
  );
};

const windowWords = (name: string): string => name.replaceAll('_', ' ');

const Headroom = ({ of }: { of: NonNullable<CredentialBody['headroom']> }) => {
  const now = useNow();
  return (
    <ul className="windows" aria-label="Room in its plan">
      {of.windows.map((w) => {
        const resets = msOf(w.resets_at);
        const used = w.utilization === null ? null : Math.round(w.utilization * 100);
        return (
          <li key={w.window}>
            <span className="flex justify-between gap-2">
              <span>
                {windowWords(w.window)} {used === null ? 'not told' : `${used}% used`}
              </span>
              {resets !== null && (
                <span className="muted">{resets > now ? `resets in ${span(resets - now)}` : 'has reset since'}</span>
              )}
            </span>
            {used !== null && <Track label={`Used of ${windowWords(w.window)}`} used={used} most={100} fullAt={90} />}
          </li>
        );
      })}
    </ul>
  );
};

const effectWords = (effect: string | null): string =>
  effect === null || effect === 'state' ? '' : `did not count: ${effect.replaceAll('_', ' ')}`;

const History = ({ events }: { events: CredentialEvent[] }) =>
  events.length === 0 ? (
    <p className="muted py-1">No provider said anything of it so far.</p>
  ) : (
    <ul className="ticks">
      {events.slice(0, 30).map((e) => {
        const [mark, words] = states[e.state as keyof typeof states] ?? states.unknown;
        return (
          <li key={e.id}>
            <span aria-hidden="true">
              <Mark status={mark} />
            </span>
            <span className="min-w-0">
              {words}: <RunLink id={e.execution_id}>{causeTitle(e.cause as Cause)}</RunLink>{' '}
              <span className="muted">
                of <Plain text={e.agent_name} /> <Plain text={headOf(e.evidence, 200)} /> {effectWords(e.effect)}
              </span>
            </span>
            <span className="nowrap muted">
              <Ago at={e.at} />
            </span>
          </li>
        );
      })}
    </ul>
  );

export const CredentialCard = (props: { of: CredentialBody; events: CredentialEvent[]; onChange: () => void }) => {
  const { of } = props;
  const mayEdit = useMayEdit();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => write(() => api.deleteCredential(of.id)),
    onSuccess: ({ message }) => {
      say(message);
      void queries.invalidateQueries({ queryKey: keys.credentials });
    },
    onError: sayProblem,
  });
  const about = <span className="hidden-label"> {of.name}</span>;
  return (
    <li className="card">
      <span className="title">
        <b>
          <Plain text={of.name} />
        </b>
        <span className="muted">{kindWords[of.kind] ?? of.kind}</span>
      </span>
      <span className="state">
        <State of={of} />
      </span>
      {of.last_evidence !== null && of.state !== 'ok' && (
        <span className="about whole">
          <Plain text={headOf(of.last_evidence, 300)} />
        </span>
      )}
      {of.headroom !== null && of.headroom.windows.length > 0 && <Headroom of={of.headroom} />}
      <span className="foot">
        <span>
          {of.running === 0 ? 'no run' : plural(of.running, 'run')} on it now
          {of.max_parallel !== null && `, at most ${of.max_parallel}`}
          {of.pace !== null && `; its provider bears ${of.pace} at once`}
        </span>
        <span>
          {of.last_used_at === null ? (
            'never used'
          ) : (
            <>
              used <Ago at={of.last_used_at} />
            </>
          )}
        </span>
        {of.agents.length > 0 && (
          <span>
            assigned to <Plain text={of.agents.slice(0, 8).join(', ')} />
            {of.agents.length > 8 && ` and ${of.agents.length - 8} more`}
          </span>
        )}
      </span>
      <details className="fold">
        <summary>History{about}</summary>
        <History events={props.events} />
      </details>
      {mayEdit && (
        <span className="acts">
          <button type="button" className="quiet small" onClick={props.onChange}>
            {of.kind === 'host_login' ? 'Change' : 'Replace or change'}
            {about}
          </button>
          <ConfirmButton
            className="quiet small"
            disabled={remove.isPending}
            label={<>Remove{about}</>}
            title={`Remove the credential ${of.name}?`}
            about={
              <p>
                Its secret is gone for good. What runs keeps what it was lent.{' '}
                {of.agents.length > 0 && `${of.agents.join(', ')} will have no login of their own.`}
              </p>
            }
            action="Remove it"
            danger
            onConfirm={() => remove.mutate()}
          />
        </span>
      )}
    </li>
  );
};
