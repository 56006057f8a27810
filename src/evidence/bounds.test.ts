/**
 * What a program may print and no reader may trip over: values of any size, number, width and depth, in every event and every field.
 * Facts stay small, the contract takes them, and the end of the stream is still read.
 */
import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { emptyFacts, Facts } from '../contract/facts.ts';
import { createReader } from './create.ts';

const long = 'x'.repeat(600_000);
const wide = Array.from({ length: 60 }, () => Array.from({ length: 60 }, () => 'y'.repeat(300)));
const fieldsOf = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`f${i}`, 0]));
const deep = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
const huge = 1e300;

/** Every field that a reader looks at holds `value`, wherever the type lets it. */
const claude = (value: unknown, i: number): object[] => [
  { type: 'system', subtype: 'init', session_id: value, model: value, apiKeySource: value, permissionMode: value },
  { type: 'system', subtype: 'init', claude_code_version: value, mcp_servers: value },
  { type: 'system', subtype: 'init', mcp_servers: [{ name: value, status: value }] },
  { type: 'system', subtype: 'api_retry', error_status: 401, error: value },
  { type: 'system', subtype: 'permission_denied', tool_name: value },
  { type: 'assistant', error: 'x', api_error_params: value, message: { model: '<synthetic>', content: value } },
  { type: 'assistant', parent_tool_use_id: 'p', error: 'x', api_error: value, message: { model: '<synthetic>' } },
  { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', unifiedWindows: value, resetsAt: value } },
  { type: 'rate_limit_event', rate_limit_info: { status: 'allowed', unifiedWindows: value } },
  {
    type: 'assistant',
    message: { id: `${i}${value}`, usage: { input_tokens: value, output_tokens: value }, content: [] },
  },
  {
    type: 'assistant',
    message: { id: 'm', content: [{ type: 'tool_use', id: `${i}${value}`, name: value, input: value }] },
  },
  { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: value, content: value }] } },
];
const codex = (value: unknown, i: number): object[] => [
  { type: 'thread.started', thread_id: value },
  { type: 'item.started', item: { id: `${i}${value}`, type: 'command_execution', command: value } },
  {
    type: 'item.completed',
    item: { id: value, type: 'mcp_tool_call', server: value, tool: value, error: { message: value } },
  },
  { type: 'error', message: value, more: value },
  { type: 'error', message: 'Reconnecting... 1/5', more: value },
];
const gemini = (value: unknown, i: number): object[] => [
  { type: 'init', session_id: value, model: value },
  { type: 'tool_use', tool_id: `${i}${value}`, tool_name: value, parameters: value },
  { type: 'tool_result', tool_id: `${i}${value}`, error: { type: 'policy_violation' } },
  { type: 'error', severity: value, message: value },
];
const ends: Record<string, (value: unknown) => object> = {
  claude: (value) => ({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'done',
    num_turns: value,
    total_cost_usd: value,
    usage: { input_tokens: value, output_tokens: value, cache_read_input_tokens: value },
    modelUsage: value,
    permission_denials: value,
    session_id: value,
    errors: value,
  }),
  codex: (value) => ({ type: 'turn.completed', usage: { input_tokens: value, output_tokens: value }, more: value }),
  gemini: (value) => ({
    type: 'result',
    status: 'success',
    stats: { input_tokens: value, output_tokens: value },
    more: value,
  }),
};
const values: [string, unknown][] = [
  ['600 kB of text', long],
  ['a list of lists', wide],
  ['5,000 fields', fieldsOf(5_000)],
  ['2,000 levels', deep(2_000)],
  ['a number with 300 digits', huge],
  ['a number below zero', -7],
  ['a number with a fraction', 1.5],
  ['null', null],
  ['half a surrogate', '\ud800'],
];

describe('in whatever field it stands', () => {
  for (const [cli, events] of Object.entries({ claude, codex, gemini }))
    it.each(values)(
      verifies('D37', 'R35')(`${cli}: %s leaves facts that are small, valid, and know the end`),
      (_, value) => {
        const reader = createReader(cli as 'claude');
        for (let i = 0; i < 3; i++)
          for (const event of events(value, i)) reader.line('stdout', JSON.stringify(event), 1);
        const { terminal } = reader.line('stdout', JSON.stringify(ends[cli]!(value)), 1);
        const stream = reader.facts();
        expect([terminal, stream.results_seen, stream.result === null]).toEqual([true, 1, false]);
        const facts = JSON.stringify({ ...emptyFacts(cli as 'claude'), stream });
        expect(facts.length).toBeLessThan(1_000_000);
        expect(Facts.safeParse(JSON.parse(facts)).error).toBeUndefined();
      },
    );

  it(verifies('D37')('raw JSON 100,000 levels deep is an event like any other, or text'), () => {
    for (const cli of ['claude', 'codex', 'gemini', 'any', 'command'] as const) {
      const reader = createReader(cli);
      for (const type of ['assistant', 'result', 'item.started', 'tool_use', 'error', 'turn.failed'])
        reader.line('stdout', `{"type":"${type}","message":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`, 1);
      expect(JSON.stringify({ ...reader.facts(), response: null }).length).toBeLessThan(100_000);
    }
  });

  it(verifies('D37')('as many models as a line can hold are no more than a call can take'), () => {
    const reader = createReader('claude');
    const event = { type: 'result', subtype: 'success', is_error: false, modelUsage: fieldsOf(200_000) };
    reader.line('stdout', JSON.stringify(event), 1);
    expect(reader.facts()).toMatchObject({ results_seen: 1, context_max: null });
  });

  it.each([-5, 1e300, '1', null, Number.NaN])(verifies('R41', 'R7')('a cost of %s was not measured'), (cost) => {
    const reader = createReader('claude');
    const event = { type: 'result', subtype: 'success', is_error: false, total_cost_usd: cost };
    reader.line('stdout', JSON.stringify(event), 1);
    expect(reader.facts().cost_usd).toBeNull();
  });

  it(verifies('R41')('counts are added up to a bound that facts can hold'), () => {
    const reader = createReader('claude');
    for (let i = 0; i < 50; i++)
      reader.line(
        'stdout',
        JSON.stringify({ type: 'assistant', message: { id: `m${i}`, usage: { input_tokens: 9e14 }, content: [] } }),
        1,
      );
    expect(reader.facts().usage?.input_tokens).toBe(1e15);
  });
});
