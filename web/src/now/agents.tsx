/** The busiest agents: how much of each cap is in use, start and stop. All of them have a page of their own. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { AgentBody } from '../../../src/client/wire.ts';
import { api, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { AgentLink } from '../parts/links.tsx';
import { useMayEdit } from '../parts/me.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { Section } from '../parts/section.tsx';
import { Occupancy } from '../parts/text.tsx';
import { count } from '../words/times.ts';
import { AddAgent } from './add-agent.tsx';
import { usageOf, useAgents } from './data.ts';

/** Start or stop: neither ends what runs. */
export const TurnButton = ({ agent, className = 'quiet small' }: { agent: AgentBody; className?: string }) => {
  const queries = useQueryClient();
  const stopped = agent.status === 'stopped';
  const turn = useMutation({
    mutationFn: () => write(() => (stopped ? api.startAgent(agent.name) : api.stopAgent(agent.name))),
    onSuccess: ({ message }) => {
      say(message);
      void queries.invalidateQueries({ queryKey: keys.agents });
      void queries.invalidateQueries({ queryKey: keys.ofAgents });
    },
    onError: sayProblem,
  });
  return (
    <button type="button" className={className} disabled={turn.isPending} onClick={() => turn.mutate()}>
      {stopped ? 'Start' : 'Stop'}
      <span className="hidden-label"> {agent.name}</span>
    </button>
  );
};

const AgentRow = ({ agent }: { agent: AgentBody }) => {
  const mayEdit = useMayEdit();
  const use = usageOf(agent);
  const stopped = agent.status === 'stopped';
  return (
    <li className="gauge" data-stopped={stopped}>
      <span className="name">
        <AgentLink name={agent.name} className="font-semibold" />{' '}
        <span className="muted">{agent.model ?? agent.adapter}</span>
      </span>
      <span className="figure">
        {stopped ? (
          <span className="chip flag">stopped</span>
        ) : use.cap === null ? (
          count(use.running)
        ) : (
          <>
            <b>{count(use.running)}</b> of {count(use.cap)}
          </>
        )}
        {mayEdit && <TurnButton agent={agent} />}
      </span>
      {use.cap !== null && <Occupancy used={use.running} most={use.cap} label={`Running for ${agent.name}`} />}
      {(use.queued > 0 || use.waiting > 0) && (
        <div className="foot">
          {use.queued > 0 && <span className="waits">{count(use.queued)} waiting</span>}
          {use.waiting > 0 && <span>{count(use.waiting)} in calls</span>}
        </div>
      )}
    </li>
  );
};

/** More than this is a list, and has its page. */
const shownMost = 12;

export const Agents = () => {
  const mayEdit = useMayEdit();
  const agents = useAgents();
  const all = agents.data ?? [];
  // A handful stands by name, so that nothing jumps; of many, those with something to do.
  const busy = (a: AgentBody) => (a.running ?? 0) + (a.waiting ?? 0) + (a.queued ?? 0);
  const chosen = all.length <= shownMost ? all : [...all].sort((a, b) => busy(b) - busy(a)).slice(0, shownMost);
  const rows = [...chosen].sort((a, b) => a.name.localeCompare(b.name));
  return (
    <Section
      title="Agents"
      count={agents.data?.length}
      error={agents.error}
      none={agents.data?.length === 0 ? 'No agent yet.' : undefined}
      more={
        all.length > shownMost && (
          <Link className="link" to="/agents">
            all
          </Link>
        )
      }
    >
      <ul>
        {rows.map((agent) => (
          <AgentRow key={agent.name} agent={agent} />
        ))}
      </ul>
      {mayEdit && <AddAgent open={agents.data?.length === 0} />}
    </Section>
  );
};
