/**
 * What an execution changed, as the text of a diff: from the tree it began with to the one that was kept at its end. The
 * text came with the facts, so that it is there when the workspace is on another host or gone. Of an older run it is read again
 * in the workspace; when that cannot be, it says so.
 */
import { z } from 'zod';
import { leftRef } from '../../contract/kept-ref.ts';
import { workspaceOf } from '../present/agent.ts';
import { findExecution, readAttempts } from '../read-execution.ts';
import { IdParams, type RouteModule, who } from '../route.ts';

const Diff = z.object({
  execution_id: z.string(),
  /** Null when there is none to show; `note` then says why. */
  diff: z.string().nullable(),
  truncated: z.boolean(),
  ref: z.string().nullable(),
  note: z.string().nullable(),
});

export const workDiff: RouteModule = (deps) => async (app) => {
  app.get(
    '/api/executions/:id/diff',
    {
      // A reader of the fleet: it runs git, and what it shows is the content of files.
      config: { needs: 'view' },
      schema: { tags: ['Work'], summary: 'What it changed, as a diff', params: IdParams, response: { 200: Diff } },
    },
    async (request) => {
      const row = await findExecution(deps, request.params.id, who(request));
      const attempts = await readAttempts(deps, row.id);
      const kept = attempts.findLast((a) => a.workspace?.ref) ?? null;
      const ref = kept?.workspace?.ref ?? null;
      const none = (note: string) => ({ execution_id: row.id, diff: null, truncated: false, ref, note });
      const told = kept === null ? null : (await deps.store.read('facts', { attempt_id: kept.id }))?.workspace?.diff;
      if (told != null) return { execution_id: row.id, diff: told.text, truncated: told.truncated, ref, note: null };
      // Not kept at its ending, it may have been since.
      const from = ref ?? leftRef(row.id);
      const agent = await deps.store.read('agent_by_name', { name: row.agent_name });
      if (agent !== null && agent.id === row.agent_id)
        try {
          const { text, truncated } = await deps.workDiff(workspaceOf(agent, deps.config.home), row.id, from);
          return { execution_id: row.id, diff: text, truncated, ref: from, note: null };
        } catch (error) {
          if (ref !== null)
            return none(`It cannot be read here (${(error as Error).message.slice(0, 300)}); it stands under ${ref}.`);
        }
      if (ref !== null)
        return none(`Its agent is deleted. In its repository: git diff ${ref.replace(/[^/]*$/, 'base')} ${ref}`);
      const why = attempts.at(-1)?.workspace?.keep_error ?? 'it has not ended, or its workspace is no git repository.';
      return none(`No tree was kept: ${why}`);
    },
  );
};
