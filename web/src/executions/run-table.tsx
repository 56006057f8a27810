/** The list itself, for the page of all executions and for that of an agent: rows, older ones as one scrolls, and what to say. */
import type { ReactNode } from 'react';
import { inWords } from '../api.ts';
import { Skeleton } from '../parts/skeleton.tsx';
import { VirtualRows } from '../parts/virtual-rows.tsx';
import { RunRow } from './run-row.tsx';
import { type RunFilters, useRunList } from './use-run-list.ts';

export const RunTable = (props: {
  filters: RunFilters;
  ofAgent?: boolean;
  /** Said when nothing was ever run. */
  empty: ReactNode;
  onClear: () => void;
}) => {
  const list = useRunList(props.filters);
  const { ofAgent = false } = props;
  const filtered = Object.keys(props.filters).some((name) => name !== 'agent' || !ofAgent);
  const rows = list.data?.rows;
  return (
    <section className="section" aria-label="Executions">
      {list.error !== null && (
        <p className="problem pt-3" role="alert">
          {inWords(list.error)}{' '}
          <button type="button" className="small" onClick={() => list.refetch()}>
            Try again
          </button>
        </p>
      )}
      {rows === undefined && list.error === null && <Skeleton rows={12} />}
      {rows?.length === 0 && list.data?.next === null && (
        <div className="nothing">
          {filtered ? (
            <>
              Nothing is like that.{' '}
              <button type="button" className="small" onClick={props.onClear}>
                Clear the filters
              </button>
            </>
          ) : (
            props.empty
          )}
        </div>
      )}
      {rows !== undefined && (rows.length > 0 || list.data?.next !== null) && (
        <VirtualRows
          label="Executions, newest first"
          rows={rows}
          keyOf={(row) => row.id}
          height={37}
          phoneHeight={58}
          onEnd={list.loadOlder}
          render={(row) => <RunRow row={row} ofAgent={ofAgent} />}
        />
      )}
      {list.problem !== null && (
        <p className="problem pt-3" role="alert">
          {list.problem}{' '}
          <button type="button" className="small" onClick={list.again}>
            Go on
          </button>
        </p>
      )}
    </section>
  );
};
