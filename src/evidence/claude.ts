/**
 * Reader of Claude Code's `--output-format stream-json --verbose` (types: sdk.d.ts of the agent SDK 0.3.332; shapes seen
 * with 2.1.197 and 2.1.332). It keeps structured evidence of the main thread; what subagents met is kept apart, because a
 * subagent's failure can hide under a completed parent but never explains its end. Unknown types are counted and skipped.
 * Key order varies between builds: lines are parsed, never matched. It decides nothing.
 */
import { emptyStream, type StreamFacts, type Usage } from '../contract/facts.ts';
import { newAnswerText } from './answer-text.ts';
import { awaitsOf, firstEvent, toolKind } from './awaits.ts';
import { addCounts, asCount, asMoney, asName, asRecord, asText, clipRecord, clipText } from './clip.ts';
import { newOpenTools, type OpenTools } from './open-tools.ts';
import { parseLine } from './parse-line.ts';
import type { EvidenceReader } from './reader.ts';
import { newTape } from './tape.ts';

type Json = Record<string, unknown>;

/**
 * A login rejected this often in a row will not be accepted. The CLI ends by itself after two retries of an OAuth login and
 * then says its own terminal event, which proves more: so not earlier. With an API key it goes on for ten (minutes; seen).
 */
const hopelessAfter = 3;

const knownTypes = new Set([
  'system',
  'assistant',
  'user',
  'result',
  'rate_limit_event',
  'stream_event',
  'tool_progress',
]);

/** The fields of an API error rendered as a message, as the CLI sent them. */
const errorFields = [
  'error',
  'is_api_error_message',
  'api_error_status',
  'api_error_type',
  'api_error',
  'api_error_code',
  'api_error_params',
  'request_id',
] as const;

