/** One execution: how it stands, why it waits or ended so, its life, its figures, its transcript. */
import { useParams } from '@tanstack/react-router';
import { ApiError } from '../../../src/client/request.ts';
import type { ExecutionBody } from '../../../src/client/wire.ts';
import { isTerminal } from '../../../src/contract/status.ts';
import { inWords } from '../api.ts';
import { useExecution } from '../now/data.ts';
import { Reason } from '../now/waiting.tsx';
import { AgentLink } from '../parts/links.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Ago, Mark, Plain, Since } from '../parts/text.tsx';
import { Actions } from '../run/actions.tsx';
import { Chain } from '../run/chain.tsx';
import { WorkDiff } from '../run/diff.tsx';
import { Figures } from '../run/figures.tsx';
import { Life } from '../run/life-list.tsx';
import { Transcript } from '../run/transcript.tsx';
import { VerdictBox } from '../run/verdict-box.tsx';
import { stateWords } from '../words/states.ts';

const Standing = ({ row }: { row: ExecutionBody }) => (
  <>
    {stateWords[row.status] ?? row.status}
    {row.status === 'queued' ? (
      <>
        {' '}
        for <Since at={row.queued_at} />
      </>
    ) : isTerminal(row.status) ? (
      <>
        {' '}
        <Ago at={row.completed_at} />
      </>
    ) : row.started_at !== null ? (
      <>
        {' '}
        for <Since at={row.started_at} />
      </>
    ) : null}
  </>
);

const Text = ({ title, text }: { title: string; text: string }) => (
  <section className="part" aria-label={title}>
    <h3>{title}</h3>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
    <div className="long" tabIndex={0}>
      <Plain text={text} block />
    </div>
  </section>
);

const Body = ({ row }: { row: ExecutionBody }) => (
  <div className="columns">
    <div className="column">
      {row.status === 'queued' && (
        <p className="verdict">
          <Reason row={row} />
        </p>
      )}
      {isTerminal(row.status) && <VerdictBox row={row} />}
      <div className="section parts">
        <Text title="Message" text={row.message === '' ? '(empty message)' : row.message} />
        {row.response !== null && row.response !== '' && <Text title="Answer" text={row.response} />}
        <WorkDiff row={row} />
        <Transcript row={row} />
      </div>
    </div>
    <aside className="column" aria-label="About it">
      <div className="section parts">
        <Life row={row} />
        <Chain row={row} />
        <Figures row={row} />
      </div>
    </aside>
  </div>
);

export const Page = () => {
  const { id } = useParams({ strict: false }) as { id: string };
  const run = useExecution(id);
  const row = run.data;
  const missing = run.error instanceof ApiError && run.error.status === 404;
  return (
    <>
      <PageHead
        title={row?.agent_name ?? 'Execution'}
        heading={row && <AgentLink name={row.agent_name} className="hover:underline" />}
        sub={
          <>
            {row !== undefined && (
              <>
                <Mark status={row.status} /> <Standing row={row} /> ·{' '}
              </>
            )}
            <span className="mono">{id}</span>
          </>
        }
        actions={row !== undefined && <Actions row={row} />}
      />
      {run.error !== null && (
        <p className="problem part" role="alert">
          {missing ? 'There is no such run: it may be older than what is kept.' : inWords(run.error)}
        </p>
      )}
      {row === undefined ? run.error === null && <Skeleton rows={8} /> : <Body key={id} row={row} />}
    </>
  );
};
