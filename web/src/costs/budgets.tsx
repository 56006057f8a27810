/** What may be spent by a day or a month, by the fleet or an agent: how much of it is gone, changed in place, taken away. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, inWords, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { useAgents } from '../now/data.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { Field, problemOf } from '../parts/field.tsx';
import { useMayEdit } from '../parts/me.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { Section } from '../parts/section.tsx';
import { Plain, Track } from '../parts/text.tsx';
import { cost } from '../words/times.ts';
import { useBudgets } from './data.ts';

type Budget = NonNullable<ReturnType<typeof useBudgets>['data']>['budgets'][number];
type Period = Budget['period'];
const whose = (agent: string | null): string => agent ?? 'the whole fleet';

const useSetBudget = () => {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (b: { agent_name: string | null; period: Period; limit_usd: number | null }) =>
      write(() => api.setBudget(b)),
    onSuccess: (budgets, b) => {
      queries.setQueryData(keys.budgets, budgets);
      say(
        b.limit_usd === null
          ? `The budget of ${whose(b.agent_name)} is taken away.`
          : `${whose(b.agent_name)}: at most ${cost(b.limit_usd)} a ${b.period}.`,
      );
    },
  });
};

const Row = ({ of }: { of: Budget }) => {
  const mayEdit = useMayEdit();
  const set = useSetBudget();
  const about = <span className="hidden-label"> of {whose(of.agent_name)}</span>;
  const spent = of.spent_usd >= of.limit_usd;
  return (
    <li className="card">
      <span className="title">
        <b>
          <Plain text={of.agent_name ?? 'Whole fleet'} />
        </b>
        <span className="muted">a {of.period}</span>
      </span>
      <span className="state">
        <b>{cost(of.spent_usd)}</b> of {cost(of.limit_usd)}
      </span>
      <Track
        label={`Budget of ${whose(of.agent_name)} a ${of.period}`}
        used={of.spent_usd}
        most={of.limit_usd}
        fullAt={of.limit_usd * 0.8}
      />
      <span className="foot">
        {spent ? (
          <span className="text-bad">
            used up: new work waits until the {of.period} is over or the budget is raised
          </span>
        ) : (
          <span>{cost(of.left_usd)} left</span>
        )}
        {of.reserved_usd > 0 && <span>{cost(of.reserved_usd)} kept for what runs</span>}
      </span>
      {mayEdit && (
        <span className="acts">
          <ConfirmButton
            className="quiet small"
            disabled={set.isPending}
            label={<>Take away{about}</>}
            title={`Take away the budget of ${whose(of.agent_name)}?`}
            about={
              <p>Nothing stops its spending by the {of.period} then. What waits for the budget may start at once.</p>
            }
            action="Take it away"
            danger
            onConfirm={() =>
              set.mutate({ agent_name: of.agent_name, period: of.period, limit_usd: null }, { onError: sayProblem })
            }
          />
        </span>
      )}
    </li>
  );
};

const SetBudget = () => {
  const agents = useAgents();
  const set = useSetBudget();
  const [agent, setAgent] = useState('');
  const [period, setPeriod] = useState<Period>('day');
  const [usd, setUsd] = useState('');
  return (
    <form
      className="form line-above"
      onSubmit={(e) => {
        e.preventDefault();
        set.mutate(
          { agent_name: agent === '' ? null : agent, period, limit_usd: Number(usd) },
          { onSuccess: () => setUsd('') },
        );
      }}
    >
      <Field label="For" wrong={problemOf(set.error, 'agent_name')}>
        {(input) => (
          <select {...input} value={agent} onChange={(e) => setAgent(e.target.value)}>
            <option value="">the whole fleet</option>
            {agents.data?.map((a) => (
              <option key={a.name} value={a.name}>
                {a.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div className="pair">
        <Field label="At most, $" wrong={problemOf(set.error, 'limit_usd')}>
          {(input) => (
            <input
              {...input}
              type="number"
              min="0.01"
              step="0.01"
              required
              value={usd}
              onChange={(e) => setUsd(e.target.value)}
            />
          )}
        </Field>
        <Field label="A">
          {(input) => (
            <select {...input} value={period} onChange={(e) => setPeriod(e.target.value === 'month' ? 'month' : 'day')}>
              <option value="day">day</option>
              <option value="month">month</option>
            </select>
          )}
        </Field>
      </div>
      {set.isError && problemOf(set.error, 'limit_usd') === undefined && (
        <p className="problem" role="alert">
          {inWords(set.error)}
        </p>
      )}
      <div className="form-end">
        <button type="submit" className="main" disabled={set.isPending}>
          Set budget
        </button>
        <span className="hint">The same again changes it.</span>
      </div>
    </form>
  );
};

export const BudgetSection = () => {
  const mayEdit = useMayEdit();
  const budgets = useBudgets();
  return (
    <Section title="Budgets" error={budgets.error}>
      {budgets.data?.budgets.length === 0 && (
        <p className="px-3.5 pb-3 text-ink-2">
          No budget: nothing stops the spending. With one, new work waits when it is used up.
        </p>
      )}
      <ul>
        {budgets.data?.budgets.map((b) => (
          <Row key={`${b.agent_name ?? ''}/${b.period}`} of={b} />
        ))}
      </ul>
      {mayEdit && <SetBudget />}
    </Section>
  );
};
