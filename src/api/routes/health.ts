/**
 * Is it alive, is it ready, which version, do the invariants hold. `/health` answers from memory alone, so that it answers
 * while the disk hangs; `/ready` asks the store and gives up after 2 s.
 */
import { z } from 'zod';
import { errors, refuse } from '../../contract/errors.ts';
import { runnerProtocol } from '../../contract/runner-protocol.ts';
import { version } from '../../contract/version.ts';
import { iso, Refused, type RouteModule } from '../route.ts';

const readyMs = 2_000;

const Health = z.object({
  status: z.literal('healthy'),
  timestamp: z.string(),
  uptime_s: z.number(),
  loop_lag_p99_ms: z.number(),
  version: z.string(),
});
const Ready = z.object({ status: z.literal('ready'), schema: z.number() });
const Version = z.object({ version: z.string(), runner_protocol: z.number() });
const Doctor = z.object({
  ok: z.boolean(),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean(), found: z.string() })),
});

export const healthRoutes: RouteModule = (deps) => async (app) => {
  const { clock } = deps.kernel;
  const startedAt = clock.steady();
  const tags = ['Health and set-up'];

  app.get(
    '/health',
    { config: { needs: 'anyone' }, schema: { tags, summary: 'Alive', response: { 200: Health } } },
    async () => ({
      status: 'healthy' as const,
      timestamp: iso(clock.now()),
      uptime_s: Math.floor((clock.steady() - startedAt) / 1000),
      loop_lag_p99_ms: deps.lag.p99Ms(),
      version,
    }),
  );

  app.get(
    '/ready',
    { config: { needs: 'anyone' }, schema: { tags, summary: 'Ready: the store answers', response: { 200: Ready } } },
    async () => {
      const { schema } = await storeAnswers();
      return { status: 'ready' as const, schema };
    },
  );

  const storeAnswers = async (): Promise<{ schema: number }> => {
    let cancel = () => {};
    const late = new Promise<string>((resolve) => {
      cancel = clock.after(readyMs, () => resolve(`the store has not answered for ${readyMs / 1000} s`));
    });
    const asked = deps.store.read('ping', {}).catch((e: unknown) => `the store failed: ${reasonOf(e)}`);
    const answer = await Promise.race([asked, late]).finally(() => cancel());
    if (typeof answer === 'string')
      throw new Refused(refuse('not_ready', `Not ready: ${answer}. ${errors.not_ready.hint}`, { retryAfterMs: 1000 }));
    return answer;
  };

  app.get(
    '/api/version',
    { config: { needs: 'signed_in' }, schema: { tags, summary: 'Version', response: { 200: Version } } },
    async () => ({ version, runner_protocol: runnerProtocol }),
  );

  app.get(
    '/api/doctor',
    {
      config: { needs: 'view' },
      schema: {
        tags,
        summary: 'The invariants on this installation, each with what was found',
        response: { 200: Doctor },
      },
    },
    async () => {
      const checks = await deps.store.read('invariants', { limits: deps.claimLimits() });
      return { ok: checks.every((c) => c.ok), checks };
    },
  );
};

const reasonOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));
