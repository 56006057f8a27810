/**
 * `drover ps`: the fleet's limits in use, what runs, what waits with its reason and place, and the last endings. Three
 * lists and the limits are asked for at once; each is a page of its own, so none can hide another.
 */
import type { Client } from '../../client/client.ts';
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
  else context.terminal.out(screen(context, { limits, running, queued, endings }, await waitsFor(api, running)));
  return 'ok';
};

/** Of those that wait for others, so many are asked whom they wait for: the rest says that it waits. */
const askedMost = 10;

const waitsFor = async (api: Client, running: ExecutionBody[]): Promise<Map<string, string>> => {
  const asked = running.filter((r) => r.status === 'waiting').slice(0, askedMost);
  // Whatever is wrong with one chain, the rest of the screen is there.
  const chains = await Promise.all(asked.map((r) => api.chain(r.id).catch(() => null)));
  return new Map(
    chains.flatMap((chain) => {
      if (chain === null) return [];
      const { execution_id, executions } = chain;
      const ids = executions.find((e) => e.id === execution_id)?.waits_for ?? [];
      const names = ids.map((id) => executions.find((e) => e.id === id)?.agent_name ?? id);
      return names.length === 0 ? [] : [[execution_id, `waits for ${names.join(', ')}`] as const];
    }),
  );
};

interface Shown {
  limits: LimitsBody;
  running: ExecutionBody[];
  queued: ExecutionBody[];
  endings: ExecutionBody[];
}

const screen = (
  context: Context,
  { limits, running, queued, endings }: Shown,
  waits: ReadonlyMap<string, string>,
): string => {
  const { terminal } = context;
  const now = context.now();
  const title = (text: string) => `\n${terminal.paint('out', 'bold', text)}\n`;
  const fleet = `Fleet: ${limits.running} of ${limits.agent_call_limit} run, ${limits.queued} wait${limits.paused ? ', PAUSED (drover resume)' : ''}\n`;
  // By the agent's name where its run is on the screen, else by the run's id.
  const callers = new Map([...running, ...endings].map((r) => [r.id, r.agent_name]));
  const called = ({ parent_execution_id: by }: ExecutionBody) => (by == null ? '' : (callers.get(by) ?? by));
  const run = running.map((r): Cell[] => [
    r.id,
    r.agent_name,
    { text: r.status, colour: r.status === 'waiting' ? 'yellow' : 'green' },
    age(r.started_at, now),
    r.status === 'waiting' ? (waits.get(r.id) ?? 'waits for another agent') : (r.active_tool ?? r.message),
    called(r),
  ]);
  const wait = queued.map((r): Cell[] => [
    r.id,
    r.agent_name,
    age(r.queued_at, now),
    r.wait === null ? '–' : waitingFor(r.wait),
    called(r),
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
    run.length === 0
      ? ''
      : title('Running') + table(terminal, ['ID', 'AGENT', 'STATUS', 'FOR', 'DOES', 'CALLED BY'], run),
    wait.length === 0 ? '' : title('Waiting') + table(terminal, ['ID', 'AGENT', 'FOR', 'BECAUSE', 'CALLED BY'], wait),
    end.length === 0
      ? ''
      : title('Ended') + table(terminal, ['ID', 'AGENT', 'HOW', 'AGO', 'TOOK', 'COST', 'WHAT'], end),
  ].join('');
};
