/** What it logs in with: one that is assigned to it, or whatever its pool lends; and how each of those stands. Never a secret. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { assignableKinds } from '../../../src/contract/assignable-kinds.ts';
import { inWords, write } from '../api.ts';
import { kindWords } from '../credentials/data.ts';
import { keys } from '../live/keys.ts';
import { Field, problemOf } from '../parts/field.tsx';
import { useMayEdit } from '../parts/me.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Ago, Plain } from '../parts/text.tsx';
import { type AgentDetail, assignCredential, useChangeAgent, useCredentials } from './data.ts';
import { FormEnd } from './form-end.tsx';
import { useDraft } from './use-draft.ts';

const stateWords = { ok: 'good', limited: 'used up for now', rejected: 'rejected', unknown: 'not known yet' } as const;

export const Tab = ({ agent }: { agent: AgentDetail }) => {
  const mayEdit = useMayEdit();
  const queries = useQueryClient();
  const credentials = useCredentials();
  const assign = useMutation({
    mutationFn: (name: string | null) => write(() => assignCredential(agent.name, name)),
    onSuccess: (_answer, name) => {
      say(
        name === null
          ? `${agent.name} takes what its pool lends.`
          : `${agent.name} logs in with ${name}, from the next run on.`,
      );
      void queries.invalidateQueries({ queryKey: keys.ofAgents });
    },
    onError: sayProblem,
  });
  const pool = useChangeAgent(agent.name, 'The pool is set. It counts from the next run on.');
  const { draft, changed, set, reset } = useDraft({ pool: agent.pool ?? '' });
  const fits = assignableKinds[agent.adapter];
  // One that was assigned before the adapter was changed can still be taken off.
  const all = (credentials.data ?? []).filter((c) => fits.includes(c.kind) || c.name === agent.credential);
  const logsIn = agent.adapter !== 'command' && agent.adapter !== 'http';
  return (
    <div className="columns">
      <div className="column">
        <Section title="Logs in with" error={credentials.error}>
          {credentials.data === undefined && !credentials.error && <Skeleton rows={3} />}
          {credentials.data !== undefined && all.length === 0 && (
            <div className="nothing">
              {logsIn
                ? 'No credential of its kind is stored: its CLI uses the login of the host’s own user. To add one: bin/drover creds add'
                : `An agent of adapter ${agent.adapter} logs in nowhere by Drover: no credential is lent to it.`}
            </div>
          )}
          <ul>
            {all.map((c) => {
              const own = agent.credential === c.name;
              return (
                <li key={c.id} className="gauge">
                  <span className="name">
                    <b>
                      <Plain text={c.name} />
                    </b>{' '}
                    <span className="muted">{kindWords[c.kind]}</span> {own && <span className="chip">assigned</span>}
                    {!own && c.pool !== null && c.pool === agent.pool && <span className="chip">in its pool</span>}
                  </span>
                  <span className="figure">
                    {mayEdit && (
                      <button
                        type="button"
                        className="quiet small"
                        disabled={assign.isPending}
                        onClick={() => assign.mutate(own ? null : c.name)}
                      >
                        {own ? 'Take off' : 'Assign'}
                        <span className="hidden-label"> {c.name}</span>
                      </button>
                    )}
                  </span>
                  <div className="foot">
                    <span className={c.state === 'ok' || c.state === 'unknown' ? '' : 'text-bad'}>
                      {stateWords[c.state]}
                    </span>
                    {c.last_used_at !== null && (
                      <span>
                        used <Ago at={c.last_used_at} />
                      </span>
                    )}
                    {c.last_evidence !== null && c.state !== 'ok' && (
                      <span>
                        <Plain text={c.last_evidence} />
                      </span>
                    )}
                  </div>
                </li>
              );
            })}
          </ul>
        </Section>
      </div>
      {logsIn && (
        <aside className="column" aria-label="Its pool">
          <Section title="Pool">
            <form
              className="form"
              onSubmit={(e) => {
                e.preventDefault();
                pool.mutate({ pool: draft.pool.trim() === '' ? null : draft.pool.trim() }, { onSuccess: reset });
              }}
            >
              <Field
                label="Draws from"
                hint="The name of a pool of credentials. Left empty: any credential of a kind its CLI takes, outside of pools."
                wrong={pool.isError ? (problemOf(pool.error, 'pool') ?? inWords(pool.error)) : undefined}
              >
                {(input) => (
                  <input
                    {...input}
                    readOnly={!mayEdit}
                    value={draft.pool}
                    onChange={(e) => set({ pool: e.target.value })}
                  />
                )}
              </Field>
              {mayEdit && (
                <FormEnd
                  changed={changed.length > 0}
                  saving={pool.isPending}
                  error={null}
                  fields={['pool']}
                  onReset={reset}
                />
              )}
            </form>
          </Section>
        </aside>
      )}
    </div>
  );
};
