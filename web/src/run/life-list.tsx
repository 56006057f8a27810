/** The life of a run as a line of moments. */
import type { ExecutionBody } from '../../../src/client/wire.ts';
import { now } from '../clock.ts';
import { useRunners } from '../now/data.ts';
import { causeTitle } from '../now/ended.tsx';
import { Plain } from '../parts/text.tsx';
import { clockTime, exactTime } from '../words/times.ts';
import { useZone } from '../zone.ts';
import { lifeOf } from './life.ts';

export const Life = ({ row }: { row: ExecutionBody }) => {
  const today = now();
  const zone = useZone();
  const runners = useRunners();
  const hostOf = (id: string) => runners.data?.find((r) => r.id === id)?.host ?? null;
  return (
    <section className="part" aria-label="Life">
      <h3>Life</h3>
      <ol className="life">
        {lifeOf(row, causeTitle, hostOf, zone).map((m) => (
          <li key={`${m.at} ${m.what}`} data-tone={m.tone}>
            <time dateTime={new Date(m.at).toISOString()} title={exactTime(m.at, zone)}>
              {clockTime(m.at, today, zone)}
            </time>
            <span className="what">
              {m.what}
              {m.more !== '' && (
                <span className="more">
                  {' '}
                  <Plain text={m.more} />
                </span>
              )}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
};
