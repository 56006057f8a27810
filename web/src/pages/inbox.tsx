/**
 * All that needs a person, the gravest first: what agents ask, answered in place, and what went wrong, put away when it was seen.
 * And what is past: who answered what, and whether the answer reached who asked.
 */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { OperatorItemBody } from '../../../src/client/wire.ts';
import { api } from '../api.ts';
import { keys } from '../live/keys.ts';
import { useOperatorItems } from '../now/data.ts';
import { OperatorItem } from '../now/operator-items.tsx';
import { AgentLink, RunLink } from '../parts/links.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Ago, Plain } from '../parts/text.tsx';
import { headOf } from '../words/plain.ts';
import { plural } from '../words/times.ts';

const weight = { high: 0, normal: 1, low: 2 };
const byWeight = (a: OperatorItemBody, b: OperatorItemBody) => weight[a.priority] - weight[b.priority];

const Open = ({ title, rows, none }: { title: string; rows: OperatorItemBody[]; none: string }) => (
  <Section title={title} count={rows.length === 0 ? undefined : rows.length}>
    {rows.length === 0 && <div className="nothing">{none}</div>}
    <ul>
      {rows.map((item) => (
        <OperatorItem key={item.id} item={item} />
      ))}
    </ul>
  </Section>
);

const delivered = {
  pending: 'on its way',
  returned: 'the run took it',
  resumed: 'given as the next turn of its session',
  failed: 'could not be given',
} as const;

const PastItem = ({ item }: { item: OperatorItemBody }) => (
  <li className="past">
    <div className="title">
      <span className="chip">{item.kind}</span>
      <Plain text={headOf(item.title, 240)} />
    </div>
    <span className="time">
      <Ago at={item.last_at} />
    </span>
    {item.status === 'answered' && (
      <p className="answer">
        <b>
          <Plain text={headOf(item.answer, 400)} />
        </b>
        {item.note !== null && (
          <>
            {' '}
            – <Plain text={headOf(item.note, 300)} />
          </>
        )}
      </p>
    )}
    <p className="foot">
      {item.agent_name !== null && <AgentLink name={item.agent_name} className="link" />}
      <span>
        {item.status === 'answered'
          ? `answered by ${item.answered_by ?? 'somebody'}`
          : item.status === 'closed'
            ? 'over by itself: it went well again, or who asked has gone'
            : `seen by ${item.answered_by ?? 'somebody'}; it comes back when it goes on`}
      </span>
      {item.delivery !== null && (
        <span className={item.delivery === 'failed' ? 'text-bad' : undefined}>
          {delivered[item.delivery]}
          {item.delivery_note !== null && `: ${item.delivery_note}`}
        </span>
      )}
      {item.execution_id !== null && (
        <RunLink id={item.execution_id}>
          the run<span className="hidden-label"> of {item.agent_name}</span>
        </RunLink>
      )}
      {item.answer_execution_id !== null && item.answer_execution_id !== item.execution_id && (
        <RunLink id={item.answer_execution_id}>the turn that got it</RunLink>
      )}
    </p>
  </li>
);

/** The newest that one answer of the server holds. */
const listed = 500;

const Past = () => {
  const all = useQuery({ queryKey: [...keys.operator, 'all'], queryFn: () => api.operatorItems(true) });
  const past = all.data?.filter((i) => i.status !== 'open' && (i.status !== 'acknowledged' || i.kind === 'alert'));
  return (
    <Section
      title="Past"
      count={past?.length}
      error={all.error}
      more={(all.data?.length ?? 0) >= listed ? `of the newest ${listed}` : undefined}
    >
      {past === undefined && all.error === null && <Skeleton rows={6} />}
      {past?.length === 0 && <div className="nothing">Nothing was answered or put away so far.</div>}
      <ul>
        {past?.map((item) => (
          <PastItem key={item.id} item={item} />
        ))}
      </ul>
    </Section>
  );
};

export const Page = () => {
  const items = useOperatorItems();
  const [past, setPast] = useState(false);
  const rows = [...(items.data ?? [])].sort(byWeight);
  const alerts = rows.filter((i) => i.kind === 'alert');
  const asked = rows.filter((i) => i.kind !== 'alert');
  return (
    <>
      <PageHead
        title="Inbox"
        count={items.data == null ? undefined : rows.length}
        sub={
          items.data == null
            ? undefined
            : rows.length === 0
              ? 'nothing needs you'
              : `${plural(asked.length, 'question')} to answer, ${plural(alerts.length, 'alert')}`
        }
      />
      <div className="filters">
        <fieldset className="segments">
          <legend className="hidden-label">Which</legend>
          <button type="button" aria-pressed={!past} onClick={() => setPast(false)}>
            Needs you
          </button>
          <button type="button" aria-pressed={past} onClick={() => setPast(true)}>
            Past
          </button>
        </fieldset>
      </div>
      {past ? (
        <Past />
      ) : items.data === undefined || items.error ? (
        <Section title="Needs you" error={items.error}>
          {items.error === null && <Skeleton rows={6} />}
        </Section>
      ) : (
        <div className="column">
          <Open
            title="Asked"
            rows={asked}
            none="No agent waits for an answer. A question shows here as soon as one is asked, and goes on with what you say."
          />
          <Open
            title="Alerts"
            rows={alerts}
            none="No alert. What fails again and again, or needs a new login, is said here with its evidence."
          />
        </div>
      )}
    </>
  );
};