export const claudeReader = (cli: 'claude' | 'http' = 'claude', textMode = false): EvidenceReader => {
  const tape = newTape();
  const tools = newOpenTools();
  /** Calls of sub-agents: they are no evidence, but silence in them has another limit than a sub-agent's. */
  const within = newOpenTools();
  let began = false;
  const answer = newAnswerText();
  const facts: StreamFacts = { ...emptyStream(cli), text_mode: textMode };
  let turnId: string | null = null;
  let inTurn = false;
  let turns = 0;
  let reportedTurns: number | null = null;
  let current: Usage | null = null;
  let summed: Usage | null = null;
  let retryStatus: unknown = null;
  let retriesInARow = 0;
  let hopeless = false;

  const system = (event: Json, at: number | null) => {
    if (event.subtype === 'init') {
      facts.session_id = asName(event.session_id) ?? facts.session_id;
      facts.model = asName(event.model) ?? facts.model;
      facts.api_key_source = asName(event.apiKeySource) ?? facts.api_key_source;
      facts.permission_mode = asName(event.permissionMode) ?? facts.permission_mode;
      facts.cli_version = asName(event.claude_code_version) ?? facts.cli_version;
      facts.mcp_servers = mcpServers(event.mcp_servers);
    } else if (event.subtype === 'permission_denied') deny(facts, event.tool_name);
    else if (event.subtype === 'api_retry' && facts.result === null) {
      retriesInARow = event.error_status === retryStatus ? retriesInARow + 1 : 1;
      retryStatus = event.error_status;
      tape.signal('api_retry', { ...clipRecord(event), in_a_row: retriesInARow }, at, 1);
      hopeless = retryStatus === 401 && retriesInARow >= hopelessAfter;
    }
  };

  const assistant = (event: Json, at: number | null) => {
    const main = event.parent_tool_use_id === undefined || event.parent_tool_use_id === null;
    const message = asRecord(event.message);
    const synthetic = message?.model === '<synthetic>';
    if (typeof event.error === 'string' || event.is_api_error_message === true || synthetic) {
      if (facts.result !== null) return;
      const data: Json = { synthetic, text: textOf(message), stop_reason: message?.stop_reason ?? null };
      for (const key of errorFields) if (event[key] !== undefined) data[key] = event[key];
      tape.signal(main ? 'assistant_error' : 'subagent_error', clipRecord(data), at, 3);
      return;
    }
    if (message === null) {
      // No error, and not a shape that is known: the model went on all the same.
      if (main && facts.result === null) tape.modelSpoke();
      return;
    }
    if (!main) return startTools(within, message, at);
    const id = asName(message.id);
    if (!inTurn || id !== turnId) {
      // A new message of the model means that its earlier tool calls have all been answered.
      if (id !== null && turnId !== null && id !== turnId) tools.endAll();
      turns++;
      summed = addUsage(summed, current);
      current = null;
      inTurn = true;
      turnId = id;
    }
    current = usageOf(message.usage) ?? current;
    // What is said after the end, by work in the background, does not undo the error that ended the prompt.
    if (facts.result === null) tape.modelSpoke();
    retriesInARow = 0;
    hopeless = false;
    startTools(tools, message, at);
  };

  const user = (event: Json) => {
    const main = event.parent_tool_use_id === undefined || event.parent_tool_use_id === null;
    if (main) inTurn = false;
    const content = asRecord(event.message)?.content;
    for (const block of Array.isArray(content) ? content : []) {
      const part = asRecord(block);
      if (part?.type === 'tool_result') (main ? tools : within).end(asName(part.tool_use_id));
    }
    // A sub-agent that was ended from outside leaves calls without an answer.
    if (main && !tools.all().some((t) => toolKind(t.name) === 'subagent')) within.endAll();
  };

  const rateLimit = (event: Json, at: number | null) => {
    const info = asRecord(event.rate_limit_info);
    if (info === null) return;
    const main = event.parent_tool_use_id === undefined || event.parent_tool_use_id === null;
    const kind = info.status === 'rejected' ? 'rate_limit_rejected' : 'rate_limit_event';
    tape.signal(main ? kind : `subagent_${kind}`, clipRecord(event), at, 1);
  };

  const result = (event: Json) => {
    facts.results_seen++;
    // The first result belongs to the prompt; later ones to work in the background, and have been bogus (hive-mind#1109).
    if (facts.result !== null) return;
    const kept = clipRecord(event);
    const denials = Array.isArray(event.permission_denials) ? event.permission_denials : [];
    kept.permission_denials = denials
      .slice(0, 100)
      .map((d) => ({ tool_name: asName(asRecord(d)?.tool_name) ?? 'tool' }));
    for (const denial of denials) deny(facts, asRecord(denial)?.tool_name);
    facts.result = kept;
    facts.session_id ??= asName(event.session_id);
    if (event.is_error !== true && typeof event.result === 'string') facts.response = event.result.toWellFormed();
    if (typeof event.num_turns === 'number') reportedTurns = asCount(event.num_turns);
    facts.cost_usd = asMoney(event.total_cost_usd);
    facts.usage = usageOf(event.usage);
    facts.context_max = contextWindow(event.modelUsage, facts.model);
  };

  return {
    line(stream, text, at) {
      facts.bytes += text.length + 1;
      const parsed = stream === 'stdout' ? parseLine(text) : null;
      if (parsed === null || parsed.kind === 'text') {
        if (stream === 'stdout' && textMode) answer.add(text);
        tape.line(stream, text);
        return { event: null, terminal: false, hopeless };
      }
      const { event } = parsed;
      const whole = parsed.kind === 'event';
      // Of a cut event only the result is used, and only when it still says whether it is an error: a failure of the API has
      // the subtype `success` too. What is missing from other events could turn their meaning round.
      if (!whole && (event.type !== 'result' || typeof event.is_error !== 'boolean')) {
        facts.unknown_events++;
        return { event: null, terminal: false, hopeless };
      }
      if (event.type === 'system') system(event, at);
      else if (event.type === 'assistant') assistant(event, at);
      else if (event.type === 'user') user(event);
      else if (event.type === 'rate_limit_event') rateLimit(event, at);
      else if (event.type === 'result') result(event);
      if (typeof event.type !== 'string' || !knownTypes.has(event.type)) facts.unknown_events++;
      began = true;
      const seen = { event: whole ? event : null, terminal: event.type === 'result', hopeless };
      // A sub-agent that tells of a retry moves; any other progress says how long a tool has taken, not that it does anything.
      return event.type === 'tool_progress' && event.subagent_retry === undefined ? { ...seen, heartbeat: true } : seen;
    },
    facts() {
      const lastUsage = current;
      return {
        ...facts,
        response: facts.response ?? (textMode ? answer.text() : null),
        signals: tape.signals(),
        lines: tape.lines(),
        tool_calls: tools.started,
        turns: reportedTurns ?? turns,
        open_tool: facts.result === null ? tools.newest() : null,
        model_spoke: tape.spoke,
        usage: facts.usage ?? addUsage(summed, current),
        context_used: lastUsage
          ? lastUsage.input_tokens +
            lastUsage.cache_read_tokens +
            lastUsage.cache_write_tokens +
            lastUsage.output_tokens
          : null,
      };
    },
    spoke: () => tape.spoke,
    awaits: () => (facts.result !== null ? null : began ? awaitsOf(tools.all(), within.all()) : firstEvent),
  };
};

