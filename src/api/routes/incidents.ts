/** Weather as people see it: incidents, the providers that agents go to, and the pause of one. */
import { z } from 'zod';
import { causeNames } from '../../contract/causes.ts';
import { principalScope } from '../../contract/principal.ts';
import { type IncidentRow, IncidentState, WeatherFamily } from '../../contract/weather.ts';
import { audit } from '../../record/audit.ts';
import { commit } from '../../record/commit.ts';
import { IdParams, iso, isoOrNull, orNotFound, orRefuse, type RouteModule, who } from '../route.ts';

const tags = ['Fleet'];
const Incident = z.object({
  id: z.string(),
  provider: z.string(),
  family: WeatherFamily,
  cause: z.enum(causeNames),
  state: IncidentState,
  evidence: z.string(),
  opened_at: z.string(),
  reopening_at: z.string().nullable(),
  closed_at: z.string().nullable(),
  closed_why: z.string().nullable(),
  failures: z.number(),
  agents: z.array(z.string()),
  probes: z.number(),
  last_failure_at: z.string().nullable(),
  probe: z.object({ attempt_id: z.string(), execution_id: z.string() }).nullable(),
  next_at: z.string().nullable(),
});
const Incidents = z.object({ open: z.number(), incidents: z.array(Incident) });
const Providers = z.object({
  providers: z.array(
    z.object({
      provider: z.string(),
      agents: z.array(z.string()),
      paused: z.boolean(),
      paused_at: z.string().nullable(),
      paused_by: z.string().nullable(),
      incident_id: z.string().nullable(),
      running: z.number(),
    }),
  ),
});
/** `anthropic`, or an origin with its slashes encoded. */
const ProviderParams = z.object({ provider: z.string().min(1).max(300) });
const Paused = z.object({ provider: z.string(), paused: z.boolean() });
const shown = 100;

const present = (i: IncidentRow): z.infer<typeof Incident> => ({
  ...i,
  opened_at: iso(i.opened_at),
  reopening_at: isoOrNull(i.reopening_at),
  closed_at: isoOrNull(i.closed_at),
  last_failure_at: isoOrNull(i.last_failure_at),
  next_at: isoOrNull(i.next_at),
});

export const incidentRoutes: RouteModule = (deps) => async (app) => {
  app.get(
    '/api/incidents',
    {
      config: { needs: 'read' },
      schema: {
        tags,
        summary: 'Shared troubles of a provider: open ones first, then past ones',
        response: { 200: Incidents },
      },
    },
    async () => {
      const incidents = (await deps.store.read('incidents', { limit: shown })).map(present);
      return { open: incidents.filter((i) => i.state !== 'closed').length, incidents };
    },
  );
  app.get(
    '/api/incidents/:id',
    {
      config: { needs: 'read' },
      schema: { tags, summary: 'One of them', params: IdParams, response: { 200: Incident } },
    },
    async (request) => present(orNotFound(await deps.store.read('incident', { id: request.params.id }), 'incident')),
  );
  app.get(
    '/api/providers',
    {
      config: { needs: 'read' },
      schema: { tags, summary: 'Where agents go, and what holds it up', response: { 200: Providers } },
    },
    async () => ({
      providers: (await deps.store.read('providers', {})).map((p) => ({
        ...p,
        paused: p.paused_at !== null,
        paused_at: isoOrNull(p.paused_at),
      })),
    }),
  );

  for (const [verb, paused, summary] of [
    ['pause', true, 'Start nothing new on a provider; what runs ends, with the calls it makes'],
    ['resume', false, 'Go on; with an open incident a probe goes at once'],
  ] as const)
    app.post(
      `/api/providers/:provider/${verb}`,
      { config: { needs: 'operate' }, schema: { tags, summary, params: ProviderParams, response: { 200: Paused } } },
      async (request) => {
        const { provider } = request.params;
        const by = who(request);
        orRefuse(
          await commit(deps, 'pause_provider', {
            provider,
            paused,
            by: by.kind === 'user' ? by.name : principalScope(by),
          }),
        );
        await audit(deps, by, `provider.${verb}`, provider);
        return { provider, paused };
      },
    );
};
