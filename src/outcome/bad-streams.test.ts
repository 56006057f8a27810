/**
 * Streams that are not as they should be: endless, cut anywhere, out of order, of a newer version, of another CLI. There is always a
 * verdict, what is kept is small, and nothing bad makes a switch that the whole stream would not have made.
 */
import { describe, expect, it } from 'vitest';
import { type Case, cases, casesNow, moreCases } from '../../test/support/cases.ts';
import { verifies } from '../../test/support/verifies.ts';
import { causeNames } from '../contract/causes.ts';
import { type CliKind, emptyFacts } from '../contract/facts.ts';
import { createReader } from '../evidence/create.ts';
import { splitLines } from '../kernel/lines.ts';
import { diagnose } from './diagnose.ts';
import { diagnoseRow, type EvidenceRow } from './from-evidence-row.ts';

const rows = [...cases, ...moreCases].filter(
  (c) => c.row.cli === 'claude' || c.row.cli === 'codex' || c.row.cli === 'gemini',
);
const linesOf = (row: EvidenceRow): string[] => (row.stdout_tail ?? '').split(/\r?\n/).filter((line) => line !== '');
const judged = (row: EvidenceRow) => diagnoseRow(row, { now: casesNow });

/** Here a part of the stream is another truth: what came first, or last, was what decided. */
const turned = [
  'claude: key helper',
  'claude: rejected window, then allowed, then killed',
  'claude: success, then a failed result',
  'codex: success, then failed',
  'gemini: success, then error result',
];

/** Rows where a changed one switches though the record says that nothing may. */
const falseSwitches = (change: (c: Case['row']) => EvidenceRow[]): string[] => {
  const wrong: string[] = [];
  for (const { row, expected } of rows.filter((c) => !turned.includes(c.row.id)))
    for (const changed of change(row)) {
      const got = judged(changed);
      expect(causeNames).toContain(got.cause);
      if (got.switch_credential === true && expected.switch_credential !== true)
        wrong.push(`${row.id}: ${got.cause}, ${got.evidence[0]}`);
    }
  return wrong;
};

describe('a stream', () => {
  it(verifies('D37', 'R36')('that is cut at any place makes no switch that the whole did not make'), () => {
    const cutRows = (row: EvidenceRow) => {
      const text = row.stdout_tail ?? '';
      const step = Math.max(1, Math.floor(text.length / 12));
      return Array.from({ length: Math.ceil(text.length / step) }, (_, i) => ({
        ...row,
        stdout_tail: text.slice(0, i * step),
      }));
    };
    expect(falseSwitches(cutRows)).toEqual([]);
  });

  it(verifies('D37', 'R36')('whose events come out of order, or twice, makes none either'), () => {
    const shuffled = (row: EvidenceRow) => {
      const lines = linesOf(row);
      return [lines.toReversed(), [...lines.slice(1), ...lines.slice(0, 1)], [...lines, ...lines]].map((l) => ({
        ...row,
        stdout_tail: l.join('\n'),
      }));
    };
    expect(falseSwitches(shuffled)).toEqual([]);
  });

  it(verifies('R35', 'R36')('of a newer version, with new fields, types and subtypes, is read as before'), () => {
    const strange = [
      '{"type":"quota_forecast","error":"authentication_failed","status":401}',
      '{"type":"system","subtype":"brand_new","error_status":401}',
      '{"kind":"nothing with a type"}',
    ];
    const wrong: string[] = [];
    for (const { row, expected } of rows) {
      const lines = linesOf(row);
      if (!lines.some((line) => line.startsWith('{"'))) continue;
      const newer = lines.map((line) =>
        line.startsWith('{"') ? line.replace('{', '{"new_field":{"a":[401]},') : line,
      );
      const got = judged({ ...row, stdout_tail: [strange[0], ...newer, ...strange].join('\n') });
      if (got.cause !== expected.cause || got.switch_credential !== expected.switch_credential)
        wrong.push(`${row.id}: ${got.cause} ${got.switch_credential}`);
    }
    expect(wrong).toEqual([]);
  });

  it(verifies('R36', 'D37')('of another CLI, or of no CLI at all, blames nobody’s login'), () => {
    const other: Record<string, EvidenceRow['cli'][]> = {
      claude: ['codex', 'gemini'],
      codex: ['claude', 'gemini'],
      gemini: ['claude', 'codex'],
    };
    const wrong = rows.flatMap(({ row }) =>
      row.result_event == null
        ? []
        : other[row.cli]!.map((cli) => ({ ...row, cli }))
            .filter((r) => judged(r).switch_credential === true)
            .map((r) => `${r.id} as ${r.cli}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('100 MB', () => {
  const noise: Record<'claude' | 'codex' | 'gemini', (text: string) => object> = {
    claude: (text) => ({
      type: 'user',
      message: { content: [{ type: 'tool_result', tool_use_id: 't', content: text }] },
    }),
    codex: (text) => ({
      type: 'item.completed',
      item: { id: 'i', type: 'command_execution', aggregated_output: text },
    }),
    gemini: (text) => ({ type: 'tool_result', tool_id: 't', status: 'success', output: text }),
  };
  const limit = {
    claude: [
      {
        type: 'rate_limit_event',
        rate_limit_info: { status: 'rejected', rateLimitType: 'five_hour', resetsAt: 1_796_070_472 },
      },
      {
        type: 'assistant',
        error: 'rate_limit',
        is_api_error_message: true,
        message: {
          model: '<synthetic>',
          content: [{ type: 'text', text: 'You’ve hit your 5-hour limit · resets 8pm (UTC)' }],
        },
      },
    ],
    codex: [{ type: 'turn.failed', error: { message: 'You’ve hit your usage limit. Try again at 7:32 PM.' } }],
    gemini: [
      {
        type: 'result',
        status: 'error',
        error: { type: 'Error', message: '[API Error: You have exhausted your daily quota on this model.]' },
      },
    ],
  };
  const big = 'x'.repeat(1_000_000);

  it.each(['claude', 'codex', 'gemini'] as const)(
    verifies('D37', 'R35')('%s: a limit in the midst of it is found, and what is kept is small'),
    (cli: CliKind & keyof typeof noise) => {
      const reader = createReader(cli);
      const splitter = splitLines();
      const push = (text: string) => {
        for (const { text: line } of splitter.push(Buffer.from(text))) reader.line('stdout', line, null);
      };
      const event = `${JSON.stringify(noise[cli](big))}\n`;
      for (let mb = 0; mb < 50; mb++) push(event);
      for (const said of limit[cli]) push(`${JSON.stringify(said)}\n`);
      // One line that never ends, and binary.
      for (let mb = 0; mb < 50; mb++) push(big);
      push('\n\0\u0001\ufffd\n');
      const stream = reader.facts();
      expect(stream.bytes).toBeGreaterThan(50_000_000);
      expect(JSON.stringify(stream).length).toBeLessThan(200_000);
      const verdict = diagnose({ ...emptyFacts(cli), exit_code: 1, stream, ended_at: casesNow });
      expect(verdict).toMatchObject({ cause: 'usage_limit', switch_credential: true, tier: 'structured' });
    },
  );
});
