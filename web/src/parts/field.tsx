/** A labelled input with its hint and with what the server found wrong with it. */
import { type ReactNode, useId } from 'react';
import { ApiError } from '../../../src/client/request.ts';

interface FieldProblem {
  field: string;
  problem: string;
}

/** The server names the field of each problem (`resources.memory: ...`); null when the error is about the whole. */
export const problemsOf = (e: unknown): FieldProblem[] => {
  const list = e instanceof ApiError && Array.isArray(e.details) ? e.details : [];
  return list.flatMap((d: unknown) => {
    const { field, problem } = (d ?? {}) as Partial<FieldProblem>;
    return typeof field === 'string' && typeof problem === 'string' ? [{ field, problem }] : [];
  });
};

export const problemOf = (e: unknown, field: string): string | undefined =>
  problemsOf(e).find((p) => p.field === field || p.field.startsWith(`${field}.`))?.problem;

export const Field = (props: {
  label: string;
  hint?: ReactNode;
  wrong?: string | undefined;
  children: (input: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }) => ReactNode;
}) => {
  const id = useId();
  const about = `${id}-about`;
  const described = props.hint !== undefined || props.wrong !== undefined;
  return (
    <div className="field">
      <label htmlFor={id}>{props.label}</label>
      {props.children({
        id,
        ...(described ? { 'aria-describedby': about } : {}),
        ...(props.wrong !== undefined ? { 'aria-invalid': true } : {}),
      })}
      {described && (
        <span id={about} className={props.wrong !== undefined ? 'wrong' : 'hint'}>
          {props.wrong ?? props.hint}
        </span>
      )}
    </div>
  );
};
