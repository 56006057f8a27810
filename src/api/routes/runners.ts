/** The hosts that work: seen, enrolled (the key is shown once), sent away. */
import { z } from 'zod';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import type { RunnerRow } from '../../store/rows.ts';
import { storeNewKey } from '../new-key.ts';
import { putNewRunner } from '../new-runner.ts';
import { IdParams, isoOrNull, MessageBody, orNotFound, type RouteModule, who } from '../route.ts';

const tags = ['Runners'];
const Runner = z.object({
  id: z.string(),
  name: z.string(),
  host: z.string().nullable(),
  version: z.string().nullable(),
  isolation: z.string().nullable(),
  cgroup: z.string().nullable(),
  slots: z.number().nullable(),
  live: z.number(),
  labels: z.array(z.string()),
  room: z
    .object({
      slots: z.number().nullable(),
      memory_total: z.number(),
      memory_available: z.number(),
      disk_total: z.number(),
      disk_available: z.number(),
    })
    .nullable(),
  last_seen: z.string().nullable(),
});

export const runnerListRoutes: RouteModule = (deps) => async (app) => {
  const present = (r: RunnerRow, live: number): z.infer<typeof Runner> => ({
    id: r.id,
    name: r.name,
    host: r.host,
    version: r.version,
    isolation: r.isolation,
    cgroup: r.cgroup,
    slots: r.room?.slots ?? r.slots,
    live,
    labels: r.labels,
    room: r.room,
    last_seen: isoOrNull(r.last_seen),
  });

  app.get(
    '/api/runners',
    { config: { needs: 'view' }, schema: { tags, summary: 'All runners', response: { 200: z.array(Runner) } } },
    async () => {
      const { runners: use } = await deps.store.read('occupancy', { limits: deps.claimLimits() });
      const live = new Map(use.map((u) => [u.runner_id, u.live]));
      return (await deps.store.read('runners', {})).map((r) => present(r, live.get(r.id) ?? 0));
    },
  );

  app.post(
    '/api/runners',
    {
      config: { needs: 'own' },
      schema: {
        tags,
        summary: 'Enrol a runner: its key, shown once, is the DROVER_RUNNER_TOKEN of its host',
        body: z.object({
          name: z.string().trim().min(1).max(200),
          labels: z.array(z.string().max(100)).max(50).default([]),
          slots: z.number().int().min(1).max(10_000).nullish(),
        }),
        response: { 201: Runner.extend({ token: z.string() }) },
      },
    },
    async (request, reply) => {
      const { name, labels, slots } = request.body;
      const { row, key } = await storeNewKey(deps, { name, description: 'A runner.', scope: 'runner' });
      const runner = await putNewRunner(deps, { id: row.id, name, labels, slots: slots ?? null });
      await audit(deps, who(request), 'runner.enrol', name, { runner_id: row.id });
      return reply.code(201).send({ ...present(runner, 0), token: key });
    },
  );

  app.delete(
    '/api/runners/:id',
    {
      config: { needs: 'own' },
      schema: {
        tags,
        summary: 'Send a runner away: its key is dead at once',
        params: IdParams,
        response: { 200: MessageBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const known = orNotFound((await deps.store.read('runners', {})).find((r) => r.id === id) ?? null, 'runner');
      await commit(deps, 'delete_runner', { id });
      deps.auth.forget();
      await audit(deps, who(request), 'runner.delete', known.name, { runner_id: id });
      return { message: `Runner ${known.name} is sent away. What it runs ends by its leases.` };
    },
  );
};
