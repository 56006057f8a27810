/** Adds an agent: the few fields that most need, the rest by the command line. The server checks; its words stand at the field. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { AdapterName, AgentSpec } from '../../../src/contract/agent.ts';
import { cleanName } from '../../../src/contract/names.ts';
import { api, inWords, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { Field, problemOf, problemsOf } from '../parts/field.tsx';
import { say } from '../parts/notices.tsx';
import { splitWords } from '../words/argv.ts';

const empty = {
  name: '',
  adapter: 'claude' as AdapterName,
  model: '',
  command: '',
  baseUrl: '',
  workspace: '',
  memory: '',
  cap: '',
};
type Draft = typeof empty;

const kinds: [AdapterName, string][] = [
  ['claude', 'Claude Code'],
  ['codex', 'Codex'],
  ['gemini', 'Gemini CLI'],
  ['command', 'a command'],
  ['http', 'an HTTP service'],
];

const shown = ['name', 'model', 'command', 'base_url', 'workspace', 'resources', 'max_parallel_tasks'];

const hasModel = (adapter: AdapterName): boolean => adapter !== 'command' && adapter !== 'http';

/** Only what was filled in: what is left out gets the server's default. */
const specOf = (d: Draft): Partial<AgentSpec> & { name: string } => {
  const argv = d.adapter === 'command' ? splitWords(d.command) : null;
  if (argv !== null && 'problem' in argv) throw new Error(argv.problem);
  return {
    name: d.name,
    adapter: d.adapter,
    ...(hasModel(d.adapter) && d.model !== '' && { model: d.model }),
    ...(argv !== null && { command: argv.words }),
    ...(d.adapter === 'http' && { base_url: d.baseUrl }),
    ...(d.adapter !== 'http' && d.workspace !== '' && { workspace: d.workspace }),
    ...(d.adapter !== 'http' && d.memory !== '' && { resources: { memory: d.memory } }),
    ...(d.cap !== '' && { max_parallel_tasks: Number(d.cap) }),
  };
};

export const AddAgent = ({ open }: { open: boolean }) => {
  const queries = useQueryClient();
  const [draft, setDraft] = useState(empty);
  const set = (patch: Partial<Draft>) => setDraft({ ...draft, ...patch });
  const add = useMutation({
    mutationFn: () => write(async () => api.createAgent(specOf(draft))),
    onSuccess: (agent) => {
      say(`${agent.name} is there and accepts work.`);
      setDraft(empty);
      void queries.invalidateQueries({ queryKey: keys.agents });
    },
  });
  const submit = (e: FormEvent) => {
    e.preventDefault();
    add.mutate();
  };
  const wrong = (field: string) => (add.isError ? problemOf(add.error, field) : undefined);
  // What is said at a field is not said again below.
  const whole = add.isError && !problemsOf(add.error).some((p) => shown.includes(p.field.split('.', 1)[0]!));
  const cleaned = cleanName(draft.name);
  return (
    <details className="fold line-above" open={open}>
      <summary>Add an agent</summary>
      <form className="form" onSubmit={submit}>
        <Field
          label="Name"
          hint={draft.name !== '' && cleaned !== draft.name ? `It will be called ${cleaned || '…'}` : undefined}
          wrong={wrong('name')}
        >
          {(input) => (
            <input
              {...input}
              value={draft.name}
              onChange={(e) => set({ name: e.target.value })}
              autoCapitalize="none"
              autoComplete="off"
              required
            />
          )}
        </Field>
        <fieldset className="field">
          <legend>Driven by</legend>
          <div className="choices">
            {kinds.map(([kind, label]) => (
              <label key={kind}>
                <input
                  type="radio"
                  name="adapter"
                  value={kind}
                  checked={draft.adapter === kind}
                  onChange={() => set({ adapter: kind })}
                />
                {label}
              </label>
            ))}
          </div>
        </fieldset>
        {hasModel(draft.adapter) && (
          <Field label="Model" hint="Left empty: the default of the CLI." wrong={wrong('model')}>
            {(input) => <input {...input} value={draft.model} onChange={(e) => set({ model: e.target.value })} />}
          </Field>
        )}
        {draft.adapter === 'command' && (
          <Field label="Command" hint="The message comes on stdin; stdout is the answer." wrong={wrong('command')}>
            {(input) => (
              <input
                {...input}
                className="mono"
                value={draft.command}
                onChange={(e) => set({ command: e.target.value })}
                spellCheck={false}
                autoCapitalize="none"
                required
              />
            )}
          </Field>
        )}
        {draft.adapter === 'http' && (
          <Field label="Address" hint="Where the service listens, http://…" wrong={wrong('base_url')}>
            {(input) => (
              <input
                {...input}
                type="url"
                value={draft.baseUrl}
                onChange={(e) => set({ baseUrl: e.target.value })}
                required
              />
            )}
          </Field>
        )}
        {draft.adapter !== 'http' && (
          <Field label="Workspace" hint="A directory. Left empty: one of its own." wrong={wrong('workspace')}>
            {(input) => (
              <input
                {...input}
                className="mono"
                value={draft.workspace}
                onChange={(e) => set({ workspace: e.target.value })}
                spellCheck={false}
                autoCapitalize="none"
              />
            )}
          </Field>
        )}
        <div className="pair">
          {draft.adapter !== 'http' && (
            <Field label="Memory limit" hint="384m, 2g; empty: none" wrong={wrong('resources')}>
              {(input) => <input {...input} value={draft.memory} onChange={(e) => set({ memory: e.target.value })} />}
            </Field>
          )}
          <Field label="Running at once" hint="Empty: 3" wrong={wrong('max_parallel_tasks')}>
            {(input) => (
              <input
                {...input}
                inputMode="numeric"
                pattern="[0-9]*"
                value={draft.cap}
                onChange={(e) => set({ cap: e.target.value })}
              />
            )}
          </Field>
        </div>
        {whole && (
          <p className="problem" role="alert">
            {inWords(add.error)}
          </p>
        )}
        <div className="form-end">
          <button type="submit" className="main" disabled={add.isPending}>
            Add agent
          </button>
        </div>
      </form>
    </details>
  );
};
