/** All executions, newest first: filters in the address, search, as far back as they are kept. */
import { Filters, useFilters } from '../executions/filters.tsx';
import { RunTable } from '../executions/run-table.tsx';
import { PageHead } from '../parts/page-head.tsx';

const none = { status: '', agent: '', cause: '', triggered_by: '', search: '' };

export const Page = () => {
  const [filters, change] = useFilters();
  return (
    <>
      <PageHead title="Executions" />
      <Filters filters={filters} change={change} />
      <RunTable
        filters={filters}
        onClear={() => change(none)}
        empty="Nothing was run yet. Send an agent a message from Now, or type: bin/drover run AGENT MESSAGE"
      />
    </>
  );
};
