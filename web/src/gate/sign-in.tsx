/** Sign in by name and password: the session becomes a cookie that no script can read. */
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { inWords, signIn } from '../api.ts';
import { Field } from '../parts/field.tsx';
import { GateFrame } from './gate.tsx';

export const SignIn = ({ onSignedIn }: { onSignedIn: () => Promise<unknown> }) => {
  const [username, setUsername] = useState('admin');
  const [password, setPassword] = useState('');
  const enter = useMutation({
    mutationFn: async () => {
      await signIn(username, password);
      await onSignedIn();
    },
  });
  return (
    <GateFrame title="Sign in to Drover">
      <form
        className="form"
        onSubmit={(e) => {
          e.preventDefault();
          enter.mutate();
        }}
      >
        <Field label="Name">
          {(input) => (
            <input
              {...input}
              value={username}
              onChange={(e) => setUsername(e.target.value)}
              autoComplete="username"
              autoCapitalize="none"
              required
            />
          )}
        </Field>
        <Field label="Password" wrong={enter.isError ? inWords(enter.error) : undefined}>
          {(input) => (
            <input
              {...input}
              type="password"
              value={password}
              onChange={(e) => setPassword(e.target.value)}
              autoComplete="current-password"
              required
            />
          )}
        </Field>
        <div className="form-end">
          <button type="submit" className="main" disabled={enter.isPending}>
            {enter.isPending ? 'Signing in…' : 'Sign in'}
          </button>
          {enter.isError && (
            <span className="hint">
              Forgotten? On the host: <code>bin/drover password</code>
            </span>
          )}
        </div>
      </form>
    </GateFrame>
  );
};
