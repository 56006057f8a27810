/** How credentials are lent: may work go on from one subscription to another by itself, and in which pools on to a paid key. */
import { z } from 'zod';
import { lendingSettings } from '../../contract/credential.ts';
import type { Principal } from '../../contract/principal.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import { type RouteModule, who } from '../route.ts';

const tags = ['Credentials'];
const AutoSwitch = z.object({ enabled: z.boolean() });
/** `""` is the pool of what has no tag. */
const Spill = z.object({ pools: z.array(z.string().trim().max(100)).max(1_000) });

export const credentialSettingRoutes: RouteModule = (deps) => async (app) => {
  const value = async (key: string) => (await deps.store.read('setting', { key }))?.value ?? null;
  const put = async (principal: Principal, key: string, text: string) => {
    await commit(deps, 'put_setting', { key, value: text });
    await audit(deps, principal, 'credential.setting', key, { value: text });
  };
  const autoSwitch = async () => ({ enabled: (await value(lendingSettings.autoSwitch)) !== '0' });
  const spill = async () => ({ pools: JSON.parse((await value(lendingSettings.spill)) ?? '[]') as string[] });

  app.get(
    '/api/subscriptions/settings/auto-switch',
    {
      config: { needs: 'view' },
      schema: {
        tags,
        summary: 'May an execution go on from one subscription to another when the first is used up or rejected',
        response: { 200: AutoSwitch },
      },
    },
    autoSwitch,
  );
  app.put(
    '/api/subscriptions/settings/auto-switch',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Switch automatic switching between subscriptions on or off',
        body: AutoSwitch,
        response: { 200: AutoSwitch },
      },
    },
    async (request) => {
      await put(who(request), lendingSettings.autoSwitch, request.body.enabled ? '1' : '0');
      return autoSwitch();
    },
  );
  app.get(
    '/api/subscriptions/settings/spill',
    {
      config: { needs: 'view' },
      schema: {
        tags,
        summary: 'Pools whose work may go on with an API key when no subscription of the pool is good',
        response: { 200: Spill },
      },
    },
    spill,
  );
  app.put(
    '/api/subscriptions/settings/spill',
    {
      config: { needs: 'operate' },
      schema: { tags, summary: 'Name those pools, all of them', body: Spill, response: { 200: Spill } },
    },
    async (request) => {
      await put(who(request), lendingSettings.spill, JSON.stringify([...new Set(request.body.pools)].sort()));
      return spill();
    },
  );
};
