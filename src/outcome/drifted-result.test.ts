/** Builds that leave a field out, or name it otherwise: every field of every event of every row is taken away once. */
import { describe, expect, it } from 'vitest';
import { type Case, cases, casesNow, moreCases } from '../../test/support/cases.ts';
import { verifies } from '../../test/support/verifies.ts';
import { diagnoseRow, type EvidenceRow } from './from-evidence-row.ts';

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const parsed = (line: string): Json | null => {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
};

/** `error.message`: paths of fields, three levels deep. */
const pathsOf = (event: Json, before = ''): string[] =>
  Object.keys(event).flatMap((key) => {
    const inner = event[key];
    const path = `${before}${key}`;
    return isObject(inner) && path.split('.').length < 4 ? [path, ...pathsOf(inner, `${path}.`)] : [path];
  });
const without = (event: Json, path: string): Json => {
  const copy = structuredClone(event);
  const steps = path.split('.');
  let at: unknown = copy;
  for (const step of steps.slice(0, -1)) at = isObject(at) ? at[step] : undefined;
  if (isObject(at)) delete at[steps.at(-1)!];
  return copy;
};
const variants = (row: EvidenceRow): [path: string, row: EvidenceRow][] => {
  const lines = (row.stdout_tail ?? '').split('\n').map((line) => parsed(line) ?? line);
  const events = [...lines, row.result_event].filter(isObject);
  return [...new Set(events.flatMap((event) => pathsOf(event)))].map((path) => [
    path,
    {
      ...row,
      stdout_tail: lines.map((l) => (isObject(l) ? JSON.stringify(without(l, path)) : l)).join('\n'),
      result_event: row.result_event ? without(row.result_event, path) : row.result_event,
    },
  ]);
};

/** Nothing else stands for these: what an event is, whose frame it is in, whose key was used. */
const onlyMarks = ['type', 'parent_tool_use_id', 'apiKeySource'];
/** The record holds the end alone: nothing shows whose words they are. A live stream has what the model said. */
const holdsAnswers = ({ stdout_tail }: EvidenceRow): boolean => /"type": ?"assistant"/.test(stdout_tail ?? '');
const isKnown = (row: EvidenceRow, path: string): boolean =>
  onlyMarks.includes(path) ||
  // Whether a key comes from a helper is told by the whole result.
  (row.id === 'claude: key helper' && path === 'subtype') ||
  (path === 'is_error' && !holdsAnswers(row));

const rows = [...cases, ...moreCases].filter(
  (c) => c.row.cli === 'claude' || c.row.cli === 'codex' || c.row.cli === 'gemini',
);
const changed = (
  of: (c: Pick<Case, 'row' | 'expected'>, path: string) => boolean,
  told: (row: EvidenceRow) => string,
) =>
  rows.flatMap((c) =>
    variants(c.row)
      .filter(([path]) => of(c, path))
      .flatMap(([path, row]) => {
        const wrong = told(row);
        return wrong === '' ? [] : [`${c.row.id} without ${path}: ${wrong}`];
      }),
  );

describe('a build that leaves out any one field', () => {
  it(verifies('R35', 'R36')('makes no switch where the whole event makes none'), () => {
    const tried = rows.reduce((n, c) => n + variants(c.row).length, 0);
    expect(tried).toBeGreaterThan(2_000);
    expect(
      changed(
        ({ row, expected }, path) => expected.switch_credential !== true && !isKnown(row, path),
        (row) => {
          const got = diagnoseRow(row, { now: casesNow });
          return got.switch_credential === true ? `${got.cause}, ${got.evidence[0]}` : '';
        },
      ),
    ).toEqual([]);
  });

  it(verifies('R33', 'R35')('turns no failure into a success'), () => {
    expect(
      changed(
        ({ expected }) => !['success', 'unknown', 'no_result'].includes(expected.cause),
        (row) => (diagnoseRow(row, { now: casesNow }).cause === 'success' ? 'success' : ''),
      ),
    ).toEqual([]);
  });

  it(
    verifies('R33')('turns no answer of a model into a failure, when it is one of the fields that say how it went'),
    () => {
      const ends = ['subtype', 'is_error', 'terminal_reason', 'stop_reason'];
      expect(
        changed(
          ({ row, expected }, path) =>
            expected.cause === 'success' &&
            ends.includes(path) &&
            // The record holds the end alone: nothing shows whose words they are.
            /"type": ?"assistant"/.test(row.stdout_tail ?? ''),
          (row) => {
            const got = diagnoseRow(row, { now: casesNow });
            return got.cause === 'success' ? '' : `${got.cause}, ${got.evidence[0]}`;
          },
        ),
      ).toEqual([]);
    },
  );
});
