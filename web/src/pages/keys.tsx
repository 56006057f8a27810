/** API keys of people and agents, for programs: made and shown once, revoked at once, deleted. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { inWords, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { useAgents } from '../now/data.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { Field, problemOf } from '../parts/field.tsx';
import { useMayEdit } from '../parts/me.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Ago, Plain } from '../parts/text.tsx';
import { type Key, put, useKeys } from '../set-up/data.ts';
import { ShownOnce } from '../set-up/once.tsx';

const KeyRow = ({ row }: { row: Key }) => {
  const queries = useQueryClient();
  const end = useMutation({
    mutationFn: (remove: boolean) =>
      write(() =>
        remove
          ? put<{ message: string }>('DELETE', `/api/mcp/keys/${row.id}`)
          : put<{ message: string }>('POST', `/api/mcp/keys/${row.id}/revoke`),
      ),
    onSuccess: ({ message }) => {
      say(message);
      void queries.invalidateQueries({ queryKey: keys.apiKeys });
    },
    onError: sayProblem,
  });
  return (
    <li className="entry" data-stopped={!row.is_active}>
      <span className="name">
        <Plain text={row.name} />
      </span>
      <span className="about">
        <span className="chip mono">{row.key_prefix}…</span>{' '}
        {row.agent_name !== null ? (
          <>
            of agent <Plain text={row.agent_name} />
          </>
        ) : (
          'of a person'
        )}
        {!row.is_active && <span className="chip flag">revoked</span>} <Plain text={row.description ?? ''} />
      </span>
      <span className="time">{row.last_used_at === null ? 'never used' : <Ago at={row.last_used_at} />}</span>
      <span className="act">
        {row.is_active && (
          <ConfirmButton
            className="quiet small"
            label={
              <>
                Revoke<span className="hidden-label"> {row.name}</span>
              </>
            }
            title={`Revoke ${row.name}?`}
            about={<p>Whatever uses this key is refused from now on. A revoked key does not come back.</p>}
            action="Revoke"
            danger
            onConfirm={() => end.mutate(false)}
          />
        )}
        {!row.is_active && (
          <button type="button" className="quiet small" onClick={() => end.mutate(true)}>
            Delete<span className="hidden-label"> {row.name}</span>
          </button>
        )}
      </span>
    </li>
  );
};

const NewKey = () => {
  const queries = useQueryClient();
  const agents = useAgents();
  const [name, setName] = useState('');
  const [agent, setAgent] = useState('');
  const make = useMutation({
    mutationFn: () =>
      write(() =>
        put<Key & { key: string }>('POST', '/api/mcp/keys', {
          name,
          ...(agent !== '' && { agent_name: agent, scope: 'agent' }),
        }),
      ),
    onSuccess: () => {
      setName('');
      void queries.invalidateQueries({ queryKey: keys.apiKeys });
    },
  });
  return (
    <Section title="New key">
      {make.data !== undefined && (
        <ShownOnce text={make.data.key} onDone={() => make.reset()}>
          The key <b>{make.data.name}</b>, shown this once. Send it as <code>Authorization: Bearer</code>.
        </ShownOnce>
      )}
      <form
        className="form"
        onSubmit={(e) => {
          e.preventDefault();
          make.mutate();
        }}
      >
        <Field label="Name" hint="What it is for: ci, laptop, grafana." wrong={problemOf(make.error, 'name')}>
          {(input) => (
            <input {...input} value={name} onChange={(e) => setName(e.target.value)} maxLength={200} required />
          )}
        </Field>
        <Field
          label="Whose rights it has"
          hint={agent === '' ? 'All that you may do.' : 'What that agent may do: call others, never your rights.'}
        >
          {(input) => (
            <select {...input} value={agent} onChange={(e) => setAgent(e.target.value)}>
              <option value="">mine</option>
              {agents.data?.map((a) => (
                <option key={a.name} value={a.name}>
                  agent {a.name}
                </option>
              ))}
            </select>
          )}
        </Field>
        {make.isError && problemOf(make.error, 'name') === undefined && (
          <p className="problem" role="alert">
            {inWords(make.error)}
          </p>
        )}
        <div className="form-end">
          <button type="submit" className="main" disabled={make.isPending}>
            Make key
          </button>
        </div>
      </form>
    </Section>
  );
};

export const Page = () => {
  const mayEdit = useMayEdit();
  const list = useKeys();
  return (
    <>
      <PageHead
        title="Keys"
        count={list.data?.filter((k) => k.is_active).length}
        sub="for programs that give work or read"
      />
      <div className="columns">
        <div className="column">
          <Section title="Keys" error={list.error}>
            {list.data === undefined && list.error === null && <Skeleton rows={4} />}
            {list.data?.length === 0 && (
              <div className="nothing">
                No key yet. The command line needs none: it reads the owner's file on this host.
              </div>
            )}
            <ul>
              {list.data?.map((k) => (
                <KeyRow key={k.id} row={k} />
              ))}
            </ul>
          </Section>
        </div>
        {mayEdit && (
          <aside className="column" aria-label="New key">
            <NewKey />
          </aside>
        )}
      </div>
    </>
  );
};
