/** `drover schedule …`: schedules by the name of their agent and their own. Prints what the server says; decides nothing. */
import type { ScheduleBody } from '../../client/day-wire.ts';
import type { Ask } from '../../client/request.ts';
import type { ExecutionBody } from '../../client/wire.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { CliFailure, usage } from '../failure.ts';
import { table } from '../show/table.ts';
import { oneLine } from '../terminal.ts';

interface Flags {
  timezone?: string;
  overlap?: string;
  catchUp?: string;
  jitter?: number;
  timeout?: number;
  retries?: number;
  model?: string;
  description?: string;
  off?: boolean;
}

const ask = async <T>(context: Context, path: string, o: Ask = {}) =>
  (await context.connection().api.request<T>(path, o)).body;
const under = (agent: string, rest = '') => `/api/agents/${encodeURIComponent(agent)}/schedules${rest}`;

const find = async (context: Context, agent: string, name: string): Promise<ScheduleBody> => {
  const all = await ask<ScheduleBody[]>(context, under(agent));
  const found = all.find((s) => s.name === name || s.id === name);
  if (found === undefined)
    throw new CliFailure('not_found', `${agent} has no schedule "${oneLine(name, 80)}".`, ['See drover schedule.']);
  return found;
};
const one = (s: ScheduleBody, rest = '') => under(s.agent_name, `/${encodeURIComponent(s.id)}${rest}`);

const when = (iso: string | null): string => (iso === null ? '–' : iso.replace('T', ' ').replace(/\.\d+Z$/, ' UTC'));

export const list = async (context: Context): Promise<ExitName> => {
  const [all, state] = await Promise.all([
    ask<ScheduleBody[]>(context, '/api/schedules'),
    ask<{ paused: boolean }>(context, '/api/ops/schedules'),
  ]);
  if (context.json) {
    printJson(context, all);
    return 'ok';
  }
  const { terminal } = context;
  if (state.paused) terminal.err('All schedules are held: drover schedule resume\n');
  if (all.length === 0) terminal.out('No schedule. drover schedule add AGENT NAME "0 3 * * *" MESSAGE\n');
  else
    terminal.out(
      table(
        terminal,
        ['AGENT', 'NAME', 'CRON', 'ZONE', 'NEXT', 'LAST', 'MESSAGE'],
        all.map((s) => [
          s.agent_name,
          s.name,
          s.cron_expression,
          s.timezone,
          s.enabled ? when(s.next_run_at) : { text: 'off', colour: 'dim' },
          when(s.last_run_at),
          oneLine(s.message, 200),
        ]),
      ),
    );
  return 'ok';
};

export const add = async (context: Context, f: Flags, [agent, name, cron, ...words]: string[]): Promise<ExitName> => {
  if (words.length === 0) throw usage('What is it to say? drover schedule add AGENT NAME "0 3 * * *" MESSAGE');
  const made = await ask<ScheduleBody>(context, under(agent!), {
    method: 'POST',
    json: {
      name,
      cron_expression: cron,
      message: words.join(' '),
      enabled: f.off !== true,
      timezone: f.timezone,
      overlap: f.overlap,
      catch_up: f.catchUp,
      jitter_seconds: f.jitter,
      timeout_seconds: f.timeout,
      max_retries: f.retries,
      model: f.model,
      description: f.description,
    },
  });
  if (context.json) printJson(context, made);
  else
    context.terminal.out(
      `${made.name} of ${made.agent_name}: ${made.enabled ? `next ${when(made.next_run_at)}` : 'off'}.\n`,
    );
  return 'ok';
};

interface Preview {
  timezone: string;
  times: { fire_at: string; local: string }[];
}

export const show = async (context: Context, _: object, [agent, name]: string[]): Promise<ExitName> => {
  const s = await find(context, agent!, name!);
  const preview = await ask<Preview>(context, one(s, '/preview'));
  if (context.json) {
    printJson(context, { ...s, times: preview.times });
    return 'ok';
  }
  const { terminal } = context;
  terminal.out(
    [
      `${s.name} of ${s.agent_name}${s.enabled ? '' : ' (off)'}`,
      `  cron       ${s.cron_expression} (${s.timezone})`,
      `  overlap    ${s.overlap}`,
      `  catch up   ${s.catch_up}`,
      ...(s.jitter_seconds > 0 ? [`  jitter     ${s.jitter_seconds} s`] : []),
      `  last       ${when(s.last_run_at)}`,
      ...preview.times.map((t, i) => `  ${i === 0 ? 'next ' : '     '}      ${t.local}`),
      `  says       ${oneLine(s.message, 2000)}`,
      '',
    ].join('\n'),
  );
  return 'ok';
};

type Ticked = ExecutionBody & { fire_at: string; by_hand: boolean };

export const history = async (context: Context, o: { limit?: number }, [agent, name]: string[]): Promise<ExitName> => {
  const s = await find(context, agent!, name!);
  const ticks = await ask<Ticked[]>(context, one(s, '/executions'), { query: { limit: o.limit ?? 20 } });
  if (context.json) printJson(context, ticks);
  else if (ticks.length === 0) context.terminal.out('It has not run yet.\n');
  else
    context.terminal.out(
      table(
        context.terminal,
        ['TICK', 'STATUS', 'ID', 'WHY'],
        ticks.map((t) => [
          `${when(t.fire_at)}${t.by_hand ? ' (by hand)' : ''}`,
          t.status,
          t.id,
          t.error === null ? '' : oneLine(t.error, 200),
        ]),
      ),
    );
  return 'ok';
};

export const trigger = async (context: Context, _: object, [agent, name]: string[]): Promise<ExitName> => {
  const s = await find(context, agent!, name!);
  const done = await ask<{ execution_id: string }>(context, one(s, '/trigger'), { method: 'POST' });
  if (context.json) printJson(context, done);
  else context.terminal.out(`${done.execution_id}\n`);
  return 'ok';
};

const turn =
  (to: 'enable' | 'disable') =>
  async (context: Context, _: object, [agent, name]: string[]): Promise<ExitName> => {
    const s = await find(context, agent!, name!);
    const row = await ask<ScheduleBody>(context, one(s, `/${to}`), { method: 'POST' });
    if (context.json) printJson(context, row);
    else context.terminal.out(`${s.name} is ${row.enabled ? `on; next ${when(row.next_run_at)}` : 'off'}.\n`);
    return 'ok';
  };
export const on = turn('enable');
export const off = turn('disable');

export const remove = async (context: Context, _: object, [agent, name]: string[]): Promise<ExitName> => {
  const s = await find(context, agent!, name!);
  await ask(context, one(s), { method: 'DELETE' });
  if (context.json) printJson(context, { deleted: s.id });
  else context.terminal.out(`${s.name} is deleted; what it ran is kept.\n`);
  return 'ok';
};

const all =
  (verb: 'pause' | 'resume') =>
  async (context: Context): Promise<ExitName> => {
    const done = await ask<{ message: string }>(context, `/api/ops/schedules/${verb}`, { method: 'POST' });
    if (context.json) printJson(context, done);
    else context.terminal.out(`${done.message}\n`);
    return 'ok';
  };
export const pauseAll = all('pause');
export const resumeAll = all('resume');
