/**
 * Where notifications go, set and opened: address and secret are sealed together, because the address of a Slack hook is a secret
 * too. People see its host and nothing behind it.
 */
import { type Refusal, refuse } from '../contract/errors.ts';
import type { NotifyFormat, NotifyTargetRow, Severity } from '../contract/operator.ts';
import type { Sealer } from '../credentials/seal.ts';
import type { Deps } from '../flow/deps.ts';
import { commit } from '../record/commit.ts';
import type { Address } from './post-notification.ts';

interface WantedTarget {
  url: string;
  /** Null = as before. */
  secret: string | null;
  format: NotifyFormat;
  min_severity: Severity;
}

/** What the seal is bound to. */
export const sealedFor = 'notify:webhook';
/** Below it a secret can be guessed from one signed body. */
const secretChars = 16;

export const setTarget = async (deps: Deps, wanted: WantedTarget): Promise<{ ok: true } | Refusal> => {
  const wrong = (field: string, problem: string) =>
    refuse('invalid', `${field} ${problem}.`, { details: [{ field, problem }] });
  const url = URL.canParse(wanted.url) ? new URL(wanted.url) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    return wrong('url', 'needs to be a URL with http or https');
  if (url.username !== '' || url.password !== '')
    return wrong('url', 'must hold no user and password; the signature proves who sends');
  const before = await deps.store.read('notify_target', {});
  const secret = wanted.secret ?? (before === null ? null : openTarget(deps.sealer, before).secret);
  if (secret === null && wanted.format === 'json')
    return wrong('secret', 'is needed: it signs each notification, so that the receiver knows who sends');
  if (secret !== null && secret.length < secretChars)
    return wrong('secret', `needs at least ${secretChars} characters (openssl rand -hex 32)`);
  return commit(deps, 'put_notify_target', {
    target: {
      format: wanted.format,
      min_severity: wanted.min_severity,
      sealed: deps.sealer.seal(sealedFor, JSON.stringify({ url: url.href, secret })),
      shown: url.pathname === '/' && url.search === '' ? url.origin : `${url.origin}/…`,
      signed: secret !== null,
    },
  });
};

export const openTarget = (sealer: Sealer, target: NotifyTargetRow): Address => ({
  ...(JSON.parse(sealer.open(sealedFor, target.sealed)) as Pick<Address, 'url' | 'secret'>),
  format: target.format,
});
