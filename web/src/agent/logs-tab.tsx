/** What its processes said last, as text: for a look at once, without choosing an execution. */
import { useState } from 'react';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Plain } from '../parts/text.tsx';
import { type AgentDetail, useLogs } from './data.ts';

const tails = [100, 500, 2_000];

export const Tab = ({ agent }: { agent: AgentDetail }) => {
  const [tail, setTail] = useState(tails[0]!);
  const logs = useLogs(agent.name, tail);
  const text = logs.data?.logs;
  return (
    <Section
      title="Logs"
      error={logs.error}
      more={
        <select className="w-auto" aria-label="How much" value={tail} onChange={(e) => setTail(Number(e.target.value))}>
          {tails.map((n) => (
            <option key={n} value={n}>
              last {n} lines
            </option>
          ))}
        </select>
      }
    >
      {text === undefined && !logs.error && <Skeleton rows={10} />}
      {text === '' && <div className="nothing">Its processes have said nothing yet.</div>}
      {text !== undefined && text !== '' && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        <pre className="log" tabIndex={0}>
          <Plain text={text} />
        </pre>
      )}
    </Section>
  );
};
