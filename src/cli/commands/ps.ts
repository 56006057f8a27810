/**
 * `drover ps`: the fleet's limits in use, what runs, what waits with its reason and place, and the last endings. Three
 * lists and the limits are asked for at once; each is a page of its own, so none can hide another.
 */
import type { ExecutionBody, LimitsBody } from '../../client/wire.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { age, dollars, duration } from '../show/durations.ts';
import { type Cell, table } from '../show/table.ts';
import { waitingFor } from '../show/waiting.ts';

/** Rows of running and waiting each: more than fits a screen; the heading names the true number. */
const shown = 50;

export const ps = async (context: Context, options: { agent?: string; limit?: number }): Promise<ExitName> => {
  const { api } = context.connection();
  const page = async (status: string, limit: number) =>
    (await api.executions({ status, agent: options.agent, limit })).executions;
  const [limits, running, queued, endings] = await Promise.all([
    api.limits(),
    page('running,waiting', shown),
    page('queued', shown),
    page('success,failed,cancelled', options.limit ?? 10),
  ]);
  if (context.json) printJson(context, { limits, running, waiting: queued, recent: endings });
  else context.terminal.out(screen(context, limits, running, queued, endings));
  return 'ok';
};

const screen = (
  context: Context,
  limits: LimitsBody,
  running: ExecutionBody[],
  queued: ExecutionBody[],
  endings: ExecutionBody[],
): string => {
  const { terminal } = context;
  const now = context.now();
  const title = (text: string) => `\n${terminal.paint('out', 'bold', text)}\n`;
  const fleet = `Fleet: ${limits.running} of ${limits.agent_call_limit} run, ${limits.queued} wait${limits.paused ? ', PAUSED (drover resume)' : ''}\n`;
  const run = running.map((r): Cell[] => [
    r.id,
    r.agent_name,
    { text: r.status, colour: r.status === 'waiting' ? 'yellow' : 'green' },
    age(r.started_at, now),
    r.status === 'waiting' ? 'waits for another agent' : (r.active_tool ?? r.message),
  ]);
  const wait = queued.map((r): Cell[] => [
    r.id,
    r.agent_name,
    age(r.queued_at, now),
    r.wait === null ? '–' : waitingFor(r.wait),
  ]);
  const end = endings.map((r): Cell[] => [
    r.id,
    r.agent_name,
    {
      text: r.cause ?? r.status,
      colour: r.status === 'success' ? 'green' : r.status === 'cancelled' ? 'yellow' : 'red',
    },
    age(r.completed_at, now),
    duration(r.duration_ms),
    dollars(r.cost),
    r.error ?? r.response ?? '',
  ]);
  return [
    fleet,
    run.length === 0 ? '' : title('Running') + table(terminal, ['ID', 'AGENT', 'STATUS', 'FOR', 'DOES'], run),
    wait.length === 0 ? '' : title('Waiting') + table(terminal, ['ID', 'AGENT', 'FOR', 'BECAUSE'], wait),
    end.length === 0
      ? ''
      : title('Ended') + table(terminal, ['ID', 'AGENT', 'HOW', 'AGO', 'TOOK', 'COST', 'WHAT'], end),
  ].join('');
};
