/** The head of a page: its one h1, what stands beside it, and what can be done on the whole of it. Names the browser's tab. */
import { type ReactNode, useEffect } from 'react';
import { count as inDigits } from '../words/times.ts';

export const PageHead = (props: {
  title: string;
  /** Shown in the title's place, where that leads somewhere. */
  heading?: ReactNode;
  count?: number | null;
  sub?: ReactNode;
  actions?: ReactNode;
}) => {
  useEffect(() => {
    document.title = `${props.title} · Drover`;
  }, [props.title]);
  return (
    <header className="page-head">
      <div className="min-w-0">
        <h1 tabIndex={-1}>
          {props.heading ?? props.title}
          {props.count !== undefined && props.count !== null && (
            <>
              {' '}
              <span className="count">{inDigits(props.count)}</span>
            </>
          )}
        </h1>
        {props.sub !== undefined && <div className="sub">{props.sub}</div>}
      </div>
      {props.actions !== undefined && <div className="actions">{props.actions}</div>}
    </header>
  );
};
