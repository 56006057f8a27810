/** What it is and how its CLI is run; and the way to delete it. A change counts from the next run on. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { AgentPatch } from '../../../src/contract/agent.ts';
import { api, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { Field, problemOf } from '../parts/field.tsx';
import { useMayEdit } from '../parts/me.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { Section } from '../parts/section.tsx';
import { joinWords, splitWords } from '../words/argv.ts';
import { type AgentDetail, useChangeAgent } from './data.ts';
import { FormEnd } from './form-end.tsx';
import { useDraft } from './use-draft.ts';

const permissionModes: [string, string][] = [
  ['', 'acceptEdits (default)'],
  ['default', 'default: asks, and so denies'],
  ['acceptEdits', 'acceptEdits: may change files'],
  ['plan', 'plan: reads only'],
  ['dontAsk', 'dontAsk: only what is allowed below'],
  ['bypassPermissions', 'bypassPermissions: may do anything'],
];
const workspaceModes: [string, string][] = [
  ['', 'as fits: a tree of its own in a git repository'],
  ['worktree', 'worktree: each run in a tree of its own'],
  ['shared', 'shared: all runs in one directory'],
  ['copy', 'copy: each run in a copy'],
];

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((l) => l.trim())
    .filter((l) => l !== '');

const envOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    linesOf(text).map((line) => {
      const at = line.indexOf('=');
      if (at < 1) throw new Error(`Environment: each line is NAME=value, and this one is not: ${line.slice(0, 60)}`);
      return [line.slice(0, at).trim(), line.slice(at + 1)];
    }),
  );

const orNull = (text: string): string | null => (text.trim() === '' ? null : text);

type Draft = ReturnType<typeof draftOf>;
const draftOf = (a: AgentDetail) => ({
  model: a.model ?? '',
  type: a.type === a.adapter ? '' : (a.type ?? ''),
  command: a.command === null ? '' : joinWords(a.command),
  base_url: a.base_url ?? '',
  workspace: a.workspace,
  workspace_mode: a.workspace_mode ?? '',
  custom_instructions: a.custom_instructions ?? '',
  permission_mode: a.permission_mode ?? '',
  allowed_tools: (a.allowed_tools ?? []).join('\n'),
  env: Object.entries(a.env)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n'),
});

/** Only what was changed is sent: the rest stays as it is, also when somebody else changed it meanwhile. */
const patchOf = (d: Draft, changed: readonly (keyof Draft)[]): AgentPatch => {
  const all: Record<keyof Draft, () => AgentPatch> = {
    model: () => ({ model: orNull(d.model) }),
    type: () => ({ type: orNull(d.type) }),
    command: () => {
      const argv = splitWords(d.command);
      if ('problem' in argv) throw new Error(argv.problem);
      return { command: argv.words };
    },
    base_url: () => ({ base_url: orNull(d.base_url) }),
    workspace: () => ({ workspace: orNull(d.workspace) }),
    workspace_mode: () => ({ workspace_mode: orNull(d.workspace_mode) as AgentPatch['workspace_mode'] }),
    custom_instructions: () => ({ custom_instructions: orNull(d.custom_instructions) }),
    permission_mode: () => ({ permission_mode: orNull(d.permission_mode) as AgentPatch['permission_mode'] }),
    allowed_tools: () => ({ allowed_tools: linesOf(d.allowed_tools).length === 0 ? null : linesOf(d.allowed_tools) }),
    env: () => ({ env: envOf(d.env) }),
  };
  return Object.assign({}, ...changed.map((field) => all[field]()));
};

