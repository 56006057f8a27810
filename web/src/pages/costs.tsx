/** What runs cost: by day, and by agent, model, credential or tag; what was billed told apart from what a plan covers; budgets; the last night. */
import { useMemo, useState } from 'react';
import type { CostGroup } from '../../../src/contract/money.ts';
import { BudgetSection } from '../costs/budgets.tsx';
import { CostChart } from '../costs/chart.tsx';
import { type CostLine, everyDay, since, spans, useCosts } from '../costs/data.ts';
import { Night } from '../costs/night.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Plain } from '../parts/text.tsx';
import { cost, count, plural } from '../words/times.ts';

const groups = ['agent', 'model', 'credential', 'tag', 'day'] as const satisfies readonly CostGroup[];
type Group = (typeof groups)[number];
const noneOf = {
  agent: 'of no agent',
  model: 'not told',
  credential: 'of none',
  tag: 'without a tag',
  day: '',
} as const;

/** Where no run has told its cost there is no amount, not one of $0.00. */
const known = (of: CostLine, usd: number): number | null => (of.runs > 0 && of.unpriced_runs === of.runs ? null : usd);

const Figures = ({ of }: { of: CostLine }) => (
  <dl className="sums">
    <div>
      <dt>In all</dt>
      <dd>
        {cost(known(of, of.cost_usd))}
        <small>{plural(of.runs, 'run')}</small>
      </dd>
    </div>
    <div>
      <dt>Billed</dt>
      <dd>
        {cost(known(of, of.billed_usd))}
        <small>by keys, per token</small>
      </dd>
    </div>
    <div>
      <dt>Notional</dt>
      <dd>
        {cost(known(of, of.notional_usd))}
        <small>covered by plans</small>
      </dd>
    </div>
    {of.unknown_usd > 0 && (
      <div>
        <dt>Kind not known</dt>
        <dd>
          {cost(known(of, of.unknown_usd))}
          <small>which of the two is not known</small>
        </dd>
      </div>
    )}
    {of.unpriced_runs > 0 && (
      <div>
        <dt>Without a price</dt>
        <dd>
          {count(of.unpriced_runs)}
          <small>runs whose cost is not known</small>
        </dd>
      </div>
    )}
  </dl>
);

const Lines = ({ by, lines }: { by: Group; lines: readonly CostLine[] }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways is reached by the keyboard
  <section className="table-scroll" tabIndex={0} aria-label={`Costs by ${by}`}>
    <table>
      <thead>
        <tr>
          <th scope="col">{by}</th>
          <th scope="col">runs</th>
          <th scope="col">billed</th>
          <th scope="col">notional</th>
          <th scope="col" className="wide">
            kind not known
          </th>
          <th scope="col" className="wide">
            tokens in
          </th>
          <th scope="col" className="wide">
            tokens out
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.map((l) => (
          <tr key={l[by] ?? ''}>
            <th scope="row">{l[by] ? <Plain text={l[by]} /> : <span className="muted">{noneOf[by]}</span>}</th>
            <td>
              {count(l.runs)}
              {l.unpriced_runs > 0 && <small className="muted"> {count(l.unpriced_runs)} of unknown cost</small>}
            </td>
            <td>{cost(known(l, l.billed_usd))}</td>
            <td>{cost(known(l, l.notional_usd))}</td>
            <td className="wide">{cost(known(l, l.unknown_usd))}</td>
            <td className="wide">{count(l.input_tokens)}</td>
            <td className="wide">{count(l.output_tokens)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

export const Page = () => {
  const [days, setDays] = useState<number>(30);
  const [by, setBy] = useState<Group>('agent');
  const daily = useCosts('day', days);
  const lines = useCosts(by, days);
  const bars = useMemo(() => everyDay(daily.data?.costs ?? [], days), [daily.data, days]);
  const total = daily.data?.total;
  const csv = new URLSearchParams({ group_by: by === 'day' ? 'day' : `${by},day`, from: since(days), format: 'csv' });
  return (
    <>
      <PageHead
        title="Costs"
        sub={daily.data === undefined ? undefined : `days of ${daily.data.timezone}`}
        actions={
          <a className="button quiet" href={`/api/costs?${csv}`} download="">
            CSV
          </a>
        }
      />
      <div className="filters">
        <fieldset className="segments">
          <legend className="hidden-label">Time</legend>
          {spans.map(([n, words]) => (
            <button key={n} type="button" aria-pressed={days === n} onClick={() => setDays(n)}>
              {words}
            </button>
          ))}
        </fieldset>
      </div>
      <div className="columns">
        <div className="column">
          <Night />
          <Section title="By day" error={daily.error}>
            {daily.data === undefined && daily.error === null && <Skeleton rows={6} />}
            {total !== undefined && total.runs === 0 && (
              <div className="nothing">
                Nothing ran in these {days} days that could cost anything. Each run is counted here when it has ended.
              </div>
            )}
            {total !== undefined && total.runs > 0 && (
              <>
                <Figures of={total} />
                {total.cost_usd > 0 && <CostChart days={bars} />}
              </>
            )}
          </Section>
          {total !== undefined && total.runs > 0 && (
            <Section
              title="In detail"
              error={lines.error}
              more={
                <select
                  aria-label="Grouped by"
                  value={by}
                  onChange={(e) => setBy(groups.find((g) => g === e.target.value) ?? by)}
                >
                  {groups.map((g) => (
                    <option key={g} value={g}>
                      by {g}
                    </option>
                  ))}
                </select>
              }
            >
              {lines.data === undefined ? <Skeleton rows={4} /> : <Lines by={by} lines={lines.data.costs} />}
            </Section>
          )}
        </div>
        <aside className="column" aria-label="Budgets">
          <BudgetSection />
        </aside>
      </div>
    </>
  );
};
