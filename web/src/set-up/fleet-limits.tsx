/** The two limits of the fleet, with where their value comes from. A change counts at the next claim. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { FormEnd } from '../agent/form-end.tsx';
import { useDraft } from '../agent/use-draft.ts';
import { api, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { useLimits } from '../now/data.ts';
import { Field, problemOf } from '../parts/field.tsx';
import { useMayEdit } from '../parts/me.ts';
import { say } from '../parts/notices.tsx';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';

const sources = { setting: 'set here', environment: 'from the environment of the server', default: 'the default' };

export const LimitsSection = () => {
  const mayEdit = useMayEdit();
  const queries = useQueryClient();
  const { data, error } = useLimits();
  const form = useDraft({
    agent_call_limit: String(data?.agent_call_limit ?? ''),
    queue_timeout_s: String(data?.queue_timeout_s ?? ''),
  });
  const save = useMutation({
    mutationFn: () =>
      write(() => api.setLimits(Object.fromEntries(form.changed.map((field) => [field, Number(form.draft[field])])))),
    onSuccess: (body) => {
      queries.setQueryData(keys.limits, body);
      form.reset();
      say('Saved. It counts from the next start of a run on.');
    },
  });
  return (
    <Section title="Limits of the fleet" error={error}>
      {data === undefined && !error && <Skeleton rows={2} />}
      {data !== undefined && (
        <form
          className="form"
          onSubmit={(e) => {
            e.preventDefault();
            save.mutate();
          }}
        >
          <div className="pair">
            <Field
              label="Running at once"
              hint={`${sources[data.agent_call_limit_source]}; at most ${data.ceiling}`}
              wrong={problemOf(save.error, 'agent_call_limit')}
            >
              {(input) => (
                <input
                  {...input}
                  inputMode="numeric"
                  disabled={!mayEdit}
                  value={form.draft.agent_call_limit}
                  onChange={(e) => form.set({ agent_call_limit: e.target.value })}
                />
              )}
            </Field>
            <Field
              label="Seconds a call may wait"
              hint={`${sources[data.queue_timeout_source]}; 0 = for ever`}
              wrong={problemOf(save.error, 'queue_timeout_s')}
            >
              {(input) => (
                <input
                  {...input}
                  inputMode="numeric"
                  disabled={!mayEdit}
                  value={form.draft.queue_timeout_s}
                  onChange={(e) => form.set({ queue_timeout_s: e.target.value })}
                />
              )}
            </Field>
          </div>
          {mayEdit && (
            <FormEnd
              changed={form.changed.length > 0}
              saving={save.isPending}
              error={save.error}
              fields={['agent_call_limit', 'queue_timeout_s']}
              onReset={() => {
                form.reset();
                save.reset();
              }}
            />
          )}
        </form>
      )}
    </Section>
  );
};
