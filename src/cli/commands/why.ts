/** `drover why ID`: where an execution stands and the decisions that brought it there, oldest first. */
import type { ChainBody } from '../../client/wire.ts';
import { isTerminal } from '../../contract/status.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { age, dollars } from '../show/durations.ts';
import { endingLines } from '../show/ending.ts';
import { waitingFor } from '../show/waiting.ts';
import { plain } from '../terminal.ts';

const thenWords = {
  end: 'it ended',
  retry: 'tried again',
  park: 'put aside',
  switch: 'went on with another login',
} as const;

export const why = async (context: Context, _options: object, args: string[]): Promise<ExitName> => {
  const { terminal } = context;
  const id = args[0]!;
  const { api } = context.connection();
  if (context.json) {
    printJson(context, (await api.request<unknown>(`/api/executions/${encodeURIComponent(id)}/why`)).body);
    return 'ok';
  }
  const row = await api.execution(id);
  terminal.out(`${row.id} of ${row.agent_name}: ${row.status}\n`);
  if (row.wait !== null) terminal.out(`  waits for ${age(row.queued_at, context.now())}: ${waitingFor(row.wait)}\n`);
  for (const attempt of row.attempts ?? []) {
    const verdict = attempt.verdict;
    const ended = verdict === null ? 'not ended yet' : `${verdict.cause} (${verdict.confidence})`;
    terminal.out(
      `  attempt ${attempt.number}: ${ended}${attempt.decision === null ? '' : `, then ${thenWords[attempt.decision.kind]}`}\n`,
    );
    // The last attempt's evidence stands with the ending.
    const told = attempt === row.attempts?.at(-1) && isTerminal(row.status);
    for (const e of told ? [] : (verdict?.evidence ?? []))
      terminal.out(`${terminal.paint('out', 'dim', `    ${plain(e)}`)}\n`);
    if (attempt.decision?.why !== undefined) terminal.out(`    ${plain(attempt.decision.why)}\n`);
  }
  if (isTerminal(row.status)) terminal.out(endingLines(row, terminal, 'out'));
  terminal.out(chainLines(await api.chain(row.id)));
  return 'ok';
};

/** Who called whom, and who waits for whom now; nothing for a run that stands alone. */
const chainLines = ({ executions, parents, children, cost }: ChainBody): string => {
  if (parents.length + children.length === 0) return '';
  const named = (id: string) => executions.find((e) => e.id === id)?.agent_name ?? id;
  const lines = executions.map((e) => {
    const waits = e.waits_for.length === 0 ? '' : `, waits for ${e.waits_for.map(named).join(', ')}`;
    return `  ${'  '.repeat(e.depth)}${e.agent_name} ${e.id}: ${e.status}${waits}\n`;
  });
  return `chain${cost === null ? '' : `, ${dollars(cost)} in all`}:\n${lines.join('')}`;
};
