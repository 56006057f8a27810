/** The page of an invitation's link: who accepts chooses a name and a password that nobody else ever knows, and is signed in. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, inWords } from '../api.ts';
import { Field } from '../parts/field.tsx';
import { Plain } from '../parts/text.tsx';
import { GateFrame } from './gate.tsx';

interface Asked {
  role: string;
  username: string | null;
}

/** The token stands behind `#`, so that no server on the way logs it; null when this is no such link. */
export const invitationToken = (): string | null =>
  location.pathname === '/invite' && location.hash.length > 1 ? decodeURIComponent(location.hash.slice(1)) : null;

export const Invitation = ({ token }: { token: string }) => {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const invite = useQuery({
    queryKey: ['invite'],
    queryFn: async () =>
      (await api.request<Asked>('/api/users/invites/look', { method: 'POST', json: { token } })).body,
    retry: false,
    refetchInterval: false,
  });
  const accept = useMutation({
    mutationFn: () =>
      api.request('/api/users/invites/accept', {
        method: 'POST',
        json: { token, password, ...(invite.data?.username === null && { username: name }) },
        headers: { 'x-drover-session': 'cookie' },
      }),
    onSuccess: () => location.replace('/'),
  });
  return (
    <GateFrame title="You are invited to Drover">
      {invite.isError && (
        <p className="problem" role="alert">
          {inWords(invite.error)}
        </p>
      )}
      {invite.data !== undefined && (
        <form
          className="form"
          onSubmit={(e) => {
            e.preventDefault();
            accept.mutate();
          }}
        >
          <p>
            As <b>{invite.data.role}</b>
            {invite.data.username !== null && (
              <>
                , with the name{' '}
                <b>
                  <Plain text={invite.data.username} />
                </b>
              </>
            )}
            . Choose {invite.data.username === null ? 'a name and a password' : 'a password'}:
          </p>
          {invite.data.username === null && (
            <Field label="Name">
              {(input) => (
                <input
                  {...input}
                  value={name}
                  onChange={(e) => setName(e.target.value)}
                  autoComplete="username"
                  autoCapitalize="none"
                  required
                />
              )}
            </Field>
          )}
          <Field
            label="Password"
            hint="At least 8 characters."
            wrong={accept.isError ? inWords(accept.error) : undefined}
          >
            {(input) => (
              <input
                {...input}
                type="password"
                value={password}
                onChange={(e) => setPassword(e.target.value)}
                autoComplete="new-password"
                required
              />
            )}
          </Field>
          <div className="form-end">
            <button type="submit" className="main" disabled={accept.isPending}>
              Accept and sign in
            </button>
          </div>
        </form>
      )}
    </GateFrame>
  );
};
