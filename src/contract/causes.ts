/**
 * The closed list of causes: how an execution can end. One table gives what follows from each cause on the wire and for
 * the operator; `outcome/` decides which one applies, nothing else does.
 *
 * `status` is the HTTP status of a synchronous answer. `short` is the code older clients read (`X-Trinity-Error-Code`).
 * `retryable` says whether trying the same again can be sensible at all; evidence may lower it, never raise it. The one
 * exception is a login that renews itself (`Finding.renews` in outcome/). What is retried without being asked is a shorter
 * list, in outcome/decide.ts. `switches` marks the only causes that may move an
 * agent to another credential, and only with proof that the model API spoke.
 */

export type ShortCode =
  | 'auth'
  | 'billing'
  | 'network'
  | 'agent_error'
  | 'capacity'
  | 'timeout'
  | 'model_unsupported'
  | 'inter_agent_depth_exceeded';

export interface CauseRow {
  status: number;
  short: ShortCode | null;
  retryable: boolean;
  switches: boolean;
  /** What the operator reads first: what happened. */
  title: string;
  /** What the operator can do. Empty when there is nothing to do. */
  advice: string;
}

const row = (
  status: number,
  short: ShortCode | null,
  retryable: boolean,
  title: string,
  advice = '',
  switches = false,
): CauseRow => ({ status, short, retryable, switches, title, advice });
const S = true;

