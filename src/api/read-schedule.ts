/** The schedule a path names, below the agent the principal may see: else the uniform 404. */
import { z } from 'zod';
import type { AgentRow } from '../contract/agent.ts';
import type { Principal } from '../contract/principal.ts';
import type { ScheduleRow } from '../contract/schedule.ts';
import type { Deps } from '../flow/deps.ts';
import { findAgent, NameParams, orNotFound } from './route.ts';

export const OneSchedule = NameParams.extend({ id: z.string().max(300) });

export const findSchedule = async (
  deps: Deps,
  request: { principal: Principal | null; params: { name: string; id: string } },
): Promise<{ agent: AgentRow; schedule: ScheduleRow }> => {
  const agent = await findAgent(deps, request);
  const row = await deps.store.read('schedule', { id: request.params.id });
  return { agent, schedule: orNotFound(row?.agent_id === agent.id ? row : null, 'schedule') };
};
