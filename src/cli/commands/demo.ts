/**
 * `drover demo`: five agents, one task each, and a table of what really happened beside what Drover found out. The CLI is a
 * shim and is called so; the processes, the limits, the kills and the verdicts are real. Exit 0 = all five were told right.
 */
import { join } from 'node:path';
import type { ExecutionBody } from '../../client/wire.ts';
import { isTerminal } from '../../contract/status.ts';
import type { Verdict } from '../../contract/verdict.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { duration } from '../show/durations.ts';
import { waitingFor } from '../show/waiting.ts';
import { plain } from '../terminal.ts';
import { type Act, acts, ensureAgent, removeAgent } from './demo-agents.ts';

/** How often each row is looked at. */
const lookMs = 300;

export const demo = async (context: Context, options: { remove?: boolean }): Promise<ExitName> => {
  const { api, url } = context.connection();
  const note = (text: string) => {
    if (!context.json) context.terminal.err(`${text}\n`);
  };
  if (options.remove === true) {
    const removed: string[] = [];
    for (const act of acts) if (await removeAgent(api, act)) removed.push(act.agent);
    // Nobody is to do anything about an ending that was played; the executions stay in the history.
    for (const item of await api.operatorItems())
      if (acts.some((act) => act.agent === item.agent_name)) await api.acknowledge(item.id);
    if (context.json) printJson(context, { removed });
    else
      context.terminal.out(
        removed.length === 0
          ? 'There are no demo agents.\n'
          : `Removed ${removed.join(', ')}. What they ran stays in the history, and their directories under DROVER_HOME/workspaces.\n`,
      );
    return 'ok';
  }

  const shim = join(context.root, 'bin', 'demo-claude');
  note(`Five agents of the claude adapter. Their CLI is a shim (${shim}), not Claude Code: it needs no key,`);
  note('calls no model and costs nothing. What is done to it is real. Running one task on each ...');
  for (const act of acts) await ensureAgent(api, act, shim);
  const ended = await Promise.all(
    acts.map(async (act) => {
      const id = await begin(context, act);
      const row = await settled(context, id);
      note(`  ${act.agent}: ${verdictOf(row)?.cause ?? row.cause ?? row.status}`);
      return { act, row };
    }),
  );

  const right = ended.filter(({ act, row }) => toldRight(act, row)).length;
  if (context.json) printJson(context, ended.map(shape));
  else {
    for (const e of ended) context.terminal.out(block(context, e));
    context.terminal.out(
      `\n${right} of ${acts.length} told right. Look closer: drover why ID, drover logs ID, or ${url}. Take them away: drover demo --remove\n`,
    );
  }
  return right === acts.length ? 'ok' : 'failed';
};

interface Ended {
  act: Act;
  row: ExecutionBody;
}

const begin = async (context: Context, { agent, scene }: Act): Promise<string> => {
  const answer = await context
    .connection()
    .api.task(agent, { message: `Play the scene "${scene}".` }, { idempotencyKey: context.key(), waitS: 0 });
  return answer.execution_id!;
};

/** Ended, or put aside until a known reset: the limit's other honest ending. */
const settled = async (context: Context, id: string): Promise<ExecutionBody> => {
  let said = '';
  for (;;) {
    const row = await context.connection().api.execution(id);
    if (isTerminal(row.status) || parked(row)) return row;
    const waits = row.wait === null || row.wait.reason === 'turn' ? '' : waitingFor(row.wait);
    if (waits !== '' && waits !== said && !context.json) context.terminal.err(`  ${row.agent_name} waits: ${waits}\n`);
    said = waits;
    await context.pause(lookMs);
  }
};

const parked = (row: ExecutionBody): boolean =>
  row.status === 'queued' && row.attempts?.at(-1)?.decision?.kind === 'park';

const verdictOf = (row: ExecutionBody): Verdict | null => row.verdict ?? row.attempts?.at(-1)?.verdict ?? null;
const causeOf = (row: ExecutionBody) => row.cause ?? verdictOf(row)?.cause ?? null;
const toldRight = (act: Act, row: ExecutionBody): boolean => {
  const cause = causeOf(row);
  return cause !== null && act.causes.includes(cause);
};

const shape = ({ act, row }: Ended) => ({
  agent: act.agent,
  really: act.really,
  execution_id: row.id,
  status: row.status,
  cause: causeOf(row),
  confidence: verdictOf(row)?.confidence ?? null,
  message: verdictOf(row)?.message ?? row.error ?? null,
  evidence: verdictOf(row)?.evidence ?? [],
  told_right: toldRight(act, row),
});

const block = (context: Context, { act, row }: Ended): string => {
  const { terminal } = context;
  const dim = (text: string) => terminal.paint('out', 'dim', text);
  const verdict = verdictOf(row);
  const right = toldRight(act, row);
  const state = parked(row) ? `put aside until ${row.not_before ?? 'the reset'}` : row.status;
  const lines = [
    `\n${terminal.paint('out', 'bold', act.agent)}  ${act.really}  ${dim(row.id)}`,
    `  Drover says: ${terminal.paint('out', right ? 'green' : 'red', causeOf(row) ?? 'nothing')} (${verdict?.confidence ?? 'unknown'}), ${state}, after ${duration(row.duration_ms)}`,
  ];
  const message = verdict?.message || row.response || row.error;
  if (message) lines.push(`  ${plain(message)}`);
  for (const e of verdict?.evidence ?? []) lines.push(dim(`  evidence: ${plain(e)}`));
  if (!right) lines.push(terminal.paint('out', 'red', `  Expected ${act.causes.join(' or ')}. See drover doctor.`));
  if (act.scene === 'oom' && causeOf(row) === 'memory_limit')
    lines.push(
      '  This host gives Drover no memory cgroup, so the kernel proves nothing here: Drover watched and stopped it.',
    );
  return `${lines.join('\n')}\n`;
};
