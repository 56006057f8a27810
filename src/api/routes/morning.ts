/** The morning report, whenever it is asked for: of the last night, or since any time. */
import { z } from 'zod';
import { MorningReport } from '../../contract/morning.ts';
import { makeMorningReport } from '../../operator/morning-report.ts';
import type { RouteModule } from '../route.ts';

export const morningRoutes: RouteModule = (deps) => async (app) => {
  app.get(
    '/api/morning',
    {
      config: { needs: 'view' },
      schema: {
        tags: ['Operator'],
        summary: 'What happened, what was saved, what needs you, what it cost: since the last 18:00, or since=…',
        querystring: z.object({ since: z.iso.datetime({ offset: true }).optional() }),
        response: { 200: MorningReport },
      },
    },
    async ({ query }) => makeMorningReport(deps, query.since === undefined ? null : Date.parse(query.since)),
  );
};
