/** Copies of everything stored. For owners: a copy holds what all people and agents said. */
import { z } from 'zod';
import { Backup, NewBackup } from '../../contract/backup.ts';
import { audit } from '../../record/audit.ts';
import { listBackups, makeBackup } from '../../record/backups.ts';
import { orRefuse, type RouteModule, who } from '../route.ts';

const tags = ['Backups'];

export const backupRoutes: RouteModule = (deps) => async (app) => {
  app.post(
    '/api/backup',
    {
      config: { needs: 'own' },
      schema: {
        tags,
        summary: 'Copy the store while work goes on, and verify the copy',
        body: NewBackup.nullish(),
        response: { 201: Backup },
      },
    },
    async (request, reply) => {
      const backup = orRefuse(await makeBackup(deps, request.body?.keep ?? null));
      await audit(deps, who(request), 'backup.create', backup.id, {
        bytes: backup.files.reduce((n, f) => n + f.bytes, 0),
      });
      return reply.code(201).send(backup);
    },
  );

  app.get(
    '/api/backups',
    {
      config: { needs: 'own' },
      schema: {
        tags,
        summary: 'The whole backups, newest first',
        response: { 200: z.object({ count: z.number(), backups: z.array(Backup) }) },
      },
    },
    async () => {
      const backups = listBackups(deps.config.home);
      return { count: backups.length, backups };
    },
  );
};