const DeleteButton = ({ agent }: { agent: AgentDetail }) => {
  const go = useNavigate();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => write(() => api.deleteAgent(agent.name)),
    onSuccess: () => {
      say(`${agent.name} is deleted. Its workspace and what it ran are kept.`);
      void queries.invalidateQueries({ queryKey: keys.agents });
      void go({ to: '/agents' });
    },
    onError: sayProblem,
  });
  return (
    <ConfirmButton
      className="danger"
      disabled={remove.isPending}
      label={
        <>
          Delete<span className="hidden-label"> {agent.name}</span>…
        </>
      }
      title={`Delete ${agent.name}?`}
      about={
        <p>
          What waits for it is cancelled ({agent.queued}), what it runs is stopped ({agent.running + agent.waiting}).
          Its workspace and its history stay. An agent made later under this name inherits nothing. This cannot be
          undone.
        </p>
      }
      action={`Delete ${agent.name}`}
      danger
      onConfirm={() => remove.mutate()}
    />
  );
};

export const Tab = ({ agent }: { agent: AgentDetail }) => {
  const mayEdit = useMayEdit();
  const change = useChangeAgent(agent.name, 'Saved. It counts from the next run on.');
  const { draft, changed, set, reset } = useDraft(draftOf(agent));
  const cli = agent.adapter !== 'command' && agent.adapter !== 'http';
  const wrong = (field: string) => (change.isError ? problemOf(change.error, field) : undefined);
  const line = (field: keyof Draft, label: string, hint: string, mono = false) => (
    <Field label={label} hint={hint} wrong={wrong(field)}>
      {(input) => (
        <input
          {...input}
          className={mono ? 'mono' : undefined}
          readOnly={!mayEdit}
          spellCheck={false}
          value={draft[field]}
          onChange={(e) => set({ [field]: e.target.value })}
        />
      )}
    </Field>
  );
  const area = (field: keyof Draft, label: string, hint: string, mono = true) => (
    <Field label={label} hint={hint} wrong={wrong(field)}>
      {(input) => (
        <textarea
          {...input}
          className={mono ? 'mono' : undefined}
          rows={4}
          readOnly={!mayEdit}
          spellCheck={!mono}
          value={draft[field]}
          onChange={(e) => set({ [field]: e.target.value })}
        />
      )}
    </Field>
  );
  const choice = (field: keyof Draft, label: string, options: [string, string][], hint: string) => (
    <Field label={label} hint={hint} wrong={wrong(field)}>
      {(input) => (
        <select {...input} disabled={!mayEdit} value={draft[field]} onChange={(e) => set({ [field]: e.target.value })}>
          {options.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
  return (
    <div className="column max-w-3xl">
      <Section title="Settings">
        <form
          className="form"
          onSubmit={(e) => {
            e.preventDefault();
            try {
              change.mutate(patchOf(draft, changed), { onSuccess: reset });
            } catch (problem) {
              sayProblem(problem);
            }
          }}
        >
          {cli && line('model', 'Model', 'Left empty: the default of the CLI.')}
          {agent.adapter === 'command' &&
            line('command', 'Command', 'The message comes on stdin; stdout is the answer.', true)}
          {agent.adapter === 'http' && line('base_url', 'Address', 'Where the service listens, http://…', true)}
          {line('type', 'Label', 'Free, for people.')}
          {agent.adapter !== 'http' && line('workspace', 'Workspace', 'A directory. Left empty: one of its own.', true)}
          {agent.adapter !== 'http' &&
            choice('workspace_mode', 'Each run works in', workspaceModes, 'What a run left behind is kept either way.')}
          {cli && area('custom_instructions', 'Instructions', 'Said to it before every message.', false)}
          {cli &&
            choice(
              'permission_mode',
              'Permission mode',
              permissionModes,
              'bypassPermissions without isolation is refused here: whoever takes that risk says so on the command line.',
            )}
          {cli && area('allowed_tools', 'Allowed tools', 'One a line, as the CLI takes them: Bash(npm test:*)')}
          {area('env', 'Environment', 'NAME=value, one a line. Never secrets: those are credentials.')}
          {mayEdit && (
            <FormEnd
              changed={changed.length > 0}
              saving={change.isPending}
              error={change.error}
              fields={Object.keys(draft)}
              onReset={reset}
            />
          )}
        </form>
      </Section>
      {mayEdit && (
        <Section title="Delete it">
          <div className="px-3.5 pb-3.5">
            <DeleteButton agent={agent} />
          </div>
        </Section>
      )}
    </div>
  );
};
