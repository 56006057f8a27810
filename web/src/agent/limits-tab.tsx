/** The limits of one agent, each with its default: an empty field goes back to it. They count from the next claim; nothing is stopped. */
import { limits as table } from '../../../src/contract/limits.ts';
import { Field, problemOf } from '../parts/field.tsx';
import { useMayEdit } from '../parts/me.ts';
import { Section } from '../parts/section.tsx';
import { bytes, span } from '../words/times.ts';
import { type AgentDetail, useChangeAgent } from './data.ts';
import { FormEnd } from './form-end.tsx';
import { useDraft } from './use-draft.ts';

const text = (n: number | null): string => (n === null ? '' : String(n));
const numberOf = (t: string): number | null => (t.trim() === '' ? null : Number(t));

const rows = [
  {
    field: 'max_parallel_tasks',
    label: 'Running at once',
    hint: `Left empty: ${table.maxParallelTasks.default}. At most ${table.maxParallelTasks.max}.`,
  },
  {
    field: 'max_backlog_depth',
    label: 'Waiting at most',
    hint: `Above it, new requests are refused with 429. Left empty: ${table.maxBacklogDepth.default}.`,
  },
  {
    field: 'timeout_seconds',
    label: 'A run lasts at most, in seconds',
    hint: `From its start, without the time it waits for other agents. Left empty: ${table.timeoutS.default} (${span(table.timeoutS.default * 1000)}).`,
  },
  {
    field: 'stall_seconds',
    label: 'Silent at most, in seconds',
    hint: '0: never stopped for silence. Left empty: by what it waits for (docs/limits.md).',
  },
] as const;

const fields = [...rows.map((r) => r.field), 'resources'];

export const Tab = ({ agent }: { agent: AgentDetail }) => {
  const mayEdit = useMayEdit();
  const change = useChangeAgent(agent.name, 'The limits are set. They count from the next claim.');
  const { draft, changed, set, reset } = useDraft({
    max_parallel_tasks: text(agent.limits.max_parallel_tasks.value),
    max_backlog_depth: text(agent.limits.max_backlog_depth.value),
    timeout_seconds: text(agent.limits.timeout_seconds.value),
    stall_seconds: text(agent.stall_seconds),
    memory:
      agent.resources.memory_bytes === null
        ? ''
        : bytes(agent.resources.memory_bytes)
            .replace(/ (.)i?B/, '$1')
            .toLowerCase(),
  });
  const wrong = (field: string) => (change.isError ? problemOf(change.error, field) : undefined);
  return (
    <Section title="Limits">
      <form
        className="form max-w-xl"
        onSubmit={(e) => {
          e.preventDefault();
          const numbers = Object.fromEntries(
            rows.filter((r) => changed.includes(r.field)).map((r) => [r.field, numberOf(draft[r.field])]),
          );
          const memory = changed.includes('memory')
            ? { resources: { memory: draft.memory === '' ? null : draft.memory, cpu: agent.resources.cpu } }
            : {};
          change.mutate({ ...numbers, ...memory }, { onSuccess: reset });
        }}
      >
        {rows.map(({ field, label, hint }) => (
          <Field key={field} label={label} hint={hint} wrong={wrong(field)}>
            {(input) => (
              <input
                {...input}
                className="max-w-40"
                inputMode="numeric"
                pattern="[0-9]*"
                readOnly={!mayEdit}
                value={draft[field]}
                onChange={(e) => set({ [field]: e.target.value })}
              />
            )}
          </Field>
        ))}
        <Field
          label="Memory"
          hint="384m, 2g. Above it the kernel ends the run, and it says so. Left empty: none, the host is the limit."
          wrong={wrong('resources')}
        >
          {(input) => (
            <input
              {...input}
              className="max-w-40"
              readOnly={!mayEdit}
              value={draft.memory}
              onChange={(e) => set({ memory: e.target.value })}
            />
          )}
        </Field>
        {mayEdit && (
          <FormEnd
            changed={changed.length > 0}
            saving={change.isPending}
            error={change.error}
            fields={fields}
            onReset={reset}
          />
        )}
      </form>
    </Section>
  );
};