const startTools = (into: OpenTools, message: Json, at: number | null): void => {
  for (const block of Array.isArray(message.content) ? message.content : []) {
    const part = asRecord(block);
    if (part?.type === 'tool_use') into.start(asName(part.id), asName(part.name) || 'tool', part.input, at);
  }
};

const deny = (facts: StreamFacts, tool: unknown) => {
  const name = clipText(asText(tool) ?? 'tool', 200);
  if (!facts.denied_tools.includes(name) && facts.denied_tools.length < 50) facts.denied_tools.push(name);
};

const mcpServers = (value: unknown): { name: string; status: string }[] =>
  (Array.isArray(value) ? value : []).slice(0, 50).flatMap((item) => {
    const server = asRecord(item);
    const name = asText(server?.name);
    return name === null ? [] : [{ name: clipText(name, 200), status: clipText(asText(server?.status) ?? '', 100) }];
  });

const textOf = (message: Json | null): string => {
  const content = message?.content;
  if (typeof content === 'string') return clipText(content, 2000);
  const parts = (Array.isArray(content) ? content : []).map((block) => asText(asRecord(block)?.text) ?? '');
  return clipText(parts.join('\n'), 2000);
};

const usageOf = (value: unknown): Usage | null => {
  const usage = asRecord(value);
  if (usage === null) return null;
  return {
    input_tokens: asCount(usage.input_tokens),
    output_tokens: asCount(usage.output_tokens),
    cache_read_tokens: asCount(usage.cache_read_input_tokens),
    cache_write_tokens: asCount(usage.cache_creation_input_tokens),
  };
};

const addUsage = (a: Usage | null, b: Usage | null): Usage | null => {
  if (a === null || b === null) return a ?? b;
  return {
    input_tokens: addCounts(a.input_tokens, b.input_tokens),
    output_tokens: addCounts(a.output_tokens, b.output_tokens),
    cache_read_tokens: addCounts(a.cache_read_tokens, b.cache_read_tokens),
    cache_write_tokens: addCounts(a.cache_write_tokens, b.cache_write_tokens),
  };
};

/** Of the model of the run; helpers such as title makers run on smaller ones. */
const contextWindow = (modelUsage: unknown, model: string | null): number | null => {
  const models = asRecord(modelUsage);
  if (models === null) return null;
  const own = model === null ? null : asRecord(models[model]);
  let largest = 0;
  // Not spread into Math.max: 130,000 arguments are too many for a call.
  for (const name of own ? ['own'] : Object.keys(models))
    largest = Math.max(largest, asCount((own ?? asRecord(models[name]))?.contextWindow));
  return largest > 0 ? largest : null;
};
