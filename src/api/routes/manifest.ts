/**
 * The fleet as text: applied, exported, and templates to begin with. A manifest is checked whole before anything is done; each step
 * is then one of the ordinary routes, asked in the caller's name, with its rights and its audit.
 */
import { z } from 'zod';
import { refuse } from '../../contract/errors.ts';
import { audit } from '../../record/audit.ts';
import { exportManifest } from '../manifest/export.ts';
import { type Fleet, planManifest, type Step } from '../manifest/plan.ts';
import type { ManifestError } from '../manifest/read-manifest.ts';
import { templates } from '../manifest/templates.ts';
import { type ApiDeps, Refused, type RouteModule, who } from '../route.ts';

const tags = ['Manifest'];
const StepBody = z.object({ kind: z.string(), name: z.string(), action: z.string(), fields: z.array(z.string()) });
const Applied = z.object({
  dry_run: z.boolean(),
  plan: z.array(StepBody),
  summary: z.object({ create: z.number(), change: z.number(), unchanged: z.number() }),
  result: z.array(StepBody.extend({ ok: z.boolean(), error: z.string().nullable() })).nullable(),
  errors: z.array(z.object({ line: z.number(), column: z.number(), path: z.string(), problem: z.string() })),
});

const presentFleet = async (deps: ApiDeps): Promise<Fleet> => {
  const [agents, schedules, runners, limits] = await Promise.all([
    deps.store.read('agents', {}),
    deps.store.read('schedules', {}),
    deps.store.read('runners', {}),
    deps.fleetLimits(),
  ]);
  const permissions = new Map<string, string[] | null>();
  for (const a of agents) permissions.set(a.id, await deps.store.read('permissions', { agent_id: a.id }));
  const isolated = runners.length > 0 && runners.every((r) => r.isolation === 'user' || r.isolation === 'container');
  return { agents, schedules, permissions, limits, isolated, now: deps.kernel.clock.now() };
};

const shown = ({ request: _, ...step }: Step) => step;

const refused = (errors: readonly ManifestError[]): Refused =>
  new Refused(
    refuse(
      'invalid',
      errors.map((e) => `line ${e.line}: ${e.path === '' ? '' : `${e.path}: `}${e.problem}`).join('; '),
      {
        details: errors,
      },
    ),
  );

export const manifestRoutes: RouteModule = (deps) => async (app) => {
  app.post(
    '/api/apply',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'Make the fleet as a manifest says; with dry_run only the plan. Nothing is deleted',
        body: z.object({ manifest: z.string().max(5_000_000), dry_run: z.boolean().default(false) }),
        response: { 200: Applied },
      },
    },
    async (request) => {
      const { manifest: text, dry_run } = request.body;
      // The parser of YAML is loaded when one is there to read.
      const { readManifest } = await import('../manifest/read-manifest.ts');
      const read = readManifest(text);
      if ('errors' in read) throw refused(read.errors);
      const { steps, errors } = await planManifest(read.manifest, read.locate, await presentFleet(deps));
      if (errors.length > 0) throw refused(errors);
      const count = (action: Step['action']) => steps.filter((s) => s.action === action).length;
      const summary = { create: count('create'), change: count('change'), unchanged: count('unchanged') };
      const plan = steps.map(shown);
      if (dry_run) return { dry_run, plan, summary, result: null, errors: [] };

      const { authorization, cookie, 'x-csrf-token': csrf } = request.headers;
      const headers = {
        ...(authorization !== undefined && { authorization }),
        ...(cookie !== undefined && { cookie }),
        ...(csrf !== undefined && { 'x-csrf-token': csrf }),
      };
      const result = [];
      for (const step of steps) {
        if (step.action === 'unchanged') continue;
        const answer = await app.inject({ ...step.request, headers });
        const ok = answer.statusCode < 400;
        result.push({
          ...shown(step),
          ok,
          error: ok ? null : String(answer.json().error?.message ?? answer.statusCode),
        });
        // What follows may need what failed: schedules their agent.
        if (!ok) break;
      }
      await audit(deps, who(request), 'manifest.apply', 'fleet', { ...summary, failed: result.some((r) => !r.ok) });
      return { dry_run, plan, summary, result, errors: [] };
    },
  );

  app.get(
    '/api/export',
    {
      config: { needs: 'operate' },
      schema: {
        tags,
        summary: 'This fleet as a manifest: agents, permissions, schedules, limits; never a credential',
        querystring: z.object({ format: z.enum(['yaml', 'json']).default('yaml') }),
      },
    },
    async (request, reply) => {
      const manifest = exportManifest(await presentFleet(deps));
      if (request.query.format === 'json') return manifest;
      const { stringify } = await import('yaml');
      return reply.type('application/yaml; charset=utf-8').send(stringify(manifest));
    },
  );

  app.get(
    '/api/templates',
    {
      config: { needs: 'view' },
      schema: {
        tags,
        summary: 'Manifests to begin with',
        response: {
          200: z.array(
            z.object({ name: z.string(), title: z.string(), description: z.string(), manifest: z.string() }),
          ),
        },
      },
    },
    async () => [...templates],
  );
};
