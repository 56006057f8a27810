/**
 * What `drover diagnose` reads and prints: one recorded ending per line (cases/README.md 1). A row goes through the same
 * readers and the same `diagnose` as a live run; its tails may be cut at the front, plain text or events. Knows no ids and no
 * expected values. A bad line gets an error that names the line and the field.
 */
import { z } from 'zod';
import { emptyFacts, type Facts } from '../contract/facts.ts';
import { fieldsIn, inWords } from '../contract/problem-words.ts';
import { StopReason } from '../contract/stop-reasons.ts';
import type { Verdict } from '../contract/verdict.ts';
import { createReader } from '../evidence/create.ts';
import { type DiagnoseOptions, diagnose } from './diagnose.ts';

export const EvidenceRow = z.object({
  id: z.string(),
  cli: z.enum(['claude', 'codex', 'gemini', 'any', 'command']),
  exit_code: z.number().int().nullish(),
  signal: z.string().nullish(),
  stop_reason: StopReason.nullish(),
  oom_kill_delta: z.number().int().min(0).nullish(),
  stdout_tail: z.string().nullish(),
  stderr_tail: z.string().nullish(),
  result_event: z.record(z.string(), z.unknown()).nullish(),
});
export type EvidenceRow = z.infer<typeof EvidenceRow>;

/** A line that is no row: shown with its number, the others go on. */
export class BadRow extends Error {
  constructor(line: number, why: string) {
    super(`line ${line}: ${why}`);
    this.name = 'BadRow';
  }
}

export const parseEvidenceLine = (text: string, line: number): EvidenceRow => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BadRow(line, `not JSON (${(error as Error).message}). Give one JSON object per line.`);
  }
  // The collection nests a row under `evidence`, beside what is expected of it.
  const nested = (value as { evidence?: unknown } | null)?.evidence;
  const parsed = EvidenceRow.safeParse(typeof nested === 'object' && nested !== null ? nested : value, inWords);
  if (parsed.success) return parsed.data;
  throw new BadRow(line, fieldsIn(parsed.error, 'it'));
};

const lines = (text: string | null | undefined): string[] => (text ? text.split(/\r?\n/).flatMap(eventsOf) : []);

/** `--output-format json --verbose` prints all events as one array on one line. */
const eventsOf = (line: string): string[] => {
  if (!/^\[\{ ?"/.test(line)) return [line];
  try {
    return (JSON.parse(line) as unknown[]).map((event) => JSON.stringify(event));
  } catch {
    return [line];
  }
};

/** Events, also when the tail begins in the middle of one: then its first line closes more than it opens. */
const hasEvents = (stdout: string[]): boolean => {
  if (stdout.some((line) => /^\s*\{\s*"/.test(line))) return true;
  const first = stdout[0] ?? '';
  const count = (brace: string) => first.split(brace).length - 1;
  return /[}\]"]\s*$/.test(first) && count('}') > count('{') && first.includes('"');
};

export const factsFromRow = (row: EvidenceRow): Facts => {
  const stdout = lines(row.stdout_tail);
  const result = row.result_event ?? null;
  const textMode = result === null && !hasEvents(stdout);
  const reader = createReader(row.cli, { textMode });
  for (const line of stdout) reader.line('stdout', line, null);
  for (const line of lines(row.stderr_tail)) reader.line('stderr', line, null);
  // The tail may have lost the terminal event that the collector kept. The first one seen counts.
  if (result !== null && reader.facts().result === null) reader.line('stdout', JSON.stringify(result), null);
  const delta = row.oom_kill_delta ?? null;
  return {
    ...emptyFacts(row.cli),
    exit_code: row.exit_code ?? null,
    signal: row.signal ?? null,
    stop: row.stop_reason ? { reason: row.stop_reason, at: 0, detail: null } : null,
    memory:
      delta === null
        ? null
        : {
            held_by: 'cgroup_v2',
            limit_bytes: null,
            peak_bytes: null,
            oom_kills_before: 0,
            oom_kills_after: delta,
            oom_group_kills: null,
            host_oom_kills_before: null,
            host_oom_kills_after: null,
          },
    stream: reader.facts(),
  };
};

export const diagnoseRow = (row: EvidenceRow, options: DiagnoseOptions = {}): Verdict =>
  diagnose(factsFromRow(row), options);

/** What is printed of a verdict, one object per line. */
export const verdictLine = (id: string, v: Verdict) => ({
  id,
  cause: v.cause,
  retryable: v.retryable,
  switch_credential: v.switch_credential,
  reset_at: v.reset_at === null ? null : new Date(v.reset_at).toISOString(),
  confidence: v.confidence,
  tier: v.tier,
  mechanism: v.mechanism,
  secondary: v.secondary,
  evidence: v.evidence,
  message: v.message,
});
