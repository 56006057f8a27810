/** The first visit: whoever can read the owner's token on the host gives `admin` its password, and is signed in with it. */
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../../src/client/request.ts';
import { api, inWords, signIn } from '../api.ts';
import { Command } from '../parts/command.tsx';
import { Field } from '../parts/field.tsx';
import { GateFrame } from './gate.tsx';

/** Which field a refusal is about. */
const fieldOf = (e: unknown): 'token' | 'password' | 'repeat' | null => {
  const code = e instanceof ApiError ? e.code : null;
  if (code === 'setup_token_required') return 'token';
  if (code === 'weak_password') return 'password';
  return code === 'password_mismatch' ? 'repeat' : null;
};

export const FirstStart = ({ tokenFile, onDone }: { tokenFile: string | null; onDone: () => Promise<unknown> }) => {
  const [token, setToken] = useState('');
  const [password, setPassword] = useState('');
  const [repeat, setRepeat] = useState('');
  const set = useMutation({
    mutationFn: async () => {
      await api.setAdminPassword({ password, confirm_password: repeat, setup_token: token.trim() });
      await signIn('admin', password);
      await onDone();
    },
  });
  const file = tokenFile ?? '~/.drover/owner.token';
  const about = set.isError ? fieldOf(set.error) : null;
  const wrong = (field: string) => (about === field ? inWords(set.error) : undefined);
  return (
    <GateFrame title="Welcome to Drover">
      <p>
        Set the password of <b>admin</b>. The token in a file on the host shows that it is yours:
      </p>
      <Command text={`cat ${/\s/.test(file) ? `'${file}'` : file}`} />
      <form
        className="form first-start"
        onSubmit={(e) => {
          e.preventDefault();
          set.mutate();
        }}
      >
        <Field label="Owner token" wrong={wrong('token')}>
          {(input) => (
            <input
              {...input}
              className="mono"
              value={token}
              onChange={(e) => setToken(e.target.value)}
              autoComplete="off"
              spellCheck={false}
              required
            />
          )}
        </Field>
        <Field label="New password" hint="At least 8 characters." wrong={wrong('password')}>
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
        <Field label="The same again" wrong={wrong('repeat')}>
          {(input) => (
            <input
              {...input}
              type="password"
              value={repeat}
              onChange={(e) => setRepeat(e.target.value)}
              autoComplete="new-password"
              required
            />
          )}
        </Field>
        {set.isError && about === null && (
          <p className="problem" role="alert">
            {inWords(set.error)}
          </p>
        )}
        <div className="form-end">
          <button type="submit" className="main" disabled={set.isPending}>
            {set.isPending ? 'Setting…' : 'Set password and sign in'}
          </button>
        </div>
      </form>
    </GateFrame>
  );
};
