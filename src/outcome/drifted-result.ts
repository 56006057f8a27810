/**
 * A terminal event of Claude Code that a build sends without one of the two fields that say how it went: `subtype` or `is_error`.
 * What is left decides; where nothing in it tells of an error, the run went well, and the text in it is the model's answer. Read as a
 * failure, that answer would be taken for the words of the CLI. Pure.
 */
import type { StreamFacts } from '../contract/facts.ts';

type Json = Record<string, unknown>;

const said = (value: unknown): boolean => (typeof value === 'string' && value !== '') || typeof value === 'number';

const tellsError = ({ signals, model_spoke }: StreamFacts, result: Json): boolean =>
  // An answer that no model gave is the CLI's own sentence.
  !model_spoke ||
  ['api_error_status', 'api_error_type', 'api_error', 'error', 'startup_failure_reason'].some((f) => said(result[f])) ||
  (Array.isArray(result.errors) && result.errors.length > 0) ||
  (typeof result.subtype === 'string' && result.subtype !== 'success') ||
  (typeof result.terminal_reason === 'string' && result.terminal_reason !== 'completed') ||
  // Its last word was an API error that it had rendered as a message.
  signals.some((s) => s.kind === 'assistant_error' && !s.model_output_after);

/** The stream with both fields. One without either is no event of this CLI, and stays as it is. */
export const withWholeResult = (stream: StreamFacts): StreamFacts => {
  const { result } = stream;
  if (result === null || result.type !== 'result') return stream;
  const [named, judged] = [typeof result.subtype === 'string', typeof result.is_error === 'boolean'];
  if (named === judged) return stream;
  const is_error = judged ? result.is_error : tellsError(stream, result);
  // A failure needs no name: what else the event holds says which.
  return { ...stream, result: { ...result, is_error, ...(named || is_error ? {} : { subtype: 'success' }) } };
};
