/**
 * What Codex writes down of a thread and does not say in its stream (rollout files, 0.171): the provider that a thread is bound to,
 * its model and context, and what it had used up at each moment. The stream tells only the total of the whole thread, over all
 * resumes; what this run used is the difference, also of a run that was killed. A file that reads otherwise is a file not found.
 */
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Usage } from '../../contract/facts.ts';
import { asCount, asName } from '../../evidence/clip.ts';
import { splitLines } from '../../kernel/lines.ts';

type Json = Record<string, unknown>;

/** sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl */
export const findThread = async (codexHome: string, id: string): Promise<string | null> => {
  const sessions = join(codexHome, 'sessions');
  const names = await readdir(sessions, { recursive: true }).catch(() => []);
  const found = names.filter((name) => name.endsWith(`-${id}.jsonl`)).sort();
  return found.length === 0 ? null : join(sessions, found.at(-1)!);
};

const record = (value: unknown): Json | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;

/** What is read of a line. The entries that count have some KB; an agent may write into its own thread, lines without an end too. */
const longestEntry = 256 * 1024;

async function* entriesOf(file: string, words: readonly string[]): AsyncGenerator<{ at: number; payload: Json }> {
  const lines = splitLines(0, longestEntry);
  for await (const chunk of createReadStream(file))
    for (const { text, bytes } of lines.push(chunk as Buffer)) {
      // Answers and tool output are megabytes that need no parsing here.
      if (bytes > longestEntry || !words.some((word) => text.includes(word))) continue;
      const entry = entryOf(text);
      if (entry !== null) yield entry;
    }
  // The rest without a newline was cut off by a kill.
}

const entryOf = (text: string): { at: number; payload: Json } | null => {
  try {
    const { timestamp, payload } = JSON.parse(text) as Json;
    const body = record(payload);
    return body && { at: Date.parse(String(timestamp)), payload: body };
  } catch {
    // Cut off by a kill.
    return null;
  }
};

/** A thread cannot be resumed with another provider than the one it began with. */
export const providerOf = async (file: string): Promise<string | null> => {
  for await (const { payload } of entriesOf(file, ['"model_provider"']))
    if (typeof payload.model_provider === 'string') return payload.model_provider;
  return null;
};

interface ThreadRun {
  usage: Usage | null;
  model: string | null;
  context_used: number | null;
  context_max: number | null;
}

const used = (total: Json | null): Usage => {
  const cached = asCount(total?.cached_input_tokens);
  const written = asCount(total?.cache_write_input_tokens);
  return {
    // As written, the cached ones are counted among the input.
    input_tokens: Math.max(0, asCount(total?.input_tokens) - cached - written),
    output_tokens: asCount(total?.output_tokens),
    cache_read_tokens: cached,
    cache_write_tokens: written,
  };
};

const minus = (a: Usage, b: Usage): Usage => ({
  input_tokens: Math.max(0, a.input_tokens - b.input_tokens),
  output_tokens: Math.max(0, a.output_tokens - b.output_tokens),
  cache_read_tokens: Math.max(0, a.cache_read_tokens - b.cache_read_tokens),
  cache_write_tokens: Math.max(0, a.cache_write_tokens - b.cache_write_tokens),
});

/** Of the turns since a moment. Usage is null when nothing was counted. */
export const runOf = async (file: string, since: number): Promise<ThreadRun> => {
  let before: Usage = used(null);
  const run: ThreadRun = { usage: null, model: null, context_used: null, context_max: null };
  for await (const { at, payload } of entriesOf(file, ['"token_count"', '"turn_context"'])) {
    if (at >= since) run.model = asName(payload.model) ?? run.model;
    const info = payload.type === 'token_count' ? record(payload.info) : null;
    const total = record(info?.total_token_usage);
    if (info === null || total === null) continue;
    if (at < since) {
      before = used(total);
      continue;
    }
    run.usage = minus(used(total), before);
    run.context_used = asCount(record(info.last_token_usage)?.total_tokens) || null;
    run.context_max = asCount(info.model_context_window) || null;
  }
  return run;
};
