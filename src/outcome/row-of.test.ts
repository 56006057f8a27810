/** Words that every object knows, said by a CLI where a table is asked for them. */
import { expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { causeNames } from '../contract/causes.ts';
import { diagnoseRow } from './from-evidence-row.ts';

const words = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'];
const result = (more: object) => ({ type: 'result', subtype: 'success', is_error: true, result: 'no', ...more });
const google = (reason: string) =>
  `[API Error: ${JSON.stringify({ error: { code: 418, message: 'no', status: 'NO', details: [{ reason }] } })}]`;
const turn = (message: string) => JSON.stringify({ type: 'turn.failed', error: { message } });

it.each(words)(verifies('R35', 'D37')('"%s" is a word like any other'), (word) => {
  const rows = [
    ...['terminal_reason', 'subtype', 'startup_failure_reason', 'api_error', 'api_error_type', 'error'].map((key) => ({
      cli: 'claude',
      result_event: result({ [key]: word, api_error_status: 418 }),
    })),
    {
      cli: 'claude',
      stdout_tail: `API Error: 418 ${JSON.stringify({ type: 'error', error: { type: word, message: 'no' } })}`,
    },
    { cli: 'codex', stdout_tail: turn(`unexpected status 418 No: {"error":{"code":"${word}","message":"no"}}`) },
    { cli: 'codex', stdout_tail: turn(`{"detail":{"code":"${word}"}}`) },
    { cli: 'gemini', result_event: { type: 'result', status: 'error', error: { type: word, message: 'no' } } },
    { cli: 'gemini', result_event: { type: 'result', status: 'error', error: { type: 'x', message: google(word) } } },
    { cli: 'gemini', stderr_tail: `  reason: '${word.toUpperCase()}',` },
    { cli: 'any', stderr_tail: `openai.${word}Error: no` },
  ];
  for (const row of rows) {
    const { cause, switch_credential } = diagnoseRow(
      { id: word, exit_code: 1, signal: null, ...row } as unknown as Parameters<typeof diagnoseRow>[0],
      { now: 0 },
    );
    expect(causeNames, JSON.stringify(row)).toContain(cause);
    expect(switch_credential, JSON.stringify(row)).not.toBe(true);
  }
});
