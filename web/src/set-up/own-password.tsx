/** A new password for who is signed in. Every other session of that person ends. */
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { inWords, whoAmI, write } from '../api.ts';
import { Field } from '../parts/field.tsx';
import { say } from '../parts/notices.tsx';
import { Section } from '../parts/section.tsx';
import { put } from './data.ts';

export const OwnPassword = () => {
  const [now, setNow] = useState('');
  const [fresh, setFresh] = useState('');
  const change = useMutation({
    mutationFn: () => write(() => put('POST', '/api/password', { current_password: now, new_password: fresh })),
    onSuccess: async () => {
      setNow('');
      setFresh('');
      say('Your password is changed; your other sessions have ended.');
      await whoAmI();
    },
  });
  return (
    <Section title="Your password">
      <form
        className="form"
        onSubmit={(e) => {
          e.preventDefault();
          change.mutate();
        }}
      >
        <Field label="Present password">
          {(input) => (
            <input
              {...input}
              type="password"
              value={now}
              onChange={(e) => setNow(e.target.value)}
              autoComplete="current-password"
              required
            />
          )}
        </Field>
        <Field
          label="New password"
          hint="At least 8 characters."
          wrong={change.isError ? inWords(change.error) : undefined}
        >
          {(input) => (
            <input
              {...input}
              type="password"
              value={fresh}
              onChange={(e) => setFresh(e.target.value)}
              autoComplete="new-password"
              required
            />
          )}
        </Field>
        <div className="form-end">
          <button type="submit" className="main" disabled={change.isPending}>
            Change
          </button>
        </div>
      </form>
    </Section>
  );
};
