/**
 * The sentences that Claude Code owns, whole: a table. Sources: the sentences in the program text of 2.1.332 itself, those of
 * cases/README.md 4.1 (2.1.197 and older, with the public reports named there: `|epoch` 1.0.x, `∙` 2.0.x),
 * code.claude.com/docs/en/errors. Order matters where words are shared: money before windows, throttling before neither.
 */
import type { OwnedSentence } from './owned-lines.ts';

/** `· do this` at the end of a sentence; older builds used other dots, some say it in a second sentence. */
const advice = '(?:\\.? [·∙] .+|\\. .+|\\.)?';
const re = (body: string): RegExp => new RegExp(`^(?:${body})$`);

const login: readonly OwnedSentence[] = [
  { match: re(`Invalid API key [·∙] (Fix external API key|Please run /login)`), cause: 'auth_failed', switches: true },
  {
    match: re(`Failed to authenticate: OAuth session expired and could not be refreshed${advice}`),
    cause: 'auth_failed',
    switches: true,
  },
  {
    match: re(`Failed to authenticate: (your claude\\.ai login expired|this login reached its time limit)\\b.*`),
    cause: 'auth_failed',
    switches: true,
  },
  {
    match: re(`(Failed to authenticate: )?OAuth token (revoked|has expired)${advice}`),
    cause: 'auth_failed',
    switches: true,
  },
  { match: re(`Login (expired|reached its time limit) [·∙] .+`), cause: 'auth_failed', switches: true },
  // Another process holds the refresh: trying again is right, rotating is not.
  {
    match: re(`Failed to refresh OAuth token: another Claude Code process is refreshing it\\b.*`),
    cause: 'auth_failed',
    renews: true,
  },
  {
    match: re(`Failed to refresh OAuth token: the disk that holds the Claude Code config directory\\b.*`),
    cause: 'host_resource_exhausted',
    retryable: false,
  },
  { match: re(`Failed to refresh OAuth token: can't save to the Keychain\\b.*`), cause: 'bad_config' },
  // Cloud credentials are renewed outside of Drover.
  { match: re(`(AWS|Google Cloud) credentials expired or invalid\\b.*`), cause: 'auth_failed', renews: true },
  { match: re(`(AWS|Google Cloud|Microsoft Foundry) authentication failed\\b.*`), cause: 'auth_failed', renews: true },
  {
    match: re(
      `API Error( \\([a-z0-9-]+\\))?: Could not load (credentials from any providers|the default credentials\\b.*)`,
    ),
    cause: 'auth_missing',
  },
  { match: re(`API Error: Could not load (AWS|\\w+( \\w+)?) credentials [·∙] .*`), cause: 'auth_failed', renews: true },
  // No request was made with a login.
  { match: re(`Not logged in [·∙] .+`), cause: 'auth_missing' },
  { match: re(`(Error: )?Could not resolve authentication method\\. .+`), cause: 'auth_missing' },
  { match: re(`Authentication required [·∙] Sign in again to continue`), cause: 'auth_missing' },
  {
    match: re(`Invalid (API key|auth token) [·∙] Fix external (API key|auth token)( [·∙] .+)?`),
    cause: 'auth_missing',
  },
  { match: re(`Your apiKeyHelper script is failing [·∙] .*`), cause: 'auth_missing' },
];

const account: readonly OwnedSentence[] = [
  {
    match: re(`Your organization has disabled Claude subscription access for Claude Code${advice}`),
    cause: 'access_denied',
    switches: true,
  },
  {
    match: re(`Your organization has disabled API key authentication${advice}`),
    cause: 'access_denied',
    switches: true,
  },
  {
    match: re(`(API Error: 400 )?This organization has been disabled${advice}`),
    cause: 'access_denied',
    switches: true,
  },
  {
    match: re(`Your ANTHROPIC_API_KEY belongs to a disabled organization${advice}`),
    cause: 'access_denied',
    switches: true,
  },
  { match: re(`Your account does not have access to Claude( Code)?\\b.*`), cause: 'access_denied', switches: true },
  {
    match: re(`Your seat type doesn't include (usage|usage credits|extra usage)${advice}`),
    cause: 'access_denied',
    switches: true,
  },
  {
    match: re(`Your usage allocation has been disabled by your admin${advice}`),
    cause: 'access_denied',
    switches: true,
  },
  { match: re(`Your group's usage limit is set to \\$0${advice}`), cause: 'access_denied', switches: true },
  { match: re(`This service is disabled for your org${advice}`), cause: 'access_denied', switches: true },
];

const money: readonly OwnedSentence[] = [
  { match: re(`Credit balance is too low${advice}`), cause: 'billing', switches: true },
  {
    match: re(`(You[’']re|Your org(anization)? is) out of (usage credits|extra usage)${advice}`),
    cause: 'billing',
    switches: true,
  },
  { match: re(`Your org is out of usage [·∙] .+`), cause: 'billing', switches: true },
  {
    match: re(
      `You[’']ve hit your ((org|channel|organization)[’']s )?((monthly|individual) )?spend(ing)? limit${advice}`,
    ),
    cause: 'billing',
    switches: true,
  },
  { match: re(`You[’']ve hit your team's pooled group budget${advice}`), cause: 'billing', switches: true },
  {
    match: re(`API Error: Usage credits ran out before the response was finished\\.`),
    cause: 'billing',
    switches: true,
  },
];

