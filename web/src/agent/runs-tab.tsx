/** The executions of one agent, with the filters of the list of all. */
import { Filters, useFilters } from '../executions/filters.tsx';
import { RunTable } from '../executions/run-table.tsx';
import type { AgentDetail } from './data.ts';

const none = { status: '', cause: '', triggered_by: '', search: '' };

export const Tab = ({ agent }: { agent: AgentDetail }) => {
  const [filters, change] = useFilters();
  return (
    <>
      <Filters filters={filters} change={change} agent={false} />
      <RunTable
        ofAgent
        filters={{ ...filters, agent: agent.name }}
        onClear={() => change(none)}
        empty={`${agent.name} has run nothing yet. Write to it under Chat.`}
      />
    </>
  );
};
