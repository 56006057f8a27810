/** What agents log in with, by pool: how each stands and until when, what was said of it, and how work moves from one to another. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { CredentialBody } from '../../../src/client/wire.ts';
import type { Cause } from '../../../src/contract/causes.ts';
import { useCredentials } from '../agent/data.ts';
import { write } from '../api.ts';
import { CredentialCard } from '../credentials/credential-card.tsx';
import { CredentialForm } from '../credentials/credential-form.tsx';
import {
  setAutoSwitch,
  setSpill,
  useAutoSwitch,
  useCredentialEvents,
  useSpill,
  useSwitches,
} from '../credentials/data.ts';
import { keys } from '../live/keys.ts';
import { causeTitle } from '../now/ended.tsx';
import { RunLink } from '../parts/links.tsx';
import { useMayEdit } from '../parts/me.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Ago, Plain } from '../parts/text.tsx';

/** The pool of what has no tag is `""`, as the settings name it. */
const poolTitle = (pool: string): string => (pool === '' ? 'Outside of pools' : `Pool ${pool}`);

const Lending = ({ pools }: { pools: readonly string[] }) => {
  const mayEdit = useMayEdit();
  const queries = useQueryClient();
  const auto = useAutoSwitch();
  const spill = useSpill();
  const done = (said: string) => {
    say(said);
    void queries.invalidateQueries({ queryKey: keys.credentials });
  };
  const setAuto = useMutation({
    mutationFn: (on: boolean) => write(() => setAutoSwitch(on)),
    onSuccess: (_answer, on) => done(on ? 'Runs switch by themselves.' : 'Runs stay with the login they began with.'),
    onError: sayProblem,
  });
  const setPools = useMutation({
    mutationFn: (names: string[]) => write(() => setSpill(names)),
    onSuccess: () => done('What may go on with a paid key is set.'),
    onError: sayProblem,
  });
  const chosen = spill.data ?? [];
  return (
    <Section title="How they are lent" error={auto.error ?? spill.error}>
      <div className="form">
        <label className="flex items-start gap-2">
          <input
            type="checkbox"
            className="mt-1"
            disabled={!mayEdit || auto.data === undefined || setAuto.isPending}
            checked={auto.data ?? false}
            onChange={(e) => setAuto.mutate(e.target.checked)}
          />
          <span>
            Switch by itself
            <span className="block text-small text-ink-3">
              A run whose login is used up or rejected goes on with another of its pool, once, in the same session.
            </span>
          </span>
        </label>
        {pools.length > 0 && (
          <fieldset className="field">
            <legend>Go on with a paid API key</legend>
            <span className="hint">When no plan of the pool is good. It costs money.</span>
            {pools.map((pool) => (
              <label key={pool} className="flex items-center gap-2">
                <input
                  type="checkbox"
                  disabled={!mayEdit || spill.data === undefined || setPools.isPending}
                  checked={chosen.includes(pool)}
                  onChange={(e) =>
                    setPools.mutate(e.target.checked ? [...chosen, pool] : chosen.filter((p) => p !== pool))
                  }
                />
                <Plain text={poolTitle(pool)} />
              </label>
            ))}
          </fieldset>
        )}
      </div>
    </Section>
  );
};

const Switches = ({ nameOf }: { nameOf: (id: string) => string }) => {
  const switches = useSwitches();
  return (
    <Section
      title="Last switches"
      error={switches.error}
      none={switches.data?.length === 0 ? 'None so far.' : undefined}
    >
      <ul>
        {switches.data?.map((s) => (
          <li key={s.id} className="gauge">
            <span className="name whitespace-normal">
              <Plain text={nameOf(s.from_id)} /> → <Plain text={nameOf(s.to_id)} />
            </span>
            <span className="figure muted">
              <Ago at={s.at} />
            </span>
            <div className="foot">
              <RunLink id={s.execution_id}>
                a run of <Plain text={s.agent_name} />
              </RunLink>
              <span>{causeTitle(s.cause as Cause)}</span>
            </div>
          </li>
        ))}
      </ul>
    </Section>
  );
};

const trouble = { rejected: 0, limited: 1, unknown: 2, ok: 2 } as const;
const byTrouble = (a: CredentialBody, b: CredentialBody): number =>
  (trouble[a.state] ?? 2) - (trouble[b.state] ?? 2) ||
  (a.pool ?? '').localeCompare(b.pool ?? '') ||
  a.name.localeCompare(b.name);

export const Page = () => {
  const mayEdit = useMayEdit();
  const credentials = useCredentials();
  const events = useCredentialEvents();
  const [editing, setEditing] = useState<CredentialBody | 'new' | null>(null);
  const all = credentials.data ?? [];
  // Where something is wrong first, then by name.
  const pools = [...new Set([...all].sort(byTrouble).map((c) => c.pool ?? ''))];
  const bad = all.filter((c) => c.state === 'limited' || c.state === 'rejected').length;
  const nameOf = (id: string) => all.find((c) => c.id === id)?.name ?? 'a removed one';
  return (
    <>
      <PageHead
        title="Credentials"
        count={credentials.data?.length}
        sub={
          all.length === 0
            ? undefined
            : bad === 0
              ? 'none is used up or rejected'
              : `${bad} of ${all.length} cannot be used now`
        }
        actions={
          mayEdit ? (
            <button type="button" className="main" onClick={() => setEditing('new')}>
              Add credential
            </button>
          ) : undefined
        }
      />
      <div className="columns">
        <div className="column">
          {credentials.data === undefined || credentials.error !== null || all.length === 0 ? (
            <Section title="Logins" error={credentials.error}>
              {credentials.data === undefined && credentials.error === null && <Skeleton rows={6} />}
              {credentials.data?.length === 0 && (
                <div className="nothing">
                  No credential is stored: CLIs use the login of the host’s own user.
                  {mayEdit && ' Add one, and agents are lent it for each run, and another one when it is used up.'}
                </div>
              )}
            </Section>
          ) : null}
          {pools.map((pool) => {
            const own = all.filter((c) => (c.pool ?? '') === pool).sort(byTrouble);
            return (
              <Section key={pool} title={poolTitle(pool)} count={own.length}>
                <ul>
                  {own.map((c) => (
                    <CredentialCard
                      key={c.id}
                      of={c}
                      events={(events.data ?? []).filter((e) => e.credential_id === c.id)}
                      onChange={() => setEditing(c)}
                    />
                  ))}
                </ul>
              </Section>
            );
          })}
        </div>
        <aside className="column" aria-label="Lending">
          <Lending pools={pools} />
          <Switches nameOf={nameOf} />
        </aside>
      </div>
      {editing !== null && (
        <CredentialForm
          of={editing === 'new' ? null : editing}
          pools={pools.filter((p) => p !== '')}
          onClose={() => setEditing(null)}
        />
      )}
    </>
  );
};
