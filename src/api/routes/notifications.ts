/**
 * Where the operator is told of items that open, go on or get worse: one webhook, set by owners, shown without its secrets. A test
 * goes the way that every notification goes, and says what came back.
 */
import { z } from 'zod';
import { refuse } from '../../contract/errors.ts';
import { itemEdges, NotifyFormat, Severity } from '../../contract/operator.ts';
import { openTarget, setTarget } from '../../operator/notify-target.ts';
import { postNotification } from '../../operator/post-notification.ts';
import { testItem } from '../../operator/test-item.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import { iso, isoOrNull, MessageBody, orRefuse, type RouteModule, who } from '../route.ts';

const tags = ['Operator'];
const Target = z.object({
  configured: z.boolean(),
  /** Its host: what stands behind it may be a secret. */
  url: z.string().nullable(),
  format: NotifyFormat.nullable(),
  min_severity: Severity.nullable(),
  signed: z.boolean(),
  deliveries: z.array(
    z.object({
      id: z.string(),
      item_id: z.string(),
      event: z.enum(itemEdges.map((e) => `operator.${e}` as const)),
      title: z.string(),
      state: z.enum(['waiting', 'sent', 'gave_up']),
      attempts: z.number(),
      last_error: z.string().nullable(),
      created_at: z.string(),
      ended_at: z.string().nullable(),
    }),
  ),
});
const shownDeliveries = 20;

export const notificationRoutes: RouteModule = (deps) => async (app) => {
  const show = async (): Promise<z.infer<typeof Target>> => {
    const [target, rows] = await Promise.all([
      deps.store.read('notify_target', {}),
      deps.store.read('notifications', { limit: shownDeliveries }),
    ]);
    return {
      configured: target !== null,
      url: target?.shown ?? null,
      format: target?.format ?? null,
      min_severity: target?.min_severity ?? null,
      signed: target?.signed ?? false,
      deliveries: rows.map(({ id, item_id, edge, item, state, attempts, last_error, created_at, ended_at }) => ({
        id: String(id),
        item_id,
        event: `operator.${edge}` as const,
        title: item.title,
        state,
        attempts,
        last_error,
        created_at: iso(created_at),
        ended_at: isoOrNull(ended_at),
      })),
    };
  };

  app.get(
    '/api/notifications',
    {
      config: { needs: 'view' },
      schema: { tags, summary: 'Where notifications go, and the last of them', response: { 200: Target } },
    },
    show,
  );

  app.put(
    '/api/notifications',
    {
      config: { needs: 'own' },
      schema: {
        tags,
        summary: 'Notify this address; a secret left out stays as it is',
        body: z.object({
          url: z.string().min(1).max(2_000),
          secret: z.string().min(1).max(1_000).nullish(),
          format: NotifyFormat.default('json'),
          min_severity: Severity.default('normal'),
        }),
        response: { 200: Target },
      },
    },
    async (request) => {
      const { secret, ...rest } = request.body;
      orRefuse(await setTarget(deps, { ...rest, secret: secret ?? null }));
      const shown = await show();
      const { url, format, min_severity, signed } = shown;
      await audit(deps, who(request), 'notifications.set', 'webhook', { url, format, min_severity, signed });
      return shown;
    },
  );

  app.delete(
    '/api/notifications',
    {
      config: { needs: 'own' },
      schema: { tags, summary: 'Notify nobody; what waits is given up', response: { 200: MessageBody } },
    },
    async (request) => {
      await commit(deps, 'put_notify_target', { target: null });
      await audit(deps, who(request), 'notifications.delete', 'webhook');
      return { message: 'Notifications are off.' };
    },
  );

  app.post(
    '/api/notifications/test',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Send a test now, once',
        response: {
          200: z.object({ delivered: z.boolean(), status: z.number().nullable(), error: z.string().nullable() }),
        },
      },
    },
    async () => {
      const target = await deps.store.read('notify_target', {});
      if (target === null)
        return orRefuse(refuse('not_found', 'Notifications are off. Set where they go: drover notify set URL.'));
      const { clock, ids } = deps.kernel;
      const now = clock.now();
      const posted = await postNotification(clock, openTarget(deps.sealer, target), {
        id: `test-${ids.next(now)}`,
        event: 'operator.test',
        at: now,
        item: testItem(now),
      });
      return posted.ok
        ? { delivered: true, status: posted.status, error: null }
        : { delivered: false, status: null, error: posted.error };
    },
  );
};
