/** All routes of work, the runner's protocol and the event stream: one group, since they share who waits and who follows. */
import { createTails } from '../../record/tails.ts';
import { openRequests } from '../open-requests.ts';
import type { RouteModule } from '../route.ts';
import { eventRoutes } from './events.ts';
import { runnerRoutes } from './runner.ts';
import { workActivities } from './work-activities.ts';
import { workChain } from './work-chain.ts';
import { workChat } from './work-chat.ts';
import { workDiff } from './work-diff.ts';
import { workExecutions } from './work-executions.ts';
import { workFanOut } from './work-fan-out.ts';
import { workLog } from './work-log.ts';
import { workQueue } from './work-queue.ts';
import { workResume } from './work-resume.ts';
import { workSubmit } from './work-submit.ts';

export const workRoutes: RouteModule = (deps) => async (app) => {
  const open = openRequests(app, deps.kernel.clock);
  const tails = createTails();
  for (const module of [
    workSubmit(open),
    workExecutions,
    workResume,
    workChain,
    workDiff,
    workFanOut(open),
    workLog(open, tails),
    workQueue,
    workChat,
    workActivities,
    runnerRoutes(open, tails),
    eventRoutes(open),
  ])
    await app.register(module(deps));
};
