/** `drover agent …`: what a person does with agents. Each is one call to the server and one line of what it did. */
import type { AgentBody } from '../../client/wire.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { usage } from '../failure.ts';
import { type Cell, table } from '../show/table.ts';
import { plain } from '../terminal.ts';
import { type Present, patchOf, type SpecFlags, specOf } from './agent-spec.ts';

const said = (context: Context, body: unknown, sentence: string): ExitName => {
  if (context.json) printJson(context, body);
  else context.terminal.out(`${sentence}\n`);
  return 'ok';
};

export const add = async (context: Context, flags: SpecFlags, [name, ...command]: string[]): Promise<ExitName> => {
  const body = await context.connection().api.createAgent({ name: name!, ...specOf(flags, command, context.cwd) });
  return said(
    context,
    body,
    `Agent ${body.name} is there${body.workspace ? `, working in ${body.workspace}` : ''}. Try: drover run ${body.name} "..."`,
  );
};

export const set = async (
  context: Context,
  { clear, ...flags }: SpecFlags & { clear?: string[]; json?: boolean },
  [name, ...command]: string[],
): Promise<ExitName> => {
  if (clear === undefined && Object.keys(specOf(flags, command, context.cwd)).length === 0)
    throw usage('Nothing to change: give at least one flag.', 'See drover agent set --help.');
  const { api } = context.connection();
  const present = (await api.agent(name!)) as unknown as Present;
  const patch = patchOf(flags, clear ?? [], command, context.cwd, present);
  const { body } = await api.request<AgentBody>(`/api/agents/${encodeURIComponent(name!)}`, {
    method: 'PUT',
    json: patch,
  });
  return said(
    context,
    body,
    `Agent ${body.name}: ${Object.keys(patch).join(', ')} changed. It counts from the next run on.`,
  );
};

export const list = async (context: Context): Promise<ExitName> => {
  const agents = await context.connection().api.agents();
  if (context.json) printJson(context, agents);
  else if (agents.length === 0)
    context.terminal.out('No agents yet. Add one: drover agent add NAME --workspace DIR, or see drover demo.\n');
  else
    context.terminal.out(
      table(context.terminal, ['NAME', 'STATUS', 'ADAPTER', 'RUNS', 'WAITS', 'CAP', 'WORKSPACE'], agents.map(agentRow)),
    );
  return 'ok';
};

const agentRow = (a: AgentBody): Cell[] => [
  a.name,
  { text: a.status === 'running' ? 'ready' : a.status, colour: a.status === 'running' ? 'green' : 'yellow' },
  a.adapter ?? '–',
  String(a.running ?? '–'),
  String(a.queued ?? '–'),
  String(a.max_parallel_tasks ?? '–'),
  a.workspace ?? '–',
];

export const show = async (context: Context, _options: object, [name]: string[]): Promise<ExitName> => {
  const body = await context.connection().api.agent(name!);
  if (context.json) printJson(context, body);
  else
    for (const [key, text] of fieldLines(Object.entries(body)))
      context.terminal.out(`${context.terminal.paint('out', 'dim', key.padEnd(32))} ${plain(text)}\n`);
  return 'ok';
};

/** What is set, one line each, `limits.timeout_seconds` for what lies deeper. A limit without a value shows its default. */
const fieldLines = (entries: [string, unknown][]): [string, string][] =>
  entries.flatMap(([key, value]): [string, string][] => {
    if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return [];
    if (typeof value !== 'object') return [[key, String(value)]];
    if (Array.isArray(value))
      return [[key, value.map((v) => (typeof v === 'string' ? v : JSON.stringify(v))).join(' ')]];
    if ('effective' in value && 'value' in value)
      return [[key, `${value.effective ?? 'none'}${value.value === null ? ' (default)' : ''}`]];
    return fieldLines(Object.entries(value).map(([name, inner]): [string, unknown] => [`${key}.${name}`, inner]));
  });

export const start = async (context: Context, _options: object, [name]: string[]): Promise<ExitName> => {
  const body = await context.connection().api.startAgent(name!);
  return said(context, body, plain(body.message));
};

export const stop = async (context: Context, options: { force?: boolean }, [name]: string[]): Promise<ExitName> => {
  const body = await context.connection().api.stopAgent(name!, options.force === true);
  return said(context, body, plain(body.message));
};

export const remove = async (context: Context, _options: object, [name]: string[]): Promise<ExitName> => {
  await context.connection().api.deleteAgent(name!);
  return said(context, { name, removed: true }, `Agent ${name} is removed.`);
};
