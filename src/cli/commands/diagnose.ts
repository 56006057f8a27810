/**
 * `drover diagnose`: how a run ended, from evidence alone, by the very module that judges for the server. Lines of evidence
 * in, one object per line out, in the same order: a line that is no evidence gives an object with `error`, so that both stay
 * aligned. Also the facts in the spool of an attempt, and the stored verdict of an execution.
 */
import { createReadStream, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { causes } from '../../contract/causes.ts';
import { Facts } from '../../contract/facts.ts';
import { fieldsIn, inWords } from '../../contract/problem-words.ts';
import type { Verdict } from '../../contract/verdict.ts';
import { type Line, splitLines } from '../../kernel/lines.ts';
import { diagnose as judge } from '../../outcome/diagnose.ts';
import { BadRow, diagnoseRow, parseEvidenceLine, verdictLine } from '../../outcome/from-evidence-row.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { CliFailure, usage } from '../failure.ts';
import { plain } from '../terminal.ts';

interface Flags {
  human?: boolean;
}

export const diagnose = async (context: Context, flags: Flags, [input]: string[]): Promise<ExitName> => {
  if (input === undefined || input === '-') {
    if (context.terminal.inIsTty && input === undefined)
      throw usage(
        'There is nothing to diagnose.',
        'Name a JSONL file, the spool directory of an attempt or an execution, or pipe lines in.',
      );
    return rows(context, flags, Readable.from(context.terminal.stdin));
  }
  const path = resolve(context.cwd, input);
  const kind = kindOf(path);
  if (kind === 'file') return rows(context, flags, createReadStream(path));
  if (kind === 'directory') return spool(context, path);
  return execution(context, input, path);
};

const kindOf = (path: string): 'file' | 'directory' | null => {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  return stat.isDirectory() ? 'directory' : 'file';
};

/** Two tails of 50 MB each, and what JSON makes of them; a text of V8 ends at 512 MB. */
const longestRow = 128 * 1024 * 1024;

async function* linesOf(input: Readable): AsyncGenerator<Line> {
  const splitter = splitLines(0, longestRow);
  for await (const chunk of input) yield* splitter.push(Buffer.from(chunk as Buffer | string));
  const rest = splitter.rest();
  if (rest !== null) yield rest;
}

const rows = async (context: Context, flags: Flags, input: Readable): Promise<ExitName> => {
  let number = 0;
  let seen = 0;
  let bad = 0;
  for await (const { text, bytes } of linesOf(input)) {
    number++;
    if (text.trim() === '') continue;
    seen++;
    try {
      if (bytes > longestRow)
        throw new BadRow(
          number,
          `longer than ${longestRow / 1024 / 1024} MB. Give the last MB of stdout_tail and stderr_tail.`,
        );
      const row = parseEvidenceLine(text, number);
      show(context, flags.human === true, row.id, diagnoseRow(row, { now: context.now() }));
    } catch (e) {
      if (!(e instanceof BadRow)) throw e;
      bad++;
      context.terminal.err(`${plain(e.message)}\n`);
      if (flags.human !== true) printJson(context, { id: idIn(text), error: e.message });
    }
  }
  if (seen === 0) throw usage('There was no line of evidence.', 'One JSON object per line; see docs/cli.md, diagnose.');
  return bad === 0 ? 'ok' : 'usage';
};

/** Of a line that is no evidence, for those who match lines by id. */
const idIn = (line: string): string | null => {
  try {
    const value = JSON.parse(line) as { id?: unknown; evidence?: { id?: unknown } };
    const id = value.id ?? value.evidence?.id;
    return typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
};

const spool = async (context: Context, dir: string): Promise<ExitName> => {
  const file = join(dir, 'facts.json');
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (e) {
    const { code } = e as NodeJS.ErrnoException;
    if (code !== 'ENOENT')
      throw new CliFailure('refused', `${file} cannot be read (${code}).`, ['Run this as the user of the runner.']);
    throw new CliFailure('not_found', `${dir} holds no facts.json.`, [
      'Facts are written when an attempt has ended. The spool of an attempt is DROVER_HOME/runner/attempts/ATTEMPT.',
    ]);
  }
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {}
  const facts = Facts.safeParse(value, inWords);
  if (!facts.success)
    throw usage(
      `${file} holds no facts that this version can read: ${fieldsIn(facts.error, 'the file')}.`,
      'Use the version of Drover that the runner has.',
    );
  show(context, !context.json, dir.split('/').at(-1)!, judge(facts.data));
  return 'ok';
};

const execution = async (context: Context, id: string, path: string): Promise<ExitName> => {
  if (!/^[0-9a-z]{20,40}$/.test(id))
    throw new CliFailure(
      'not_found',
      `There is no file or directory ${path}, and ${JSON.stringify(id)} is not the id of an execution.`,
    );
  const row = await context.connection().api.execution(id);
  const verdict = row.verdict ?? row.attempts?.at(-1)?.verdict ?? null;
  if (verdict === null)
    throw new CliFailure(
      'not_found',
      `${id} is ${row.status} and has no verdict${row.cause === null ? ' yet' : `; its cause is ${row.cause}`}.`,
      [`See drover why ${id}.`],
    );
  show(context, !context.json, id, verdict);
  return 'ok';
};

/** What a verdict that rests on words rests on. */
const tiers = { structured: 'structured', line: 'a whole line of the CLI' } as const;

const show = (context: Context, human: boolean, id: string, v: Verdict): void => {
  if (!human) {
    printJson(context, verdictLine(id, v));
    return;
  }
  const { terminal } = context;
  const yes = (b: boolean | null) => (b === null ? 'cannot be told' : b ? 'yes' : 'no');
  const dim = (text: string) => terminal.paint('out', 'dim', text);
  terminal.out(
    [
      `${terminal.paint('out', 'bold', plain(id))}  ${terminal.paint('out', v.cause === 'success' ? 'green' : 'red', v.cause)} (${v.confidence}${v.tier === null ? '' : `, ${tiers[v.tier]}`}${v.mechanism === null ? '' : `, by ${v.mechanism}`})`,
      `  ${plain(v.message || causes[v.cause].title)}`,
      ...v.evidence.map((e) => dim(`  evidence: ${plain(e)}`)),
      ...(v.secondary.length === 0 ? [] : [`  also: ${v.secondary.join(', ')}`]),
      `  try again: ${yes(v.retryable)} · switch the credential: ${yes(v.switch_credential)}${v.reset_at === null ? '' : ` · resets ${new Date(v.reset_at).toISOString()}`}`,
      ...(v.message.includes(causes[v.cause].advice) ? [] : [`  ${causes[v.cause].advice}`]),
      '',
    ].join('\n'),
  );
};