export const causes = {
  success: row(200, null, false, 'Finished'),
  cancelled: row(409, 'agent_error', false, 'Cancelled'),
  timed_out: row(
    504,
    'timeout',
    true,
    'Out of time',
    'Raise the timeout of the agent or of the request, or ask for less at once.',
  ),
  stalled: row(504, 'timeout', true, 'Silent for too long', 'See which tool hung in the transcript.'),
  shutdown: row(503, 'agent_error', true, 'Taken down with its host', 'Run it again.'),
  oom_killed: row(
    504,
    'agent_error',
    false,
    'Killed by the kernel: out of memory',
    'Raise resources.memory of the agent, or lower what it does at once.',
  ),
  memory_limit: row(504, 'agent_error', false, 'Stopped at its memory limit', 'Raise resources.memory of the agent.'),
  memory_pressure_killed: row(
    504,
    'agent_error',
    true,
    'Killed by a memory guard of the host',
    'Lower the fleet limit, or give the host more memory.',
  ),
  heap_oom: row(
    502,
    'agent_error',
    false,
    'The runtime ran out of heap',
    'Raise NODE_OPTIONS --max-old-space-size in the env of the agent.',
  ),
  log_limit: row(502, 'agent_error', false, 'Wrote more log than allowed', 'See the transcript for a loop.'),
  killed_unknown: row(504, 'agent_error', true, 'Killed, by whom is not known'),
  self_killed: row(
    504,
    'agent_error',
    false,
    'Killed by its own tool command',
    'The command in the evidence killed the CLI itself.',
  ),
  crashed: row(502, 'agent_error', true, 'Crashed', 'See the last lines of its error output.'),
  spawn_not_found: row(
    502,
    'agent_error',
    false,
    'The program was not found',
    'Install it, or set executable of the agent to its full path.',
  ),
  spawn_not_executable: row(
    502,
    'agent_error',
    false,
    'The program cannot be executed',
    'Check its mode, its interpreter line and its architecture.',
  ),
  spawn_args_too_long: row(
    502,
    'agent_error',
    false,
    'The arguments or the environment are too long',
    'Send the text as the message, not as an argument.',
  ),
  workdir_missing: row(
    502,
    'agent_error',
    false,
    'The workspace does not exist',
    'Create the directory, or set workspace of the agent.',
  ),
  bad_cli_usage: row(
    502,
    'agent_error',
    false,
    'The CLI refused its arguments',
    'Check the options of the agent against the version of its CLI.',
  ),
  bad_config: row(502, 'agent_error', false, 'The CLI refused its configuration', 'The evidence says why.'),
  session_not_found: row(502, 'agent_error', false, 'The session to resume does not exist', 'Start a fresh session.'),
  auth_failed: row(503, 'auth', false, 'The login was rejected by the model API', 'Replace the credential.', S),
  auth_missing: row(503, 'auth', false, 'No login reached the CLI', 'Give the agent a credential.'),
  access_denied: row(
    503,
    'auth',
    false,
    'The account may not do this',
    'See the sentence of the provider in the evidence.',
    S,
  ),
  usage_limit: row(
    429,
    'billing',
    false,
    'The plan is used up until its reset',
    'Wait for the reset, or add a credential.',
    S,
  ),
  rate_limited: row(429, 'capacity', true, 'Too many requests for the moment'),
  billing: row(402, 'billing', false, 'The account has no credit', 'Add credit, or use another credential.', S),
  overloaded: row(503, 'capacity', true, 'The provider is overloaded'),
  api_server_error: row(502, 'network', true, 'The provider failed'),
  network_failure: row(502, 'network', true, 'The network failed'),
  tls_failure: row(
    502,
    'network',
    false,
    'TLS to the provider failed',
    'Check certificates: NODE_EXTRA_CA_CERTS, proxy.',
  ),
  edge_blocked: row(
    502,
    'network',
    true,
    'Something between here and the provider answered instead',
    'Check proxy, VPN and firewall.',
  ),
  malformed_response: row(
    502,
    'network',
    true,
    'The answer was not from a model API',
    'Check ANTHROPIC_BASE_URL and captive portals.',
  ),
  context_overflow: row(
    502,
    'agent_error',
    false,
    'The conversation is too long for the model',
    'Start a fresh session, or shorten the input.',
  ),
  output_limit: row(
    502,
    'agent_error',
    false,
    'The answer was longer than allowed',
    'Raise the output limit, or ask for less.',
  ),
  max_turns: row(422, 'agent_error', false, 'Reached its turn limit', 'Raise max_turns.'),
  budget_exceeded: row(402, 'billing', false, 'Reached the budget set for it', 'Raise the budget.'),
  policy_refusal: row(422, 'agent_error', false, 'Refused by the content policy'),
  invalid_request: row(502, 'agent_error', false, 'The provider refused the request'),
  model_unavailable: row(
    502,
    'model_unsupported',
    false,
    'The model is not available',
    'Set another model, or update the CLI.',
  ),
  host_resource_exhausted: row(
    507,
    'agent_error',
    true,
    'The host ran out of a resource',
    'Free disk, file handles or processes.',
  ),
  no_result: row(502, 'agent_error', true, 'Ended without a result'),
  agent_unreachable: row(503, 'network', true, 'The agent could not be reached', 'Check that its service is up.'),
  call_budget_exhausted: row(
    503,
    'capacity',
    true,
    'Waited its whole queue budget for a free slot',
    'Raise the cap that bound it, or the queue budget.',
  ),
  // The queue budget ran out while something other than a cap held the row back: the cause is that wait reason itself.
  no_runner: row(503, 'capacity', true, 'No runner came for it', 'Start a runner: bin/drover runner.'),
  session_busy: row(
    503,
    'capacity',
    true,
    'Its chat session stayed busy',
    'Use another session, or wait for the turn before it.',
  ),
  agent_stopped: row(503, 'agent_error', true, 'Its agent was stopped', 'Start the agent.'),
  fleet_paused: row(503, 'capacity', true, 'The fleet stayed paused', 'Resume the fleet.'),
  provider_paused: row(503, 'capacity', true, 'Its provider stayed paused', 'See the incident.'),
  budget_spent: row(402, 'billing', true, 'The spending budget of its agent is used up', 'Raise the budget.'),
  memory: row(
    503,
    'capacity',
    true,
    'The host had no memory to spare',
    'Free memory on the host, or lower DROVER_MEMORY_FLOOR_PERCENT.',
  ),
  disk: row(
    503,
    'capacity',
    true,
    'The host had no disk to spare',
    'Free disk on the host, or lower DROVER_DISK_FLOOR_MIB.',
  ),
  runner_lost: row(504, 'agent_error', true, 'Its runner was lost', 'See what happened to the host.'),
  credentials_exhausted: row(
    429,
    'billing',
    true,
    'Every credential it may use is used up',
    'Wait for the earliest reset, or add a credential.',
  ),
  unknown: row(502, 'agent_error', true, 'Not known'),
} as const satisfies Record<string, CauseRow>;

export type Cause = keyof typeof causes;
export const causeNames = Object.keys(causes) as [Cause, ...Cause[]];

/** A title inside a sentence: its first letter is small, but what begins with a name in capitals (TLS) keeps it. */
export const inSentence = (title: string): string =>
  title.charAt(1) === title.charAt(1).toLowerCase() ? title.charAt(0).toLowerCase() + title.slice(1) : title;
