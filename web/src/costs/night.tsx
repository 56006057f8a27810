/** The last night in numbers: how it went and what it cost. A line for the page Now, figures and the whole report for Costs. */
import { Link } from '@tanstack/react-router';
import { costUntold } from '../../../src/contract/dollars.ts';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Plain } from '../parts/text.tsx';
import { cost, count, notKnown, plural } from '../words/times.ts';
import { useMorning } from './data.ts';

/** In one line, and nothing where nothing ended. */
export const NightLine = () => {
  const { data } = useMorning();
  if (data === undefined || data.happened.ended === 0) return null;
  const { happened: h, cost: c } = data;
  return (
    <span>
      {costUntold(c) ? (
        'What the last night cost is not known'
      ) : (
        <>
          The last night cost <b className="text-ink">{cost(c.total_usd)}</b>
        </>
      )}
      : {count(h.good)} of {plural(h.ended, 'run')} ended well, {count(h.failed)} failed.{' '}
      <Link to="/costs" className="link">
        How it went
      </Link>
    </span>
  );
};

export const Night = () => {
  const { data, error } = useMorning();
  return (
    <Section title="The last night" error={error}>
      {data === undefined && error === null && <Skeleton rows={4} />}
      {data !== undefined && (
        <>
          <dl className="sums">
            <div>
              <dt>It cost</dt>
              <dd>
                {costUntold(data.cost) ? notKnown : cost(data.cost.total_usd)}
                <small>{cost(data.cost.billed_usd)} billed</small>
              </dd>
            </div>
            <div>
              <dt>Led to nothing</dt>
              <dd>
                {cost(data.cost.wasted_usd)}
                <small>of what ended</small>
              </dd>
            </div>
            <div>
              <dt>Ended well</dt>
              <dd>
                {count(data.happened.good)}
                <small>of {plural(data.happened.ended, 'run')}</small>
              </dd>
            </div>
            <div>
              <dt>Failed</dt>
              <dd>
                {count(data.happened.failed)}
                <small>
                  {data.happened.by_cause[0] === undefined ? 'none' : <Plain text={data.happened.by_cause[0].title} />}
                </small>
              </dd>
            </div>
          </dl>
          <details className="fold px-3.5 pb-2.5">
            <summary className="px-0">The whole report</summary>
            <Plain text={data.text} block />
          </details>
        </>
      )}
    </Section>
  );
};
