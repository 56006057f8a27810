/**
 * `drover rediagnose --since`: which stored verdicts the version of the server would give otherwise today. Shown, never written:
 * a verdict has had its consequences. For a look before an upgrade is trusted, or after a table of causes was corrected.
 */
import type { Verdict } from '../../contract/verdict.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { usage } from '../failure.ts';
import { plain } from '../terminal.ts';

interface Flags {
  since: string;
}
interface Page {
  looked_at: number;
  reworded: number;
  unreadable: number;
  changed: {
    execution_id: string;
    agent_name: string;
    attempt: number;
    ended_at: string | null;
    fields: string[];
    before: Verdict;
    after: Verdict;
  }[];
  next: string | null;
}

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `24h`, `7d`, or a date or time. `flag`: what the person typed, for the refusal. */
export const sinceOf = (given: string, now: number, flag = '--since'): string => {
  const back = /^(\d{1,6})([mhd])$/.exec(given);
  if (back) return new Date(now - Number(back[1]) * units[back[2] as keyof typeof units]).toISOString();
  const at = /^\d{4}-\d{2}-\d{2}/.test(given) ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(at))
    throw usage(`${flag} needs 24h, 7d, or a date such as 2026-11-30, not ${JSON.stringify(given)}.`);
  return new Date(at).toISOString();
};

const told = (v: Verdict): string => {
  const change = v.switch_credential === null ? 'cannot tell' : v.switch_credential ? 'switch' : 'no switch';
  return `${v.cause} (${v.confidence}, ${change}, ${v.retryable ? 'can be retried' : 'no retry'})`;
};

export const rediagnose = async (context: Context, flags: Flags): Promise<ExitName> => {
  const { terminal } = context;
  const { api } = context.connection();
  const since = sinceOf(flags.since, context.now());
  const sum = { looked_at: 0, changed: 0, reworded: 0, unreadable: 0 };
  let after: string | null = null;
  do {
    const query = new URLSearchParams({ since, ...(after === null ? {} : { after }) });
    const page: Page = (await api.request<Page>(`/api/rediagnose?${query}`)).body;
    sum.looked_at += page.looked_at;
    sum.changed += page.changed.length;
    sum.reworded += page.reworded;
    sum.unreadable += page.unreadable;
    for (const c of page.changed) {
      if (context.json) {
        printJson(context, c);
        continue;
      }
      terminal.out(
        [
          `${c.execution_id}  ${plain(c.agent_name)}, attempt ${c.attempt}${c.ended_at === null ? '' : `, ${c.ended_at}`}`,
          `  then: ${told(c.before)}`,
          `  now:  ${told(c.after)}`,
          ...c.after.evidence.slice(0, 3).map((e) => terminal.paint('out', 'dim', `  evidence: ${plain(e)}`)),
          '',
        ].join('\n'),
      );
    }
    after = page.next;
  } while (after !== null);
  const rest = [
    sum.reworded === 0 ? '' : ` ${sum.reworded} more would be worded otherwise.`,
    sum.unreadable === 0 ? '' : ` The facts of ${sum.unreadable} cannot be read by this version.`,
  ].join('');
  const verdicts = `${sum.looked_at} verdict${sum.looked_at === 1 ? '' : 's'} since ${since}`;
  const summary = `${verdicts}: ${sum.changed} would be another today.${rest} Nothing was changed.\n`;
  // A pipe gets the verdicts alone; whoever looks still reads how many there were, and how many could not be read.
  if (context.json) terminal.err(summary);
  else terminal.out(summary);
  return 'ok';
};
