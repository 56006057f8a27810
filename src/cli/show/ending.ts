/**
 * How an execution ended, for a person: one headline, the sentence of the verdict, the evidence, what to do about it, and
 * what was kept. Everything comes from the row; the words of causes come from the table in contract/.
 */
import type { ExecutionBody } from '../../client/wire.ts';
import { causes } from '../../contract/causes.ts';
import { plain, type Terminal } from '../terminal.ts';
import { dollars, duration } from './durations.ts';

const attentions: Record<string, string> = {
  blocked_tools: 'Some tools were denied to it: see allowed_tools and permission_mode of the agent.',
  permission_mode_differs: 'Its CLI ran with another permission mode than the agent asks for.',
  tool_oom: 'The kernel killed one of its tools for memory; the agent itself went on.',
  memory_pressure: 'It spent its time short of memory: raise resources.memory of the agent.',
  stragglers: 'Processes of it outlived it and were ended.',
  login_differs: 'It logged in with something else than the credential it was lent.',
  work_not_kept: 'Its work could not be kept: see the workspace.',
};

/** Below this a wait in the queue is nothing that a person noticed. */
const toldQueuedMs = 1000;

/** None of them is not told: a command has no turns, and what did not start has nothing. */
const count = (n: number | null | undefined, what: string): string | null =>
  n ? `${n} ${what}${n === 1 ? '' : 's'}` : null;

export const endingLines = (row: ExecutionBody, terminal: Terminal, where: 'out' | 'err' = 'err'): string => {
  const good = row.status === 'success';
  const colour = good ? 'green' : row.status === 'cancelled' ? 'yellow' : 'red';
  const known = row.cause === null ? null : causes[row.cause];
  const counts = [
    count(row.turns, 'turn'),
    count(row.tool_calls, 'tool call'),
    row.duration_ms === null ? null : duration(row.duration_ms),
    (row.queued_ms ?? 0) >= toldQueuedMs ? `${duration(row.queued_ms)} queued` : null,
    row.cost === null ? null : `${dollars(row.cost)}${row.cost_estimated === true ? ' (estimated)' : ''}`,
  ].filter((c) => c !== null);
  const what = row.cause === null || row.cause === row.status ? row.status : `${row.status}: ${row.cause}`;
  const lines = [
    `${terminal.paint(where, colour, what)}${counts.length === 0 ? '' : terminal.paint(where, 'dim', ` · ${counts.join(' · ')}`)}`,
  ];
  if (!good) {
    const said = plain(row.error ?? row.verdict?.message ?? known?.title ?? 'No cause was stored.');
    lines.push(`  ${said}`);
    for (const e of row.verdict?.evidence ?? []) lines.push(terminal.paint(where, 'dim', `  evidence: ${plain(e)}`));
    if (row.verdict?.confidence && row.verdict.confidence !== 'proven')
      lines.push(terminal.paint(where, 'dim', `  confidence: ${row.verdict.confidence}`));
    if (known?.advice && !said.includes(known.advice)) lines.push(`  ${known.advice}`);
  }
  for (const a of row.attention) lines.push(terminal.paint(where, 'yellow', `  ${attentions[a] ?? a}`));
  const kept = row.attempts?.at(-1)?.workspace;
  if (kept?.ref && kept.files_changed)
    lines.push(
      `  kept: ${count(kept.files_changed, 'file')}, +${kept.insertions ?? 0} −${kept.deletions ?? 0}. See it in the workspace: git show ${kept.ref}`,
    );
  return `${lines.join('\n')}\n`;
};
