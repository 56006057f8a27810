/** `drover incidents`: shared troubles of a provider, what they hold up and when the next probe goes. */
import type { IncidentBody } from '../../client/wire.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { age } from '../show/durations.ts';
import { table } from '../show/table.ts';

export const incidents = async (context: Context, options: { all?: boolean }): Promise<ExitName> => {
  const { terminal } = context;
  const { api } = context.connection();
  const [body, { providers }] = await Promise.all([api.incidents(), api.providers()]);
  const listed = options.all ? body.incidents : body.incidents.filter((i) => i.state !== 'closed');
  const paused = providers.filter((p) => p.paused);
  if (context.json) {
    printJson(context, { open: body.open, incidents: listed, providers });
    return 'ok';
  }
  if (listed.length === 0) terminal.out(options.all ? 'There never was an incident.\n' : 'No incident is open.\n');
  else
    terminal.out(
      table(
        terminal,
        ['ID', 'PROVIDER', 'STATE', 'CAUSE', 'SINCE', 'FAILED', 'PROBES', 'AGENTS', 'NEXT'],
        listed.map((i) => [
          i.id,
          i.provider,
          { text: i.state, colour: i.state === 'open' ? 'red' : i.state === 'reopening' ? 'yellow' : 'dim' },
          i.cause,
          `${age(i.opened_at, context.now())} ago`,
          String(i.failures),
          String(i.probes),
          i.agents.join(', '),
          next(i),
        ]),
      ),
    );
  for (const p of paused)
    terminal.out(`${p.provider} is paused by ${p.paused_by}. To go on: drover resume --provider ${p.provider}\n`);
  return 'ok';
};

const next = (i: IncidentBody): string => {
  if (i.state === 'closed') return i.closed_why ?? '–';
  if (i.probe !== null) return `a probe is under way: ${i.probe.execution_id}`;
  return i.state === 'open' ? `probe at ${i.next_at}` : 'starts are paced';
};
