/**
 * Reader of Gemini CLI's `-o stream-json` and `-o json` (shapes seen with 0.61). `error` events are not fatal; `result` is
 * terminal. With `-o json` one pretty-printed object is the whole output, on stderr when the run failed: a block that starts
 * with a bare `{` and ends with a bare `}` is read as one event, up to 64 KiB.
 */
import { emptyStream, type StreamFacts } from '../contract/facts.ts';
import { newAnswerText } from './answer-text.ts';
import { awaitsOf, firstEvent } from './awaits.ts';
import { asCount, asName, asRecord, asText, clipRecord } from './clip.ts';
import { newOpenTools } from './open-tools.ts';
import { parseLine } from './parse-line.ts';
import type { EvidenceReader } from './reader.ts';
import { newTape } from './tape.ts';

type Json = Record<string, unknown>;

/** An error report is some KB; a `response` larger than this comes by stream-json in our own runs. */
const blockChars = 64 * 1024;

/** Tools that a mode of approval takes away; the CLI then says that it knows no such tool. */
const takenAway = new Set(['run_shell_command', 'write_file', 'replace', 'web_fetch', 'save_memory']);
const deniedMost = 100;
const openMost = 1000;

/**
 * The longest the CLI is let wait for a limit. By its own rule it gives up above 300 s, but seen with 0.61: a quota message with
 * the word "capacity" makes it wait for the reset, 20 hours later, without a word on stdout.
 */
const waitMostMs = 600_000;
const waitsFor = (line: string): number => Number(/\. Retrying after (\d+)ms\.\.\.$/.exec(line)?.[1] ?? 0);

export const geminiReader = (textMode = false): EvidenceReader => {
  const tape = newTape();
  const tools = newOpenTools();
  let began = false;
  const answer = newAnswerText();
  const facts: StreamFacts = { ...emptyStream('gemini'), text_mode: textMode };
  const blocks = { stdout: null as string[] | null, stderr: null as string[] | null };
  const text = { said: '', previousWasModel: false };
  const names = new Map<string | null, string>();

  const denied = (id: string | null, why: string | null) => {
    const name = names.get(id);
    if (name === undefined) return;
    names.delete(id);
    const no = why === 'policy_violation' || (why === 'tool_not_registered' && takenAway.has(name));
    if (no && facts.denied_tools.length < deniedMost) facts.denied_tools.push(name);
  };

  const finish = (event: Json) => {
    facts.results_seen++;
    facts.result ??= clipRecord(event);
    const stats = asRecord(event.stats);
    if (stats && typeof stats.input_tokens === 'number')
      facts.usage = {
        // As sent, the cached ones are counted among the input.
        input_tokens: Math.max(0, asCount(stats.input_tokens) - asCount(stats.cached)),
        output_tokens: asCount(stats.output_tokens),
        cache_read_tokens: asCount(stats.cached),
        cache_write_tokens: 0,
      };
  };

  const handle = (event: Json, at: number | null): boolean => {
    const wasModel = text.previousWasModel;
    text.previousWasModel = event.type === 'message' && event.role === 'assistant';
    switch (event.type) {
      case 'init':
        facts.model = asName(event.model);
        facts.session_id = asName(event.session_id);
        return false;
      case 'message':
        if (event.role !== 'assistant') return false;
        if (!wasModel) {
          facts.turns++;
          text.said = '';
        }
        if (facts.result === null) tape.modelSpoke();
        if (text.said.length < 1024 * 1024) text.said += asText(event.content) ?? '';
        return false;
      case 'tool_use':
        if (facts.result === null) tape.modelSpoke();
        tools.start(asName(event.tool_id), asName(event.tool_name) || 'tool', event.parameters, at);
        if (names.size < openMost) names.set(asName(event.tool_id), asName(event.tool_name) || 'tool');
        return false;
      case 'tool_result':
        denied(asName(event.tool_id), asName(asRecord(event.error)?.type));
        tools.end(asName(event.tool_id));
        return false;
      case 'error':
        tape.signal('gemini_error', clipRecord(event), at, 3);
        return false;
      case 'result':
        finish(event);
        return true;
      default:
        facts.unknown_events++;
        return false;
    }
  };

  /** Follows a block over several lines; true when the line belongs to one. */
  const inBlock = (stream: 'stdout' | 'stderr', line: string): boolean => {
    const open = blocks[stream];
    if (open === null) {
      if (line.trimEnd() !== '{') return false;
      blocks[stream] = [line];
      return true;
    }
    open.push(line);
    if (line.trimEnd() === '}' || open.reduce((n, l) => n + l.length, 0) > blockChars || open.length > 2000) {
      blocks[stream] = null;
      const parsed = parseLine(open.join('\n'));
      const body = parsed.kind === 'event' ? parsed.event : null;
      if (body && (asRecord(body.error) || typeof body.response === 'string')) {
        const failed = asRecord(body.error) !== null;
        finish({ type: 'result', status: failed ? 'error' : 'success', error: body.error, stats: body.stats });
        if (!failed) facts.response = asText(body.response);
      } else for (const l of open) tape.line(stream, l);
    }
    return true;
  };

  return {
    line(stream, raw, at) {
      facts.bytes += raw.length + 1;
      const before = facts.results_seen;
      if (inBlock(stream, raw)) return { event: null, terminal: facts.results_seen > before, hopeless: false };
      const parsed = stream === 'stdout' ? parseLine(raw) : null;
      if (parsed === null || parsed.kind === 'text') {
        if (stream === 'stdout' && textMode) answer.add(raw);
        tape.line(stream, raw);
        const wait = stream === 'stderr' ? waitsFor(raw) : 0;
        if (wait <= waitMostMs) return { event: null, terminal: false, hopeless: false };
        const minutes = Math.round(wait / 60_000);
        return {
          event: null,
          terminal: false,
          hopeless: true,
          hopelessWhy: `the CLI waits ${minutes} minutes for a limit`,
        };
      }
      if (parsed.kind === 'cut') {
        const ends = parsed.event.type === 'result' && typeof parsed.event.status === 'string';
        if (ends) finish(parsed.event);
        else facts.unknown_events++;
        return { event: null, terminal: ends, hopeless: false };
      }
      began = true;
      return { event: parsed.event, terminal: handle(parsed.event, at), hopeless: false };
    },
    facts() {
      const rest = [...(blocks.stdout ?? []).map(stdoutLine), ...(blocks.stderr ?? []).map(stderrLine)];
      const said = text.said === '' ? null : text.said.toWellFormed();
      return {
        ...facts,
        response: facts.response ?? said ?? (textMode ? answer.text() : null),
        signals: tape.signals(),
        lines: [...tape.lines(), ...rest.slice(0, 60)],
        tool_calls: tools.started,
        open_tool: facts.result === null ? tools.newest() : null,
        model_spoke: tape.spoke,
      };
    },
    spoke: () => tape.spoke,
    awaits: () => (facts.result !== null ? null : began ? awaitsOf(tools.all()) : firstEvent),
  };
};

const stdoutLine = (text: string) => ({
  stream: 'stdout' as const,
  text: text.slice(0, 600),
  model_output_after: false,
});
const stderrLine = (text: string) => ({
  stream: 'stderr' as const,
  text: text.slice(0, 600),
  model_output_after: false,
});
