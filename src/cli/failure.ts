/**
 * What a command throws when it cannot go on: the sentence, what to do about it, and the exit code by name. Caught once,
 * in program.ts. An answer of the server (`ApiError`) is turned into one here, so that every command fails alike.
 */
import { ApiError } from '../client/request.ts';
import { errors } from '../contract/errors.ts';
import { type ExitName, exitCodes, exitOfAnswer } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

export class CliFailure extends Error {
  readonly exit: ExitName;
  readonly code: string;
  readonly hints: string[];
  constructor(exit: ExitName, message: string, hints: string[] = [], code: string = exit) {
    super(message);
    this.name = 'CliFailure';
    this.exit = exit;
    this.hints = hints;
    this.code = code;
  }
}

export const usage = (message: string, ...hints: string[]): CliFailure => new CliFailure('usage', message, hints);

const failureOf = (error: ApiError): CliFailure => {
  if (error.status === 0)
    return new CliFailure(
      'unreachable',
      error.message,
      ['Start it: npm start (or bin/drover start).', 'Is it elsewhere? Set DROVER_SERVER_URL and DROVER_TOKEN.'],
      error.code,
    );
  const known = hintOf(error.code);
  const later = error.retryAfterMs === null ? [] : [`Try again in ${Math.ceil(error.retryAfterMs / 1000)} s.`];
  const hints = [...(known === null || error.message.includes(known) ? [] : [known]), ...later];
  return new CliFailure(exitOfAnswer(error.code, error.status), error.message, hints, error.code);
};

/** What a caller of the API can look into (details, fields) a person at a terminal cannot: they get the command instead. */
const hintOf = (code: string): string | null => {
  if (code === 'invalid') return 'What is accepted: the same command with --help.';
  if (code === 'unauthorized') return 'What is sent: DROVER_TOKEN, else the token in DROVER_HOME/owner.token.';
  if (code === 'not_found')
    return 'Names: drover agent ls, drover creds ls, drover people. Ids: drover ps, drover inbox.';
  if (code === 'agent_stopped') return 'Start it: drover agent start NAME.';
  if (code === 'setup_required')
    return 'Open the page: its first visit asks for that token and sets the first password.';
  return code in errors ? errors[code as keyof typeof errors].hint : null;
};

/** Says it on stderr and gives the exit code. What is neither ours nor the server's is a bug: shown whole. */
export const tell = (thrown: unknown, terminal: Terminal, json: boolean): number => {
  const failure = thrown instanceof ApiError ? failureOf(thrown) : thrown;
  if (!(failure instanceof CliFailure)) {
    const text = failure instanceof Error ? (failure.stack ?? failure.message) : String(failure);
    if (json) terminal.err(`${JSON.stringify({ error: { code: 'internal', message: text, hints: [] } })}\n`);
    else terminal.err(`drover: this is a bug.\n${text}\n`);
    return exitCodes.failed.code;
  }
  if (json)
    terminal.err(
      `${JSON.stringify({ error: { code: failure.code, message: failure.message, hints: failure.hints } })}\n`,
    );
  else
    terminal.err(
      `${terminal.paint('err', 'red', 'drover:')} ${failure.message}\n${failure.hints.map((h) => `  ${h}\n`).join('')}`,
    );
  return exitCodes[failure.exit].code;
};
