/**
 * A recorded ending, made again by a real process: what stood on its streams is written by test/fixtures/agents/plays-script.mjs
 * under the name of the CLI, dressed in what streams are like, and it ends by the recorded code or signal.
 */
import type { EvidenceRow } from '../../src/outcome/from-evidence-row.ts';
import { factsFromRow } from '../../src/outcome/from-evidence-row.ts';

interface Step {
  stream?: 'stdout' | 'stderr';
  base64?: string;
  child?: true;
}
export interface Script {
  steps: Step[];
  exit: number | null;
  signal: string | null;
}

const write = (stream: 'stdout' | 'stderr', text: string): Step => ({
  stream,
  base64: Buffer.from(text, 'utf8').toString('base64'),
});

/** Why a row cannot be played; null when it can. */
export const cannotPlay = (row: EvidenceRow): string | null => {
  if (row.cli !== 'claude' && row.cli !== 'codex' && row.cli !== 'gemini') return 'no CLI';
  if (row.stop_reason) return 'Drover ended it';
  // A kernel's words count for nothing where the counters of this host say that it killed nobody.
  if (
    row.oom_kill_delta ||
    /\bKilled process \d+|[Oo]ut of memory: Kill/.test(`${row.stdout_tail}\n${row.stderr_tail}`)
  )
    return 'the kernel ended it';
  if (row.exit_code == null && row.signal == null) return 'nobody saw how it ended';
  if (row.signal == null && (row.exit_code! < 0 || row.exit_code! > 255)) return 'an ending of Windows';
  // Our own runs ask for events; text mode and one array for all are what others recorded.
  if (row.stdout_tail?.startsWith('[{')) return 'another output format';
  const echoed = row.exit_code === 0 || row.stdout_tail?.startsWith('$ ');
  return factsFromRow(row).stream.text_mode && echoed ? 'text mode' : null;
};

const toolOutput = {
  claude: (text: string) => ({
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_other', content: text }] },
  }),
  codex: (text: string) => ({ type: 'item.completed', item: { id: 'other', type: 'reasoning_summary', text } }),
  gemini: (text: string) => ({ type: 'tool_result', tool_id: 'other', status: 'error', output: text }),
};
const bogusEnd = {
  claude: { type: 'result', subtype: 'success', is_error: true, api_error_status: 401, result: 'Invalid API key' },
  codex: { type: 'turn.failed', error: { message: 'You’ve hit your usage limit.' } },
  gemini: { type: 'result', status: 'error', error: { type: 'Error', message: '[API Error: API key expired.]' } },
};
const quoted = 'HTTP 401 Unauthorized: invalid api key, usage limit reached, out of memory, exit 137\n';

/** What a stream may be like and must not matter; those that add lines are for streams of events. */
export const dresses = [
  'as it is',
  'CRLF',
  'no final newline',
  'BOM',
  'a grandchild that stays',
  'a line of 1 MB',
  'NUL bytes and binary',
  'half a line before',
  'stderr between the lines',
  'output after its end',
] as const;
type Dress = (typeof dresses)[number];
export const forPlainText = 5;

export const scriptOf = (row: EvidenceRow, dress: Dress): Script => {
  const cli = row.cli as 'claude' | 'codex' | 'gemini';
  const seen = factsFromRow({ ...row, result_event: null }).stream;
  const lines = (row.stdout_tail ?? '').split(/\r?\n/).filter((line) => line !== '');
  if (row.result_event && seen.result === null) lines.push(JSON.stringify(row.result_event));
  const ended = row.result_event != null || seen.result !== null;
  const json = (event: object): string => JSON.stringify(event);
  if (dress === 'a line of 1 MB') lines.unshift(json(toolOutput[cli](quoted.repeat(12_000))));
  if (dress === 'half a line before') lines.unshift(json(toolOutput[cli](quoted.repeat(9))).slice(0, 300));
  if (dress === 'output after its end' && ended) lines.push(json(bogusEnd[cli]), json(toolOutput[cli](quoted)));
  const newline = dress === 'CRLF' ? '\r\n' : '\n';
  const last = dress === 'no final newline' ? '' : newline;
  const out = lines.length === 0 ? '' : lines.join(newline) + last;
  const err = row.stderr_tail ? row.stderr_tail.replaceAll(/\r?\n/g, newline).replace(/\r?\n$/, '') + last : '';
  const steps: Step[] = [];
  if (dress === 'a grandchild that stays') steps.push({ child: true });
  if (dress === 'NUL bytes and binary')
    steps.push({ stream: 'stderr', base64: Buffer.from([0, 0, 255, 254, 128, 10, 0, 10]).toString('base64') });
  if (dress === 'BOM') steps.push(write('stdout', '\uFEFF'));
  if (dress === 'stderr between the lines')
    for (const line of out.split(/(?<=\n)/))
      steps.push(write('stdout', line.slice(0, 5)), write('stderr', `[mcp] ${quoted}`), write('stdout', line.slice(5)));
  else steps.push(write('stdout', out));
  return { steps: [...steps, write('stderr', err)], exit: row.exit_code ?? null, signal: row.signal ?? null };
};
