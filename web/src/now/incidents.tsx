/** Trouble that several agents share: which provider is down, what it holds up, and what is done about it without anybody. */
import type { IncidentBody } from '../../../src/client/wire.ts';
import { useNow } from '../clock.ts';
import { RunLink } from '../parts/links.tsx';
import { Section } from '../parts/section.tsx';
import { Ago, Plain } from '../parts/text.tsx';
import { headOf } from '../words/plain.ts';
import { count, msOf, plural, span } from '../words/times.ts';
import { useIncidents } from './data.ts';
import { causeTitle } from './ended.tsx';

const families = { overload: 'is overloaded', provider: 'is down', network: 'cannot be reached' } as const;

const Next = ({ incident }: { incident: IncidentBody }) => {
  const now = useNow();
  const at = msOf(incident.next_at);
  if (incident.state === 'reopening') return <>It answers again: waiting work starts little by little.</>;
  if (incident.probe !== null)
    return (
      <>
        Nothing new starts there. <RunLink id={incident.probe.execution_id}>One run</RunLink> tries it now.
      </>
    );
  return <>Nothing new starts there; the next try is {at === null || at <= now ? 'due' : `in ${span(at - now)}`}.</>;
};

const Incident = ({ incident }: { incident: IncidentBody }) => (
  <li className="item" data-priority="high">
    <h3>
      <Plain text={`${incident.provider} ${families[incident.family] ?? 'fails'}`} />
    </h3>
    <p className="evidence">
      <Next incident={incident} /> {plural(incident.failures, 'run')} of {count(incident.agents.length)} agents failed:{' '}
      {causeTitle(incident.cause)}. <Plain text={headOf(incident.evidence, 200)} />
    </p>
    <div className="foot">
      since <Ago at={incident.opened_at} />
    </div>
  </li>
);

export const Incidents = () => {
  const { open } = useIncidents();
  if (open.length === 0) return null;
  return (
    <Section title="Incidents" count={open.length}>
      <ul>
        {open.map((incident) => (
          <Incident key={incident.id} incident={incident} />
        ))}
      </ul>
    </Section>
  );
};
