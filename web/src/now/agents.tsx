/** The agents: what each is, how much of its cap is in use, start and stop, and the form that adds one. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { AgentBody } from '../../../src/client/wire.ts';
import { api, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { useMayEdit } from '../parts/me.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { Section } from '../parts/section.tsx';
import { Occupancy } from '../parts/text.tsx';
import { count } from '../words/times.ts';
import { AddAgent } from './add-agent.tsx';
import { usageOf, useAgents } from './data.ts';

const AgentRow = ({ agent }: { agent: AgentBody }) => {
  const mayEdit = useMayEdit();
  const queries = useQueryClient();
  const use = usageOf(agent);
  const stopped = agent.status === 'stopped';
  const turn = useMutation({
    mutationFn: () => write(() => (stopped ? api.startAgent(agent.name) : api.stopAgent(agent.name))),
    onSuccess: ({ message }) => {
      say(message);
      void queries.invalidateQueries({ queryKey: keys.agents });
    },
    onError: sayProblem,
  });
  const kind = agent.model ?? agent.adapter;
  return (
    <li className="gauge" data-stopped={stopped}>
      <span className="name">
        <b>{agent.name}</b> <span className="muted">{kind}</span>
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
        {mayEdit && (
          <button type="button" className="quiet small" disabled={turn.isPending} onClick={() => turn.mutate()}>
            {stopped ? 'Start' : 'Stop'}
            <span className="hidden-label"> {agent.name}</span>
          </button>
        )}
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

export const Agents = () => {
  const mayEdit = useMayEdit();
  const agents = useAgents();
  const rows = [...(agents.data ?? [])].sort((a, b) => a.name.localeCompare(b.name));
  return (
    <Section
      title="Agents"
      count={agents.data?.length}
      error={agents.error}
      none={agents.data?.length === 0 ? 'No agent yet.' : undefined}
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
