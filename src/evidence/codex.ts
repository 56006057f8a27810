/**
 * Reader of `codex exec --json` (shapes seen with 0.171). Only `turn.failed` is terminal as an error: the top-level `error`
 * is also used for "Reconnecting... n/m", and items of type `error` are harmless warnings of successful runs. There are no
 * codes in this stream, only sentences; they are kept as sent and read in `outcome/codex-table.ts`.
 */
import { emptyStream, type StreamFacts } from '../contract/facts.ts';
import { newAnswerText } from './answer-text.ts';
import { awaitsOf, firstEvent } from './awaits.ts';
import { asCount, asName, asRecord, asText, clipRecord, clipText } from './clip.ts';
import { newOpenTools } from './open-tools.ts';
import { parseLine } from './parse-line.ts';
import type { EvidenceReader } from './reader.ts';
import { newTape } from './tape.ts';

type Json = Record<string, unknown>;

const toolItems = new Set(['command_execution', 'file_change', 'mcp_tool_call', 'web_search', 'collab_tool_call']);

/** A refused tool is no item: only the CLI's own log on stderr tells of it (0.171, approval policy `never`). */
const refused = / ERROR codex_core::tools::router: error=(patch rejected: |approval policy is Never; reject command)/;
/** What the CLI itself puts in the place of an answer (0.171); an error of the server has other words. */
const notApproved = 'MCP tool call requires approval, but approval policy is never';
const deniedMost = 100;
/** Repeated for ever while there is no network: no sign of progress. */
const waitsForNetwork = 'Reconnecting... waiting for network';

export const codexReader = (textMode = false): EvidenceReader => {
  const tape = newTape();
  const tools = newOpenTools();
  let began = false;
  const answer = newAnswerText();
  const facts: StreamFacts = { ...emptyStream('codex'), text_mode: textMode };

  const denied = (name: string) => {
    if (facts.denied_tools.length < deniedMost) facts.denied_tools.push(clipText(name, 200));
  };

  const item = (event: Json, at: number | null) => {
    const body = asRecord(event.item);
    const kind = asText(body?.type ?? body?.item_type);
    if (body === null || kind === null) return;
    const id = asName(body.id);
    const model = kind === 'agent_message' || kind === 'reasoning' || toolItems.has(kind);
    if (model && facts.result === null) tape.modelSpoke();
    if (kind === 'agent_message' && event.type === 'item.completed') facts.response = asText(body.text);
    if (!toolItems.has(kind)) return;
    if (event.type === 'item.started') tools.start(id, kind, body.command ?? body.tool, at);
    if (event.type === 'item.completed') {
      tools.start(id, kind, body.command ?? body.tool, at);
      tools.end(id);
      if (kind === 'mcp_tool_call' && asText(asRecord(body.error)?.message) === notApproved)
        denied(`mcp__${asName(body.server)}__${asName(body.tool)}`);
    }
  };

  const handle = (event: Json, at: number | null): boolean => {
    switch (event.type) {
      case 'thread.started':
        facts.session_id = asName(event.thread_id);
        return false;
      case 'turn.started':
        facts.turns++;
        return false;
      case 'item.started':
      case 'item.updated':
      case 'item.completed':
        item(event, at);
        return false;
      case 'error': {
        const reconnecting = (asText(event.message) ?? '').startsWith('Reconnecting...');
        if (facts.result === null)
          tape.signal(reconnecting ? 'codex_reconnecting' : 'codex_error', clipRecord(event), at, 1);
        return false;
      }
      case 'turn.completed':
      case 'turn.failed': {
        facts.results_seen++;
        facts.result ??= clipRecord(event);
        const usage = asRecord(event.usage);
        if (usage)
          facts.usage = {
            // As sent, the cached ones are counted among the input.
            input_tokens: Math.max(
              0,
              asCount(usage.input_tokens) -
                asCount(usage.cached_input_tokens) -
                asCount(usage.cache_write_input_tokens),
            ),
            output_tokens: asCount(usage.output_tokens),
            cache_read_tokens: asCount(usage.cached_input_tokens),
            cache_write_tokens: asCount(usage.cache_write_input_tokens),
          };
        return true;
      }
      default:
        facts.unknown_events++;
        return false;
    }
  };

  return {
    line(stream, text, at) {
      facts.bytes += text.length + 1;
      const parsed = stream === 'stdout' ? parseLine(text) : null;
      if (parsed === null || parsed.kind === 'text') {
        if (stream === 'stdout' && textMode) answer.add(text);
        const no = stream === 'stderr' ? refused.exec(text) : null;
        if (no) denied(no[1]!.startsWith('patch') ? 'file_change' : 'command_execution');
        tape.line(stream, text);
        return { event: null, terminal: false, hopeless: false };
      }
      if (parsed.kind === 'cut') {
        // A cut turn event still ends the turn; its sentence is lost, so it says only that.
        const ends = parsed.event.type === 'turn.completed' || parsed.event.type === 'turn.failed';
        if (ends) handle(parsed.event, at);
        else facts.unknown_events++;
        return { event: null, terminal: ends, hopeless: false };
      }
      began = true;
      const { event } = parsed;
      const idle = event.type === 'error' && (asText(event.message) ?? '').startsWith(waitsForNetwork);
      return { event, terminal: handle(event, at), hopeless: false, ...(idle ? { heartbeat: true } : {}) };
    },
    facts: () => ({
      ...facts,
      response: facts.response ?? (textMode ? answer.text() : null),
      signals: tape.signals(),
      lines: tape.lines(),
      tool_calls: tools.started,
      open_tool: facts.result === null ? tools.newest() : null,
      model_spoke: tape.spoke,
    }),
    spoke: () => tape.spoke,
    awaits: () => (facts.result !== null ? null : began ? awaitsOf(tools.all()) : firstEvent),
  };
};
