/** Who called whom: the tree of an execution, from any of its members. */

import { presentChain } from '../present/chain.ts';
import { findExecution } from '../read-execution.ts';
import { IdParams, orNotFound, type RouteModule, who } from '../route.ts';

/** Larger trees are shown from the top, level by level, up to this many. */
const most = 500;

export const workChain: RouteModule = (deps) => async (app) => {
  app.get(
    '/api/executions/:id/chain',
    {
      config: { needs: 'read' },
      schema: {
        tags: ['Work'],
        summary: 'The chain of calls it belongs to: parents and children, who waits for whom, and the cost of all',
        params: IdParams,
      },
    },
    async (request) => {
      const row = await findExecution(deps, request.params.id, who(request));
      return presentChain(
        row.id,
        orNotFound(await deps.store.read('chain', { execution_id: row.id, limit: most }), 'execution'),
      );
    },
  );
};