const windows: readonly OwnedSentence[] = [
  {
    match: re(`Claude (AI )?usage limit reached(\\|\\d{10,13}|\\.?( Your limit will reset at .+)?)`),
    cause: 'usage_limit',
    switches: true,
  },
  {
    match: re(`(5-hour|Session|Weekly|Usage|Daily|(Opus|Sonnet|Fable)( \\d)?( weekly)?) limit reached( [·∙] .+)?`),
    cause: 'usage_limit',
    switches: true,
  },
  {
    match: re(
      `You[’']ve (hit|reached) your (((org|channel)[’']s monthly|individual|5-hour|session|weekly|usage|daily|monthly|Opus|Sonnet|Fable|usage credit)( weekly| usage)? )?limit${advice}`,
    ),
    cause: 'usage_limit',
    switches: true,
  },
  {
    match: re(
      `(API Error: (400|429) )?You have reached your specified (workspace )?API usage limits\\. You will regain access on .+`,
    ),
    cause: 'usage_limit',
    switches: true,
  },
  { match: re(`Usage is paused for your organization\\. .+`), cause: 'usage_limit', switches: true },
  // Throttling is never the plan, whatever words it has.
  { match: re(`API Error: Rate limit reached${advice}`), cause: 'rate_limited' },
  {
    match: re(`API Error: Server is temporarily limiting requests \\(not your usage limit\\)${advice}`),
    cause: 'rate_limited',
  },
  { match: re(`(Opus|Fable|Sonnet) is experiencing high load\\b.*`), cause: 'overloaded' },
  { match: re(`API Error: Repeated 529 Overloaded errors\\b.*`), cause: 'overloaded' },
];

const request: readonly OwnedSentence[] = [
  {
    match: re(`(API Error: )?(Usage credits required|Extra usage is required) for (1M|long) context\\b.*`),
    cause: 'model_unavailable',
  },
  {
    match: re(`(Fable|Haiku|Mythos|Opus|Sonnet)( [^·\\n]{1,40})? requires usage credits\\b.*`),
    cause: 'model_unavailable',
  },
  {
    match: re(
      `There's an issue with the selected model \\(.+\\)\\. It may not exist or you may not have access to it\\..*`,
    ),
    cause: 'model_unavailable',
  },
  { match: re(`The model \\S+ is not available on your \\w+ deployment\\..*`), cause: 'model_unavailable' },
  {
    match: re(`API Error: 400 Claude Code \\S+ does not support this model; version \\S+ or newer is required\\.`),
    cause: 'model_unavailable',
  },
  { match: re(`Claude \\S+ is not available with the Claude \\S+ plan\\b.*`), cause: 'model_unavailable' },
  { match: re(`Prompt is too long\\b.*`), cause: 'context_overflow' },
  { match: re(`Request too large( \\(max \\d+ ?MB[^)]*\\))?\\..*`), cause: 'context_overflow' },
  { match: re(`API Error: The model has reached its context window limit\\.`), cause: 'context_overflow' },
  { match: re(`API Error: Claude's response exceeded the \\d+ output token maximum\\..*`), cause: 'output_limit' },
  { match: re(`(API Error: )?(400 )?Output blocked by content filtering policy\\.?`), cause: 'policy_refusal' },
  { match: re(`API Error: .{1,80} safeguards flagged this message\\b.*`), cause: 'policy_refusal' },
  {
    match: re(
      `API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy\\b.*`,
    ),
    cause: 'policy_refusal',
  },
  {
    match: re(
      `API Error: 400 (due to tool use concurrency issues|orphaned tool_result in conversation history|duplicate tool_use ID in conversation history)\\..*`,
    ),
    cause: 'invalid_request',
  },
  { match: re(`An image in the conversation exceeds the dimension limit\\b.*`), cause: 'invalid_request' },
];

