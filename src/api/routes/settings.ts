/** Free settings by key, and the provider keys among them, masked. Limits of the fleet have a route that checks them. */
import { z } from 'zod';
import { isLendingSetting } from '../../contract/credential.ts';
import { refuse } from '../../contract/errors.ts';
import { installationSettings, isFleetSetting } from '../../contract/limits.ts';
import { clockTime } from '../../contract/morning.ts';
import { openedOrNull } from '../../credentials/seal.ts';
import { tryKey } from '../../credentials/try-key.ts';
import { isZone } from '../../kernel/zone.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import { iso, MessageBody, orNotFound, orRefuse, type RouteModule, who } from '../route.ts';
import { storeCredential } from '../store-credential.ts';

const tags = ['Settings'];
const Setting = z.object({ key: z.string(), value: z.string(), updated_at: z.string() });
const Stored = Setting.extend({
  /** Does Drover itself read it? */
  known: z.boolean(),
  note: z.string().nullable(),
});
const Forgotten = MessageBody.extend({ success: z.literal(true), deleted: z.boolean() });
const KeyParams = z.object({ key: z.string().regex(/^[\w.:-]{1,200}$/, 'letters, digits and . : _ -') });

const providers = { anthropic: 'anthropic_api_key', openai: 'openai_api_key', gemini: 'gemini_api_key' } as const;
const ProviderParams = z.object({ provider: z.enum(['anthropic', 'openai', 'gemini']) });
const ApiKey = z.object({ configured: z.boolean(), masked: z.string().nullable(), source: z.string().nullable() });

/** Enough to tell two keys apart, too little to use one. */
const mask = (secret: string): string => (secret.length < 12 ? '...' : `...${secret.slice(-4)}`);

const names: readonly string[] = Object.values(installationSettings);
const bare = (key: string) => key.toLowerCase().replaceAll(/[^a-z]/g, '');
/** Clients keep settings of their own here; what can only be meant for one of ours is refused instead of being kept for nothing. */
const misspelt = (key: string): string | undefined =>
  names.includes(key)
    ? undefined
    : names.find((n) => bare(key).length >= 6 && (bare(n).startsWith(bare(key)) || bare(key).startsWith(bare(n))));

/** Only of settings that Drover itself reads. */
const settingProblem = (key: string, value: string): string | null => {
  if (key === installationSettings.timezone && !isZone(value))
    return 'needs to be a time zone, such as Europe/Berlin or UTC';
  if (key === installationSettings.morningReportAt && value !== 'off' && clockTime(value) === null)
    return 'needs to be a local time, such as 07:00, or off';
  return null;
};

