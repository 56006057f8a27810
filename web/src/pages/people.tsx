/** The people of the fleet: who may do what, invitations by link, removal; and one's own password. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Role } from '../../../src/contract/principal.ts';
import { inWords, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { Field, problemOf } from '../parts/field.tsx';
import { useMe } from '../parts/me.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Ago, Plain } from '../parts/text.tsx';
import { type Invite, type Person, put, useInvites, usePeople } from '../set-up/data.ts';
import { ShownOnce } from '../set-up/once.tsx';
import { OwnPassword } from '../set-up/own-password.tsx';

const roles: Record<Role, string> = {
  owner: 'everything: people, keys, settings, backups',
  operator: 'agents, work, credentials, schedules',
  viewer: 'looks, changes nothing',
};
const roleNames = Object.keys(roles) as Role[];

const RoleChoice = (props: {
  value: Role;
  /** When no label stands beside it. */
  label?: string;
  input?: { id: string };
  disabled?: boolean;
  onChange: (role: Role) => void;
}) => (
  <select
    {...props.input}
    aria-label={props.label}
    className="w-auto"
    value={props.value}
    disabled={props.disabled}
    onChange={(e) => props.onChange(roleNames.find((r) => r === e.target.value) ?? props.value)}
  >
    {roleNames.map((role) => (
      <option key={role} value={role}>
        {role}
      </option>
    ))}
  </select>
);

const PersonRow = ({ row }: { row: Person }) => {
  const me = useMe();
  const queries = useQueryClient();
  const stale = () => queries.invalidateQueries({ queryKey: keys.people });
  const change = useMutation({
    mutationFn: (role: Role) => write(() => put<Person>('PUT', `/api/users/${row.id}`, { role })),
    onSuccess: ({ username, role }) => say(`${username} is ${role} now.`),
    onError: sayProblem,
    onSettled: stale,
  });
  const remove = useMutation({
    mutationFn: () => write(() => put<{ message: string }>('DELETE', `/api/users/${row.id}`)),
    onSuccess: ({ message }) => say(message),
    onError: sayProblem,
    onSettled: stale,
  });
  // The owner's file belongs to admin, so there is always somebody who can let people in.
  const fixed = me.role !== 'owner' || row.username === 'admin';
  return (
    <li className="entry">
      <span className="name">
        <Plain text={row.username} />
        {row.username === me.username && <span className="text-ink-3 font-normal"> (you)</span>}
      </span>
      <span className="about">
        {fixed ? (
          <b>{row.role}</b>
        ) : (
          <RoleChoice
            label={`Role of ${row.username}`}
            value={row.role}
            disabled={change.isPending}
            onChange={(r) => change.mutate(r)}
          />
        )}{' '}
        <Plain text={row.email ?? roles[row.role]} />
      </span>
      <span className="time">
        joined <Ago at={row.created_at} />
      </span>
      <span className="act">
        {!fixed && (
          <ConfirmButton
            className="quiet small"
            label={
              <>
                Remove<span className="hidden-label"> {row.username}</span>
              </>
            }
            title={`Remove ${row.username}?`}
            about={<p>Sign-ins and keys end at once; agents of {row.username} become yours. This cannot be undone.</p>}
            action="Remove"
            danger
            onConfirm={() => remove.mutate()}
          />
        )}
      </span>
    </li>
  );
};

const InviteRow = ({ row }: { row: Invite }) => {
  const queries = useQueryClient();
  const away = useMutation({
    mutationFn: () => write(() => put<{ message: string }>('DELETE', `/api/users/invites/${row.id}`)),
    onSuccess: ({ message }) => say(message),
    onError: sayProblem,
    onSettled: () => queries.invalidateQueries({ queryKey: keys.invites }),
  });
  return (
    <li className="entry">
      <span className="name">
        <Plain text={row.username ?? row.email ?? 'whoever has the link'} />
      </span>
      <span className="about">
        as {row.role} <span className={row.status === 'open' ? 'chip' : 'chip flag'}>{row.status}</span>
      </span>
      <span className="time">
        made <Ago at={row.created_at} />
      </span>
      <span className="act">
        <button type="button" className="quiet small" disabled={away.isPending} onClick={() => away.mutate()}>
          {row.status === 'open' ? 'Take back' : 'Put away'}
        </button>
      </span>
    </li>
  );
};

const Invitations = () => {
  const queries = useQueryClient();
  const list = useInvites();
  const [username, setUsername] = useState('');
  const [role, setRole] = useState<Role>('operator');
  const invite = useMutation({
    mutationFn: () =>
      write(() =>
        put<Invite & { path: string }>('POST', '/api/users/invites', {
          role,
          ...(username.trim() !== '' && { username }),
        }),
      ),
    onSuccess: () => {
      setUsername('');
      void queries.invalidateQueries({ queryKey: keys.invites });
    },
  });
  return (
    <Section title="Invitations" count={list.data?.filter((i) => i.status === 'open').length} error={list.error}>
      <ul>
        {list.data?.map((i) => (
          <InviteRow key={i.id} row={i} />
        ))}
      </ul>
      {invite.data !== undefined && (
        <ShownOnce text={`${location.origin}${invite.data.path}`} onDone={() => invite.reset()}>
          Send this link to that person. It works once, for three days, and is not shown again.
        </ShownOnce>
      )}
      <form
        className="form line-above"
        onSubmit={(e) => {
          e.preventDefault();
          invite.mutate();
        }}
      >
        <div className="pair">
          <Field label="Name" hint="Left empty, they choose it." wrong={problemOf(invite.error, 'username')}>
            {(input) => (
              <input
                {...input}
                value={username}
                onChange={(e) => setUsername(e.target.value)}
                autoComplete="off"
                autoCapitalize="none"
              />
            )}
          </Field>
          <Field label="Role" hint={roles[role]}>
            {(input) => <RoleChoice value={role} onChange={setRole} input={input} />}
          </Field>
        </div>
        {invite.isError && problemOf(invite.error, 'username') === undefined && (
          <p className="problem" role="alert">
            {inWords(invite.error)}
          </p>
        )}
        <div className="form-end">
          <button type="submit" className="main" disabled={invite.isPending}>
            Make a link
          </button>
        </div>
      </form>
    </Section>
  );
};

export const Page = () => {
  const me = useMe();
  const people = usePeople();
  return (
    <>
      <PageHead title="People" count={people.data?.length} />
      <div className="columns">
        <div className="column">
          <Section title="People" error={people.error}>
            {people.data === undefined && people.error === null && <Skeleton rows={3} />}
            <ul>
              {people.data?.map((p) => (
                <PersonRow key={p.id} row={p} />
              ))}
            </ul>
          </Section>
          {me.role === 'owner' && <Invitations />}
        </div>
        <aside className="column" aria-label="Yourself">
          <OwnPassword />
        </aside>
      </div>
    </>
  );
};