const onTheWay: readonly OwnedSentence[] = [
  {
    match: re(`API Error: Request blocked before it reached Anthropic's API \\(HTTP 403\\)\\b.*`),
    cause: 'edge_blocked',
    retryable: false,
  },
  {
    match: re(`(Gateway|Your organization's gateway) refused the request\\b.*`),
    cause: 'edge_blocked',
    retryable: false,
  },
  { match: re(`API Error: .*\\(ERR_PROXY_\\w+\\).*`), cause: 'edge_blocked', retryable: false },
  { match: re(`API Error: Unable to connect to API \\((EPROTO|ERR_SSL_\\w+|ERR_TLS_\\w+)\\).*`), cause: 'tls_failure' },
  {
    match: re(`API Error: Unable to connect to API: (Self-signed certificate detected|SSL certificate|TLS)\\b.*`),
    cause: 'tls_failure',
  },
  {
    match: re(
      `API Error: .*\\((\\w*SELF_SIGNED_CERT\\w*|CERT_\\w+|UNABLE_TO_\\w+|\\w*ALTNAME_INVALID|ERR_SSL_\\w+|ERR_TLS_\\w+)\\).*`,
    ),
    cause: 'tls_failure',
  },
  // OpenSSL's words, as Node passes them on.
  {
    match: re(
      `API Error: (self[- ]signed certificate|unable to (get (local )?issuer certificate|verify the first certificate)|certificate has expired|Hostname/IP does not match certificate's altnames)\\b.*`,
    ),
    cause: 'tls_failure',
  },
  {
    match: re(
      `API Error: (getaddrinfo|connect|read|write) E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|PIPE|HOSTUNREACH|NETUNREACH)\\b.*`,
    ),
    cause: 'network_failure',
  },
  // Builds before 2.1 said the error in brackets, with the next try behind it.
  {
    match: re(`API Error \\((Connection error|Request timed out)\\.?\\)( [·∙] Retrying .+)?`),
    cause: 'network_failure',
  },
  {
    match: re(
      `(API Error: )?(Connection|Can't reach the API server|Unable to connect to API)\\b.*\\((E[A-Z_]+|UND_ERR_\\w+|ConnectionRefused|FailedToOpenSocket|ConnectionClosed)\\).*`,
    ),
    cause: 'network_failure',
  },
  {
    match: re(
      `API Error: (Connection error|The socket connection was closed unexpectedly|fetch failed|terminated|Connection closed mid-response|Connection to the API was lost|Unable to connect to API)\\b.*`,
    ),
    cause: 'network_failure',
  },
  {
    match: re(
      `(API Error: )?(The response stopped arriving\\.|[Ss]tream idle: no bytes for|[Ss]tream idle timeout|Response stalled|No response|Request timed out\\b).*`,
    ),
    cause: 'network_failure',
  },
  {
    match: re(`API Error: API returned an empty or malformed response \\(HTTP \\w+\\).*`),
    cause: 'malformed_response',
  },
  { match: re(`API Error: Unexpected (end of JSON input|token .+ is not valid JSON)`), cause: 'malformed_response' },
  { match: re(`API Error: The response could not be read \\(\\w+\\)\\..*`), cause: 'malformed_response' },
];

/** The first lines of a start that failed, and what the vendor's SDK says when the program did not start. */
const start: readonly OwnedSentence[] = [
  {
    match: re(`Claude Code \\S+ is older than the minimum version required by your organization\\b.*`),
    cause: 'model_unavailable',
  },
  {
    match: re(
      `(Error: )?(The current )?[Ww]orking directory (was deleted|no longer exists or is not accessible|does not exist)\\b.*`,
    ),
    cause: 'workdir_missing',
  },
  {
    match: re(`Error: (Cannot use|The) settings file\\b.*|Error: System prompt file not found: .+`),
    cause: 'bad_config',
  },
  {
    match: re(`Error: MCP tool .+ \\(passed via --permission-prompt-tool\\) not found\\..*`),
    cause: 'bad_cli_usage',
  },
  { match: re(`(Error: )?No conversation found (with session ID: \\S+|to continue)`), cause: 'session_not_found' },
  {
    match: re(
      `error: (unknown option|option|too many arguments|unknown command|missing required argument|required option)\\b.*`,
    ),
    cause: 'bad_cli_usage',
  },
  {
    match: re(`Error: Input must be provided either through stdin or as a prompt argument when using --print`),
    cause: 'bad_cli_usage',
  },
  {
    match: re(`Error: (--[a-z-]+|When using --|Cannot use (both )?--|Invalid session ID|Session ID )\\b.*`),
    cause: 'bad_cli_usage',
  },
  { match: re(`Error: Invalid MCP configuration:.*`), cause: 'bad_config' },
  { match: re(`(Error: )?(MCP config|Settings) file not found: .+`), cause: 'bad_config' },
  {
    match: re(`Error: (Invalid settings|Error processing settings|Invalid JSON provided to --settings)\\b.*`),
    cause: 'bad_config',
  },
  { match: re(`Invalid (ANTHROPIC_CUSTOM_HEADERS|request header from the environment) [·∙] .*`), cause: 'bad_config' },
  { match: re(`Configuration error in .+`), cause: 'bad_config' },
  { match: re(`--dangerously-skip-permissions cannot be used with root/sudo privileges\\b.*`), cause: 'bad_config' },
  {
    match: re(`(ReferenceError: |Error: )?Claude Code (executable|native binary) not found at .+`),
    cause: 'spawn_not_found',
  },
  { match: re(`(HTTP 503: )?Claude Code is not available in this container\\.?`), cause: 'spawn_not_found' },
  { match: re(`Error: Failed to spawn Claude Code process: (E2BIG|ENAMETOOLONG)\\b.*`), cause: 'spawn_args_too_long' },
  { match: re(`Error: Failed to spawn Claude Code process: (EACCES|ENOEXEC)\\b.*`), cause: 'spawn_not_executable' },
];

export const claudeSentences: readonly OwnedSentence[] = [
  ...login,
  ...account,
  ...money,
  ...windows,
  ...request,
  ...onTheWay,
  ...start,
];
