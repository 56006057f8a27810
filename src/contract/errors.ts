/**
 * Every refusal a client can meet: code → HTTP status, retryable, hint. A refusal is a value; `docs/errors.md` is checked
 * against this table by a test. Causes of executions have their own table in causes.ts.
 */
import type { ShortCode } from './causes.ts';

interface ErrorRow {
  status: number;
  retryable: boolean;
  /** What the reader can do about it. */
  hint: string;
  short?: ShortCode;
}

export const errors = {
  unauthorized: {
    status: 401,
    retryable: false,
    hint: 'Send Authorization: Bearer with a session token or an API key.',
  },
  bad_login: { status: 401, retryable: false, hint: 'Check the name and the password.' },
  setup_required: {
    status: 403,
    retryable: false,
    hint: 'Set the admin password first, with the token in DROVER_HOME/owner.token.',
  },
  setup_completed: { status: 403, retryable: false, hint: 'Setup is already completed. Sign in instead.' },
  setup_token_required: {
    status: 403,
    retryable: false,
    hint: 'Send the token in DROVER_HOME/owner.token as setup_token or X-Setup-Token.',
  },
  weak_password: { status: 400, retryable: false, hint: 'The password needs at least 8 characters.' },
  password_mismatch: { status: 400, retryable: false, hint: 'The two passwords do not match.' },
  forbidden: { status: 403, retryable: false, hint: 'Your role does not allow this.' },
  csrf: { status: 403, retryable: false, hint: 'Reload the page and try again.' },
  not_found: { status: 404, retryable: false, hint: 'Check the name or id.' },
  method_not_allowed: { status: 405, retryable: false, hint: 'See /docs for the methods of this path.' },
  invalid: { status: 422, retryable: false, hint: 'See details for each field.' },
  invalid_json: { status: 422, retryable: false, hint: 'The body is not valid JSON.' },
  too_large: {
    status: 413,
    retryable: false,
    hint: 'Put the text into a file of the workspace and name it in the message.',
  },
  unsupported_media_type: { status: 415, retryable: false, hint: 'Send application/json.' },
  rate_limited: { status: 429, retryable: true, hint: 'Wait for Retry-After.' },
  duplicate: { status: 409, retryable: false, hint: 'Choose another name, or change the existing one.' },
  conflict: { status: 409, retryable: true, hint: 'It changed meanwhile. Read it again.' },
  idempotency_conflict: { status: 409, retryable: false, hint: 'The key was used with another body. Use a new key.' },
  credential_in_env: {
    status: 422,
    retryable: false,
    hint: 'Store it as a credential (drover creds add, or POST /api/subscriptions): agents draw from what is stored.',
  },
  workspace_missing: {
    status: 422,
    retryable: false,
    hint: 'Name a directory that is there, or leave workspace out to get one under DROVER_HOME.',
  },
  agent_stopped: { status: 503, retryable: true, hint: 'Start the agent.', short: 'agent_error' },
  backlog_full: {
    status: 429,
    retryable: true,
    hint: 'Wait until the backlog shrinks, or raise max_backlog_depth.',
    short: 'capacity',
  },
  inbox_full: {
    status: 429,
    retryable: true,
    hint: 'Wait until a person has answered some of the questions: drover inbox.',
    short: 'capacity',
  },
  session_busy: {
    status: 409,
    retryable: true,
    hint: 'Use another session, or wait for the turn before it.',
    short: 'capacity',
  },
  session_not_found: { status: 404, retryable: false, hint: 'Leave session out to start a fresh one.' },
  inter_agent_depth_exceeded: {
    status: 403,
    retryable: false,
    hint: 'Do the work in this agent instead of calling another.',
    short: 'inter_agent_depth_exceeded',
  },
  fan_out_too_large: {
    status: 422,
    retryable: false,
    hint: 'Give the tasks in several batches, one after the other.',
  },
  caller_ended: { status: 409, retryable: false, hint: 'The calling execution has ended.' },
  call_not_permitted: {
    status: 403,
    retryable: false,
    hint: 'Permit the call in the permissions of the calling agent.',
  },
  stale_token: { status: 409, retryable: false, hint: 'The attempt is not this runner’s any more. Stop its process.' },
  protocol_version: { status: 426, retryable: false, hint: 'Upgrade the runner to the version of the server.' },
  not_ready: { status: 503, retryable: true, hint: 'The server is starting or its store does not answer.' },
  store_failed: {
    status: 503,
    retryable: true,
    hint: 'Nothing was stored. See the log of the server; is the disk full?',
  },
  shutting_down: { status: 503, retryable: true, hint: 'The server is going down. Try again in a moment.' },
  internal: { status: 500, retryable: false, hint: 'This is a bug. The log of the server has the request id.' },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errors;

/** An expected "no": a value, never thrown across a door. */
export interface Refusal {
  refused: true;
  code: ErrorCode;
  message: string;
  retryAfterMs?: number;
  details?: unknown;
  /** What `detail` of the wire body becomes when it is not the message. */
  detail?: unknown;
  executionId?: string;
}

export const refuse = (
  code: ErrorCode,
  message: string,
  more: Omit<Refusal, 'refused' | 'code' | 'message'> = {},
): Refusal => ({
  refused: true,
  code,
  message,
  ...more,
});

export const isRefusal = (value: unknown): value is Refusal =>
  typeof value === 'object' && value !== null && (value as { refused?: unknown }).refused === true;

/** A broken machine or a bug: thrown, and logged once where it is caught. */
export class Fault extends Error {
  readonly code: ErrorCode;
  /** Its message is for whoever asked, too: it says what to do and holds nothing of the inside. */
  readonly shown: boolean;
  constructor(code: ErrorCode, message: string, options: { cause?: unknown; shown?: boolean } = {}) {
    super(message, options);
    this.name = 'Fault';
    this.code = code;
    this.shown = options.shown === true;
  }
}