export const settingRoutes: RouteModule = (deps) => async (app) => {
  app.get(
    '/api/settings',
    { config: { needs: 'view' }, schema: { tags, summary: 'All settings', response: { 200: z.array(Setting) } } },
    async () => (await deps.store.read('settings', {})).map((s) => ({ ...s, updated_at: iso(s.updated_at) })),
  );

  const apiKeys = async () => {
    const rows = await deps.store.read('credentials', {});
    const of = (provider: keyof typeof providers) => {
      const row = rows.find((c) => c.name === provider && c.kind === providers[provider] && c.sealed !== null);
      return row === undefined
        ? { configured: false, masked: null, source: null }
        : { configured: true, masked: mask(openedOrNull(deps.sealer, row.id, row.sealed!) ?? ''), source: 'settings' };
    };
    return { anthropic: of('anthropic'), openai: of('openai'), gemini: of('gemini') };
  };
  const ApiKeys = z.object({ anthropic: ApiKey, openai: ApiKey, gemini: ApiKey });

  app.get(
    '/api/settings/api-keys',
    { config: { needs: 'view' }, schema: { tags, summary: 'Provider keys, masked', response: { 200: ApiKeys } } },
    apiKeys,
  );
  app.put(
    '/api/settings/api-keys/:provider',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Store a provider key; agents without a credential of their own use it',
        params: ProviderParams,
        body: z.object({ api_key: z.string().min(1).max(10_000) }),
        response: { 200: ApiKeys },
      },
    },
    async (request) => {
      const { provider } = request.params;
      const known = (await deps.store.read('credentials', {})).find((c) => c.name === provider);
      const spec = { name: provider, kind: providers[provider], token: request.body.api_key, field: 'api_key' };
      orRefuse(await storeCredential(deps, who(request), spec, known ?? null));
      return apiKeys();
    },
  );
  app.delete(
    '/api/settings/api-keys/:provider',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Forget a provider key; that there is none is no error',
        params: ProviderParams,
        response: { 200: Forgotten.extend({ fallback_configured: z.literal(false) }) },
      },
    },
    async (request) => {
      const { provider } = request.params;
      const rows = await deps.store.read('credentials', {});
      const known = rows.find((c) => c.name === provider && c.kind === providers[provider]);
      // Keys of this server's own environment are lent to nobody.
      const told = { success: true as const, deleted: known !== undefined, fallback_configured: false as const };
      if (known === undefined) return { ...told, message: `There was no ${provider} key.` };
      await commit(deps, 'delete_credential', { id: known.id });
      await audit(deps, who(request), 'credential.delete', known.name);
      return { ...told, message: `The ${provider} key is deleted.` };
    },
  );

  app.post(
    '/api/settings/api-keys/:provider/test',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Ask the provider whether a key is good: the one in the body, else the stored one; costs nothing',
        params: ProviderParams,
        body: z.object({ api_key: z.string().min(1).max(10_000).nullish() }),
        response: {
          200: z.object({ valid: z.boolean().nullable(), status: z.number().nullable(), note: z.string() }),
        },
      },
    },
    async (request) => {
      const { provider } = request.params;
      const rows = await deps.store.read('credentials', {});
      const row = rows.find((c) => c.name === provider && c.kind === providers[provider] && c.sealed !== null);
      const stored = row === undefined ? null : openedOrNull(deps.sealer, row.id, row.sealed!);
      const key = orNotFound(request.body.api_key ?? stored, 'key');
      return tryKey(deps.kernel.clock, provider, key);
    },
  );

  app.get(
    '/api/settings/:key',
    {
      config: { needs: 'view' },
      schema: { tags, summary: 'One setting', params: KeyParams, response: { 200: Setting } },
    },
    async (request) => {
      const row = orNotFound(await deps.store.read('setting', { key: request.params.key }), 'setting');
      return { ...row, updated_at: iso(row.updated_at) };
    },
  );
  app.put(
    '/api/settings/:key',
    {
      config: { needs: 'own' },
      schema: {
        tags,
        summary: `Store a setting. Drover itself reads ${Object.values(installationSettings).join(' and ')}; others are kept for clients`,
        params: KeyParams,
        body: z.object({ value: z.union([z.string().max(100_000), z.number(), z.boolean()]) }),
        response: { 200: Stored },
      },
    },
    async (request) => {
      const { key } = request.params;
      const meant = misspelt(key);
      if (meant !== undefined)
        orRefuse(
          refuse('invalid', `There is no setting ${key}. ${meant} is meant? Drover reads ${names.join(' and ')}.`),
        );
      if (isFleetSetting(key))
        orRefuse(
          refuse(
            'invalid',
            `${key} is a limit of the fleet. Change it with PUT /api/fleet/limits or POST /api/fleet/pause.`,
          ),
        );
      if (isLendingSetting(key))
        orRefuse(refuse('invalid', `${key} is a setting of lending. Change it under /api/subscriptions/settings.`));
      const value = String(request.body.value);
      const problem = settingProblem(key, value);
      if (problem !== null)
        orRefuse(refuse('invalid', `value ${problem}.`, { details: [{ field: 'value', problem }] }));
      await commit(deps, 'put_setting', { key, value });
      // The value may be anything, a secret too: the audit holds the key alone.
      await audit(deps, who(request), 'setting.put', key);
      const known = names.includes(key);
      const note = known ? null : `Kept for whoever reads it; Drover itself reads ${names.join(' and ')}.`;
      return { key, value, updated_at: iso(deps.kernel.clock.now()), known, note };
    },
  );
  app.delete(
    '/api/settings/:key',
    {
      config: { needs: 'own' },
      schema: {
        tags,
        summary: 'Forget a setting; a limit goes back to its start value. That there is none is no error',
        params: KeyParams,
        response: { 200: Forgotten },
      },
    },
    async (request) => {
      const { key } = request.params;
      if ((await deps.store.read('setting', { key })) === null)
        return { success: true as const, deleted: false, message: `There was no setting ${key}.` };
      await commit(deps, 'put_setting', { key, value: null });
      await audit(deps, who(request), 'setting.delete', key);
      return { success: true as const, deleted: true, message: `Setting ${key} is deleted.` };
    },
  );
};
