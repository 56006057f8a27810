/** All agents, those with most to do first: what each is, how much of its cap is in use, what waits; start, stop, add. */
import { memo, useState } from 'react';
import type { AgentBody } from '../../../src/client/wire.ts';
import { inWords } from '../api.ts';
import { AddAgent } from '../now/add-agent.tsx';
import { TurnButton } from '../now/agents.tsx';
import { usageOf, useAgents } from '../now/data.ts';
import { AgentLink } from '../parts/links.tsx';
import { useMayEdit } from '../parts/me.ts';
import { PageHead } from '../parts/page-head.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Occupancy, Plain } from '../parts/text.tsx';
import { VirtualRows } from '../parts/virtual-rows.tsx';
import { count } from '../words/times.ts';

const AgentRow = memo(({ agent }: { agent: AgentBody }) => {
  const mayEdit = useMayEdit();
  const use = usageOf(agent);
  return (
    <div className="row agent-row" data-stopped={agent.status === 'stopped'}>
      <AgentLink name={agent.name} className="open agent" />
      <span className="head">
        <Plain text={[agent.adapter, agent.model].filter(Boolean).join(' · ')} />
      </span>
      <span className="chips">
        {agent.status === 'stopped' && <span className="chip flag">stopped</span>}
        {use.queued > 0 && <span className="chip flag">{count(use.queued)} waiting</span>}
        {use.waiting > 0 && <span className="chip">{count(use.waiting)} in calls</span>}
      </span>
      <span className="use">
        {use.cap !== null && <Occupancy used={use.running} most={use.cap} label={`Running for ${agent.name}`} />}
      </span>
      <span className="figure">
        <b>{count(use.running)}</b>
        {use.cap !== null && ` of ${count(use.cap)}`}
      </span>
      <span className="act">{mayEdit && <TurnButton agent={agent} />}</span>
    </div>
  );
});

/** Busy ones first; then by name. */
const byUse = (a: AgentBody, b: AgentBody): number => {
  const [x, y] = [usageOf(a), usageOf(b)];
  return y.running + y.waiting - x.running - x.waiting || y.queued - x.queued || a.name.localeCompare(b.name);
};

export const Page = () => {
  const mayEdit = useMayEdit();
  const agents = useAgents();
  const [find, setFind] = useState('');
  const wanted = find.trim().toLowerCase();
  const rows = agents.data
    ?.filter((a) => wanted === '' || `${a.name} ${a.adapter} ${a.model} ${a.type}`.toLowerCase().includes(wanted))
    .sort(byUse);
  return (
    <>
      <PageHead title="Agents" count={agents.data?.length} />
      <search className="filters">
        <input
          type="search"
          className="w-full md:w-64"
          aria-label="Find an agent"
          placeholder="Find an agent"
          data-find=""
          value={find}
          onChange={(e) => setFind(e.target.value)}
        />
      </search>
      <div className="columns">
        <div className="column">
          <section className="section" aria-label="Agents">
            {agents.error !== null && (
              <p className="problem pt-3" role="alert">
                {inWords(agents.error)}
              </p>
            )}
            {rows === undefined && agents.error === null && <Skeleton rows={10} />}
            {rows?.length === 0 && (
              <div className="nothing">
                {agents.data?.length === 0
                  ? 'No agent yet. Add one here, or type: bin/drover demo'
                  : 'No agent is named like that.'}
              </div>
            )}
            {rows !== undefined && rows.length > 0 && (
              <VirtualRows
                label="Agents"
                rows={rows}
                keyOf={(a) => a.name}
                height={41}
                phoneHeight={66}
                render={(a) => <AgentRow agent={a} />}
              />
            )}
          </section>
        </div>
        {mayEdit && (
          <aside className="column" aria-label="Add an agent">
            <section className="section">
              <AddAgent open={agents.data?.length === 0} />
            </section>
          </aside>
        )}
      </div>
    </>
  );
};
