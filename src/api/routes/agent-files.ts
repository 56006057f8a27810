/** The files of an agent's workspace, as a tree and one by one. What leads outside is answered as what does not exist. */
import { z } from 'zod';
import { workspaceOf } from '../present/agent.ts';
import { findAgent, NameParams, orNotFound, type RouteModule } from '../route.ts';
import { listTree, openInside } from '../workspace-files.ts';

const tags = ['Agents'];

const Node = z.object({
  name: z.string(),
  path: z.string(),
  type: z.enum(['file', 'directory', 'link', 'other']),
  size: z.number().nullable(),
  modified: z.string().nullable(),
  get children() {
    return z.array(Node).optional();
  },
});
const Tree = z.object({ agent_name: z.string(), path: z.string(), tree: z.array(Node), truncated: z.boolean() });

/** A name in a header: quotes and what no header may hold taken out, the whole name beside it in UTF-8. */
const disposition = (name: string): string =>
  `attachment; filename="${name.replace(/[^\x20-\x7e]|["\\]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(name.toWellFormed())}`;

export const agentFileRoutes: RouteModule = (deps) => async (app) => {
  app.get(
    '/api/agents/:name/files',
    {
      config: { needs: 'view' },
      schema: {
        tags,
        summary: 'The tree of its workspace',
        params: NameParams,
        querystring: z.object({ path: z.string().max(4_096).optional() }),
        response: { 200: Tree },
      },
    },
    async (request) => {
      const agent = await findAgent(deps, request);
      const path = request.query.path ?? '.';
      const root = workspaceOf(agent, deps.config.home);
      const found = await listTree(root, path, deps.config.home);
      // Its own workspace is made by its first run: until then it is empty, not missing.
      if (found === null && path === '.') return { agent_name: agent.name, path, tree: [], truncated: false };
      return { agent_name: agent.name, path, ...orNotFound(found, 'file') };
    },
  );

  app.get(
    '/api/agents/:name/files/download',
    {
      config: { needs: 'view' },
      schema: {
        tags,
        summary: 'The bytes of one file',
        params: NameParams,
        querystring: z.object({ path: z.string().min(1).max(4_096) }),
      },
    },
    async (request, reply) => {
      const agent = await findAgent(deps, request);
      const root = workspaceOf(agent, deps.config.home);
      const file = orNotFound(await openInside(root, request.query.path, deps.config.home), 'file');
      // Always a download: what an agent wrote is never shown as a page of ours.
      reply.type('application/octet-stream').header('content-disposition', disposition(file.name));
      // Of the size it had: what is written meanwhile is not read, nor what has no size (as in /proc).
      if (file.size > 0) return reply.send(file.handle.createReadStream({ end: file.size - 1 }));
      await file.handle.close();
      return reply.send(Buffer.alloc(0));
    },
  );
};
