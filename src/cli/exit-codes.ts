/**
 * The one table of exit codes, and which ending or refusal gets which. A script can act on the number alone: retry (7, 10),
 * wake a person (8), fix the call (2, 9). Both maps are complete by type: a new cause or error does not compile until it
 * has its code. docs/cli.md is checked against this table by a test. Numbers are never given a new meaning.
 */
import { type Cause, causes } from '../contract/causes.ts';
import { type ErrorCode, errors } from '../contract/errors.ts';

export const exitCodes = {
  ok: { code: 0, about: 'Done; for `run`: the execution ended as success.' },
  failed: { code: 1, about: 'The execution failed, or `doctor` found a problem.' },
  usage: { code: 2, about: 'The call is wrong: arguments, input or configuration. Nothing was done.' },
  unreachable: { code: 3, about: 'The server does not answer, is not ready, or failed.' },
  refused: { code: 4, about: 'Not authorised, or against a rule of the server.' },
  cancelled: { code: 5, about: 'The execution was cancelled.' },
  killed: { code: 6, about: 'The execution was killed, ran out of time or memory, or was lost with its host.' },
  no_room: {
    code: 7,
    about: 'A limit or a pause held it back until its budget ended. Nothing was started; a retry is safe.',
  },
  login: { code: 8, about: 'Login, plan or money: a person must look at the credential.' },
  not_found: { code: 9, about: 'No agent or execution of that name or id.' },
  provider: { code: 10, about: 'The provider or the network failed; trying later can help.' },
  still_running: { code: 11, about: 'The wait ended before the execution did; it goes on under its id.' },
  interrupted: { code: 130, about: 'Stopped watching at Ctrl-C; what runs goes on.' },
} as const satisfies Record<string, { code: number; about: string }>;

export type ExitName = keyof typeof exitCodes;

const ofCause: Record<Cause, ExitName> = {
  success: 'ok',
  cancelled: 'cancelled',

  timed_out: 'killed',
  stalled: 'killed',
  shutdown: 'killed',
  oom_killed: 'killed',
  memory_limit: 'killed',
  memory_pressure_killed: 'killed',
  killed_unknown: 'killed',
  self_killed: 'killed',
  runner_lost: 'killed',

  auth_failed: 'login',
  auth_missing: 'login',
  access_denied: 'login',
  usage_limit: 'login',
  billing: 'login',
  budget_exceeded: 'login',
  credentials_exhausted: 'login',
  budget_spent: 'login',

  rate_limited: 'provider',
  overloaded: 'provider',
  api_server_error: 'provider',
  network_failure: 'provider',
  tls_failure: 'provider',
  edge_blocked: 'provider',
  malformed_response: 'provider',
  agent_unreachable: 'provider',

  call_budget_exhausted: 'no_room',
  no_runner: 'no_room',
  session_busy: 'no_room',
  agent_stopped: 'no_room',
  fleet_paused: 'no_room',
  provider_paused: 'no_room',
  memory: 'no_room',
  disk: 'no_room',

  heap_oom: 'failed',
  log_limit: 'failed',
  crashed: 'failed',
  spawn_not_found: 'failed',
  spawn_not_executable: 'failed',
  spawn_args_too_long: 'failed',
  workdir_missing: 'failed',
  bad_cli_usage: 'failed',
  bad_config: 'failed',
  session_not_found: 'failed',
  context_overflow: 'failed',
  output_limit: 'failed',
  max_turns: 'failed',
  policy_refusal: 'failed',
  invalid_request: 'failed',
  model_unavailable: 'failed',
  host_resource_exhausted: 'failed',
  no_result: 'failed',
  unknown: 'failed',
};

const ofError: Record<ErrorCode, ExitName> = {
  unauthorized: 'refused',
  bad_login: 'refused',
  setup_required: 'refused',
  setup_completed: 'refused',
  setup_token_required: 'refused',
  forbidden: 'refused',
  csrf: 'refused',
  duplicate: 'refused',
  conflict: 'refused',
  idempotency_conflict: 'refused',
  inter_agent_depth_exceeded: 'refused',
  caller_ended: 'refused',
  fan_out_too_large: 'usage',
  call_not_permitted: 'refused',
  stale_token: 'refused',
  protocol_version: 'refused',

  weak_password: 'usage',
  password_mismatch: 'usage',
  method_not_allowed: 'usage',
  invalid: 'usage',
  invalid_json: 'usage',
  too_large: 'usage',
  unsupported_media_type: 'usage',
  credential_in_env: 'usage',
  workspace_missing: 'usage',

  not_found: 'not_found',
  session_not_found: 'not_found',

  rate_limited: 'no_room',
  agent_stopped: 'no_room',
  backlog_full: 'no_room',
  inbox_full: 'no_room',
  session_busy: 'no_room',

  not_ready: 'unreachable',
  store_failed: 'unreachable',
  shutting_down: 'unreachable',
  internal: 'unreachable',
};

export const exitOfCause = (cause: Cause): ExitName => ofCause[cause];

/** Of an answer of the server: by its code when it is one of ours, else by its status. */
export const exitOfAnswer = (code: string, status: number): ExitName => {
  if (code in errors) return ofError[code as ErrorCode];
  if (code in causes) return exitOfCause(code as Cause);
  if (status === 401 || status === 403 || status === 409) return 'refused';
  if (status === 404) return 'not_found';
  if (status === 429) return 'no_room';
  return status >= 400 && status < 500 ? 'usage' : 'unreachable';
};

/** A terminal execution: its cause when it has one, else its status. */
export const exitOfEnding = (row: { status: string; cause: Cause | null }): ExitName => {
  if (row.status === 'success') return 'ok';
  if (row.status === 'cancelled') return 'cancelled';
  return row.cause === null ? 'failed' : exitOfCause(row.cause);
};
