/** A credential stored, or one changed: a secret goes in once and is never shown again; left empty, the stored one stays. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { CredentialBody } from '../../../src/client/wire.ts';
import type { CredentialKind } from '../../../src/contract/credential.ts';
import { api, inWords, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { Field, problemOf } from '../parts/field.tsx';
import { Modal } from '../parts/modal.tsx';
import { say } from '../parts/notices.tsx';
import { kindWords } from './data.ts';

/** Not the list of the contract, whose file brings a validator of 25 kB with it; the type holds the words complete. */
const credentialKinds = Object.keys(kindWords) as CredentialKind[];
const fieldNames = ['name', 'token', 'pool', 'max_parallel'];
/** Several lines, or a whole file. */
const isLong = (kind: CredentialKind) => kind === 'env' || kind === 'codex_login';

/** `of` null: a new one. `pools`: those that there are, to choose from. */
export const CredentialForm = (props: { of: CredentialBody | null; pools: readonly string[]; onClose: () => void }) => {
  const { of, onClose } = props;
  const queries = useQueryClient();
  const [name, setName] = useState(of?.name ?? '');
  const [kind, setKind] = useState<CredentialKind>(of?.kind ?? 'claude_oauth');
  const [token, setToken] = useState('');
  const [pool, setPool] = useState(of?.pool ?? '');
  const [most, setMost] = useState(of?.max_parallel?.toString() ?? '');
  const save = useMutation({
    mutationFn: () => {
      const cap = most.trim() === '' ? null : Number(most);
      const tag = pool.trim() === '' ? null : pool.trim();
      const secret = token === '' ? {} : { token };
      if (of !== null) return write(() => api.changeCredential(of.id, { ...secret, pool: tag, max_parallel: cap }));
      return write(() =>
        api.addCredential({
          name,
          kind,
          ...secret,
          ...(tag !== null && { pool: tag }),
          ...(cap !== null && { max_parallel: cap }),
        }),
      );
    },
    onSuccess: (stored) => {
      setToken('');
      if (stored.warning !== undefined) say(`${stored.name}: ${stored.warning}`);
      say(
        of === null
          ? `${stored.name} is stored. It is not known to work until a run has used it.`
          : token === ''
            ? `${stored.name} is changed.`
            : `${stored.name} has a new secret. What waits for it tries again.`,
      );
      void queries.invalidateQueries({ queryKey: keys.credentials });
      onClose();
    },
  });
  const wrong = (field: string) => (save.isError ? problemOf(save.error, field) : undefined);
  const elsewhere = save.isError && fieldNames.every((f) => wrong(f) === undefined);
  return (
    <Modal title={of === null ? 'A new credential' : `Change ${of.name}`} className="wide-dialog" onClose={onClose}>
      <form
        className="form"
        onSubmit={(e: FormEvent) => {
          e.preventDefault();
          save.mutate();
        }}
      >
        {of === null && (
          <div className="pair">
            <Field label="Name" hint="Of the account: work-plan, ci-key." wrong={wrong('name')}>
              {(input) => (
                <input
                  {...input}
                  required
                  maxLength={200}
                  autoComplete="off"
                  value={name}
                  onChange={(e) => setName(e.target.value)}
                />
              )}
            </Field>
            <Field label="Kind">
              {(input) => (
                <select
                  {...input}
                  value={kind}
                  onChange={(e) => setKind(credentialKinds.find((k) => k === e.target.value) ?? kind)}
                >
                  {credentialKinds.map((k) => (
                    <option key={k} value={k}>
                      {kindWords[k]}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          </div>
        )}
        {kind !== 'host_login' && (
          <Field
            label={of === null ? 'Secret' : 'New secret'}
            hint={
              of === null
                ? 'Sealed before it is stored; it is never shown again.'
                : 'Left empty, the stored one stays. A new one begins a new record.'
            }
            wrong={wrong('token')}
          >
            {(input) =>
              isLong(kind) ? (
                <textarea
                  {...input}
                  className="mono"
                  required={of === null}
                  autoComplete="off"
                  spellCheck={false}
                  value={token}
                  onChange={(e) => setToken(e.target.value)}
                />
              ) : (
                <input
                  {...input}
                  type="password"
                  required={of === null}
                  autoComplete="new-password"
                  value={token}
                  onChange={(e) => setToken(e.target.value)}
                />
              )
            }
          </Field>
        )}
        <div className="pair">
          <Field label="Pool" hint="Agents of this pool are lent it. Empty: those of none." wrong={wrong('pool')}>
            {(input) => (
              <input
                {...input}
                list="credential-pools"
                maxLength={100}
                autoComplete="off"
                value={pool}
                onChange={(e) => setPool(e.target.value)}
              />
            )}
          </Field>
          <Field label="Runs at once" hint="Empty: as many as there are." wrong={wrong('max_parallel')}>
            {(input) => (
              <input
                {...input}
                type="number"
                min={1}
                max={1000}
                value={most}
                onChange={(e) => setMost(e.target.value)}
              />
            )}
          </Field>
        </div>
        <datalist id="credential-pools">
          {props.pools.map((p) => (
            <option key={p} value={p} />
          ))}
        </datalist>
        {elsewhere && (
          <p className="problem" role="alert">
            {inWords(save.error)}
          </p>
        )}
        <div className="dialog-actions">
          <button type="button" onClick={onClose}>
            Back
          </button>
          <button type="submit" className="main" disabled={save.isPending}>
            {of === null ? 'Store it' : 'Save'}
          </button>
        </div>
      </form>
    </Modal>
  );
};
