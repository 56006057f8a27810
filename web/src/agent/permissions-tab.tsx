/** Whom it may call. The server enforces it for every call, by whatever way it comes; agents of one owner may call each other by default. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { inWords, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { useMayEdit } from '../parts/me.ts';
import { say } from '../parts/notices.tsx';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { type AgentDetail, putPermissions, usePermissions } from './data.ts';

export const Tab = ({ agent }: { agent: AgentDetail }) => {
  const mayEdit = useMayEdit();
  const queries = useQueryClient();
  const stored = usePermissions(agent.name);
  const [chosen, setChosen] = useState<ReadonlySet<string> | null>(null);
  const save = useMutation({
    mutationFn: (names: string[]) => write(() => putPermissions(agent.name, names)),
    onSuccess: ({ body }) => {
      queries.setQueryData(keys.ofAgent(agent.name, 'permissions'), body);
      setChosen(null);
      say(
        `${agent.name} may call ${body.permitted_agents.length === 0 ? 'nobody' : body.permitted_agents.join(', ')}.`,
      );
    },
  });
  const others = stored.data?.available_agents ?? [];
  const allowed = chosen ?? new Set(stored.data?.permitted_agents);
  const put = (next: Set<string>) => setChosen(next);
  return (
    <Section
      title="May call"
      error={stored.error}
      more={stored.data?.mode === 'default' ? 'the default: every agent of its owner' : 'a list of its own'}
    >
      {stored.data === undefined && !stored.error && <Skeleton rows={4} />}
      {stored.data !== undefined && others.length === 0 && (
        <div className="nothing">There is no other agent that it could call.</div>
      )}
      {others.length > 0 && (
        <form
          className="form"
          onSubmit={(e) => {
            e.preventDefault();
            save.mutate([...allowed]);
          }}
        >
          <ul className="grid gap-x-6 sm:grid-cols-2 lg:grid-cols-3">
            {others.map((other) => (
              <li key={other.name} className="flex items-center gap-2 py-1">
                <input
                  type="checkbox"
                  id={`may-${other.name}`}
                  disabled={!mayEdit}
                  checked={allowed.has(other.name)}
                  onChange={(e) => {
                    const next = new Set(allowed);
                    if (e.target.checked) next.add(other.name);
                    else next.delete(other.name);
                    put(next);
                  }}
                />
                <label htmlFor={`may-${other.name}`} className="min-w-0 truncate">
                  {other.name}
                </label>
                {other.status === 'stopped' && <span className="chip flag">stopped</span>}
              </li>
            ))}
          </ul>
          {save.isError && (
            <p className="problem" role="alert">
              {inWords(save.error)}
            </p>
          )}
          {mayEdit && (
            <div className="form-end">
              <button type="submit" className="main" disabled={chosen === null || save.isPending}>
                Save
              </button>
              <button type="button" className="quiet" onClick={() => put(new Set(others.map((o) => o.name)))}>
                All
              </button>
              <button type="button" className="quiet" onClick={() => put(new Set())}>
                None
              </button>
              {chosen !== null && (
                <button type="button" className="quiet" onClick={() => setChosen(null)}>
                  Put back
                </button>
              )}
            </div>
          )}
        </form>
      )}
    </Section>
  );
};
