/** Lines of evidence: what may be left out, what is refused and how, tails that begin in the middle. */
import { describe, expect, it } from 'vitest';
import { diagnoseRow, factsFromRow, parseEvidenceLine, verdictLine } from './from-evidence-row.ts';

describe('lines of evidence', () => {
  it('name the line and the field when they are bad', () => {
    expect(() => parseEvidenceLine('{nope', 3)).toThrow(/^line 3: not JSON/);
    expect(() => parseEvidenceLine('[]', 4)).toThrow(/^line 4: /);
    expect(() => parseEvidenceLine('{"id":"a","cli":"cursor"}', 5)).toThrow(/^line 5: cli: /);
    expect(() => parseEvidenceLine('{"id":"a","cli":"claude","exit_code":"1"}', 6)).toThrow(/^line 6: exit_code: /);
    expect(() => parseEvidenceLine('{"cli":"claude"}', 7)).toThrow(/^line 7: id: /);
  });

  it('may leave out what was not seen, and may be nested as in the collection', () => {
    expect(diagnoseRow(parseEvidenceLine('{"id":"a","cli":"claude","signal":"SIGKILL"}', 1)).cause).toBe(
      'killed_unknown',
    );
    expect(parseEvidenceLine('{"evidence":{"id":"n","cli":"any"},"expected":{}}', 1).id).toBe('n');
  });

  it('may begin in the middle of an event', () => {
    const tail = 'ent":[{"type":"text","text":"Credit balance is too low"}]}}\n{"type":"system","subtype":"status"}';
    const row = { id: 'c', cli: 'claude', exit_code: 0, stdout_tail: tail } as const;
    expect(factsFromRow(row).stream.text_mode).toBe(false);
    expect(diagnoseRow(row)).toMatchObject({ cause: 'no_result', switch_credential: false });
    expect(factsFromRow({ ...row, stdout_tail: tail.split('\n')[0]! }).stream.text_mode).toBe(false);
  });

  it('take plain output as the answer only when no event was there', () => {
    expect(
      factsFromRow({ id: 'p', cli: 'claude', exit_code: 0, stdout_tail: 'The pod was {"OOMKilled"}' }).stream,
    ).toMatchObject({
      text_mode: true,
      response: 'The pod was {"OOMKilled"}',
    });
  });

  it('print what the contract of drover diagnose says', () => {
    const row = {
      id: 'x',
      cli: 'claude',
      exit_code: 1,
      stdout_tail: 'Claude AI usage limit reached|1749924000',
    } as const;
    expect(verdictLine('x', diagnoseRow(row))).toEqual({
      id: 'x',
      cause: 'usage_limit',
      retryable: false,
      switch_credential: true,
      reset_at: '2025-06-14T18:00:00.000Z',
      confidence: 'likely',
      tier: 'line',
      mechanism: 'exit 1',
      secondary: [],
      evidence: ['whole line: "Claude AI usage limit reached|1749924000"'],
      message: expect.stringContaining('until its reset'),
    });
  });
});
