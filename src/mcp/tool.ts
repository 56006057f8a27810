/**
 * What a tool is: a name, words for the agent that reads it, the shape of its arguments, and a way to a door of the house. A tool
 * decides nothing and stores nothing: it asks a route in its caller's name, or gives work and waits through `flow/call.ts`.
 */
import type { z } from 'zod';
import { type ErrorCode, errors, type Refusal } from '../contract/errors.ts';
import type { Principal } from '../contract/principal.ts';
import type { Wait } from '../flow/call.ts';
import type { Deps } from '../flow/deps.ts';

/** What a route answered, asked in the caller's own name: the same rights, the same refusals, the same audit. */
interface RouteAnswer {
  status: number;
  body: unknown;
}
export type AskRoute = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => Promise<RouteAnswer>;

export interface ToolCall {
  deps: Deps;
  principal: Principal;
  ask: AskRoute;
  /** How this caller waits: an execution as long as it takes, everybody else for a moment. */
  wait: Wait;
  /** Words for the client's progress line while it waits. */
  waitsFor(words: () => Promise<string>): void;
}

export type ToolAnswer = { ok: true; value: unknown } | { ok: false; value: unknown };

export interface Tool {
  name: string;
  description: string;
  input: z.ZodObject;
  /** `readOnlyHint`: without it Claude Code calls tools one after the other (claude-code#14353), with it side by side. */
  parallel: boolean;
  run(input: never, call: ToolCall): Promise<ToolAnswer>;
}

/** Keeps a tool's arguments and its schema one thing. */
export const tool = <S extends z.ZodObject>(t: {
  name: string;
  description: string;
  input: S;
  parallel?: boolean;
  run(input: z.infer<S>, call: ToolCall): Promise<ToolAnswer>;
}): Tool => ({ ...t, parallel: t.parallel ?? false, run: t.run as Tool['run'] });

export const good = (value: unknown): ToolAnswer => ({ ok: true, value });

/** A refusal in words an agent can act on: what, why, whether again, and what to do. */
export const refused = (r: Refusal): ToolAnswer => {
  const row: { retryable: boolean; hint: string } = errors[r.code];
  return {
    ok: false,
    value: {
      error: {
        code: r.code,
        message: r.message,
        hint: row.hint,
        retryable: row.retryable,
        ...(r.retryAfterMs !== undefined && { retry_after_ms: r.retryAfterMs }),
        ...(r.executionId !== undefined && { execution_id: r.executionId }),
        ...(r.details !== undefined && { details: r.details }),
      },
    },
  };
};

/** What a route said; `shape` makes it short for a reader that pays for each word. */
export const said = ({ status, body }: RouteAnswer, shape: (body: never) => unknown = (b) => b): ToolAnswer => {
  if (status < 400) return good(shape(body as never));
  const error = (body as { error?: { code?: string } } | null)?.error ?? { code: 'internal' };
  const row = errors[error.code as ErrorCode] as { hint: string } | undefined;
  return { ok: false, value: { error: row === undefined ? error : { ...error, hint: row.hint } } };
};
