/**
 * What a person must see or answer. Acknowledging says "seen": the alert leaves the list until it goes on an hour later or gets
 * worse. A question stays until it is answered.
 */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { OperatorItemBody } from '../../../src/client/wire.ts';
import { api, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { RunLink } from '../parts/links.tsx';
import { useMayEdit } from '../parts/me.ts';
import { sayProblem } from '../parts/notices.tsx';
import { Section } from '../parts/section.tsx';
import { Ago, Plain } from '../parts/text.tsx';
import { headOf } from '../words/plain.ts';
import { count } from '../words/times.ts';
import { AnswerBox } from './answer-box.tsx';
import { useOperatorItems } from './data.ts';

/** Whole: it is what a person decides by. */
const asked = (item: OperatorItemBody): string => item.evidence.map((text) => text.slice(0, 10_000)).join('\n');

export const OperatorItem = ({ item }: { item: OperatorItemBody }) => {
  const queries = useQueryClient();
  const mayEdit = useMayEdit();
  const alert = item.kind === 'alert';
  const seen = useMutation({
    mutationFn: () => write(() => api.acknowledge(item.id)),
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.operator }),
    onError: sayProblem,
  });
  return (
    <li className="item" data-priority={item.priority} data-kind={item.kind}>
      <h3>
        {!alert && <span className="chip">{item.kind}</span>}
        <Plain text={headOf(item.title, 240)} />
        {item.count > 1 && <span className="chip">{count(item.count)} times</span>}
      </h3>
      <p className="evidence">
        <Plain text={alert ? item.evidence.map((line) => headOf(line, 300)).join(' · ') : asked(item)} />
      </p>
      <div className="foot">
        {!alert && item.agent_name !== null && <span>{item.agent_name}</span>}
        <Ago at={item.last_at} />
        {item.execution_id !== null && (
          <RunLink id={item.execution_id}>
            the run<span className="hidden-label"> of {item.agent_name}</span>
          </RunLink>
        )}
      </div>
      {mayEdit && !alert && <AnswerBox item={item} />}
      {mayEdit && alert && (
        <button type="button" className="small" disabled={seen.isPending} onClick={() => seen.mutate()}>
          Acknowledge
          <span className="hidden-label">: {headOf(item.title, 60)}</span>
        </button>
      )}
    </li>
  );
};

/** Who waits for an answer, and the gravest; what runs must not be pushed off the screen by what went wrong. */
const shownAtFirst = 5;

const weight = { high: 0, normal: 1, low: 2 };
/** Somebody waits for an answer; an alert waits for nobody. */
const waits = (item: OperatorItemBody) => (item.kind === 'alert' ? 1 : 0);

export const OperatorItems = () => {
  const items = useOperatorItems();
  const [all, setAll] = useState(false);
  const rows = [...(items.data ?? [])].sort((a, b) => waits(a) - waits(b) || weight[a.priority] - weight[b.priority]);
  if (rows.length === 0 && !items.error) return null;
  return (
    <Section title="Needs you" count={items.data === undefined ? undefined : rows.length} error={items.error}>
      <ul>
        {(all ? rows : rows.slice(0, shownAtFirst)).map((item) => (
          <OperatorItem key={item.id} item={item} />
        ))}
      </ul>
      {!all && rows.length > shownAtFirst && (
        <p className="more-rows">
          <button type="button" className="quiet small" onClick={() => setAll(true)}>
            Show {count(rows.length - shownAtFirst)} more
          </button>
        </p>
      )}
    </Section>
  );
};
