/** A titled region of the page with a count; what cannot be read says so in its place and keeps what was read before. */
import { type ReactNode, useId } from 'react';
import { inWords } from '../api.ts';
import { count } from '../words/times.ts';

export const Section = (props: {
  title: string;
  count?: number | null;
  more?: ReactNode;
  error?: unknown;
  /** Said when there is nothing. */
  none?: ReactNode;
  children?: ReactNode;
}) => {
  const title = useId();
  return (
    <section className="section" aria-labelledby={title}>
      <header>
        <h2 id={title}>
          {props.title}
          {props.count !== undefined && props.count !== null && (
            <>
              {' '}
              <span className="count">{count(props.count)}</span>
            </>
          )}
        </h2>
        {props.none !== undefined && !props.error ? <p className="none">{props.none}</p> : null}
        {props.more !== undefined && <div className="more">{props.more}</div>}
      </header>
      {props.error ? (
        <p className="problem" role="alert">
          {inWords(props.error)}
        </p>
      ) : null}
      {props.children}
    </section>
  );
};
