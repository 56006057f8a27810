/** The foot of a form over stored values: save, put back, and what was wrong with the whole. */
import { inWords } from '../api.ts';
import { problemsOf } from '../parts/field.tsx';

export const FormEnd = (props: {
  changed: boolean;
  saving: boolean;
  error: unknown;
  /** Fields of the form: what is said at one is not said again here. */
  fields: readonly string[];
  onReset: () => void;
}) => {
  const atField = problemsOf(props.error).some((p) => props.fields.includes(p.field.split('.', 1)[0]!));
  return (
    <>
      {props.error !== null && !atField && (
        <p className="problem" role="alert">
          {inWords(props.error)}
        </p>
      )}
      <div className="form-end">
        <button type="submit" className="main" disabled={!props.changed || props.saving}>
          Save
        </button>
        {props.changed && (
          <button type="button" className="quiet" onClick={props.onReset}>
            Put back
          </button>
        )}
      </div>
    </>
  );
};
