/**
 * `drover run AGENT MESSAGE`: submit, follow, tell the ending, and leave with its exit code. The submit carries an
 * idempotency key, so that sending it again after a lost answer starts nothing twice; from then on everything goes by id.
 * The answer of the agent goes to stdout, all else to stderr. Inside an agent the submit is the wait: one request, by which
 * that agent's execution yields (R17); after a lost line it is sent again under its key and joins the wait that there is.
 */
import { ApiError } from '../../client/request.ts';
import type { ExecutionBody } from '../../client/wire.ts';
import { isTerminal } from '../../contract/status.ts';
import { type Context, printJson } from '../context.ts';
import { type ExitName, exitOfEnding } from '../exit-codes.ts';
import { usage } from '../failure.ts';
import { endingLines } from '../show/ending.ts';
import { plain } from '../terminal.ts';
import { type Watched, watch } from '../watch.ts';

export interface RunFlags {
  async?: boolean;
  timeout?: number;
  wait?: number;
  chat?: boolean;
  session?: string;
  resume?: string;
  model?: string;
  maxTurns?: number;
  systemPrompt?: string;
  allowTool?: string[];
  key?: string;
}

export const run = async (context: Context, flags: RunFlags, [agent, ...words]: string[]): Promise<ExitName> => {
  const chat = flags.chat === true || flags.session !== undefined;
  if (chat && flags.resume !== undefined)
    throw usage('--resume names a session of the CLI; --chat and --session name one of Drover. Give one of them.');
  if (flags.async === true && flags.wait !== undefined) throw usage('--async does not wait: leave --wait out.');
  const message = await messageOf(context, words);
  const id = await submit(context, agent!, message, flags, chat);
  if (flags.async === true) {
    if (context.json) printJson(context, { execution_id: id, agent_name: agent, status: 'accepted' });
    else context.terminal.out(`${id}\n`);
    return 'ok';
  }
  const watched =
    context.connection().calls === null
      ? await watch(context, id, { waitMs: flags.wait === undefined ? null : flags.wait * 1000 })
      : await waitedFor(context, id);
  return told(context, id, watched);
};

/** Until it ends, or `waitMs` is over: what it says, its ending, and the exit code of that. */
export const follow = async (context: Context, id: string, waitMs: number | null): Promise<ExitName> =>
  told(context, id, await watch(context, id, { waitMs }));

const messageOf = async (context: Context, words: string[]): Promise<string> => {
  const { terminal } = context;
  const fromStdin = words.length === 1 && words[0] === '-';
  if (words.length > 0 && !fromStdin) return words.join(' ');
  if (!fromStdin && terminal.inIsTty)
    throw usage('There is no message.', 'drover run AGENT "what to do", or pipe it: drover run AGENT - < task.md');
  const parts: Buffer[] = [];
  for await (const part of terminal.stdin) parts.push(Buffer.from(part));
  const text = Buffer.concat(parts).toString('utf8');
  if (text.trim() === '') throw usage('The message on stdin is empty.');
  return text;
};

/** Tries of one submit whose answer was lost: the key makes them one execution. */
const submitTries = 5;

/** The same for a call of an agent: a server that does not come back for this long is not restarting. */
const callAwayMs = 10 * 60_000;
/** A server that restarts is back within a blink; its callers do not crowd it. */
const lostMs = 500;

const submit = async (context: Context, agent: string, message: string, flags: RunFlags, chat: boolean) => {
  const body = {
    message,
    ...(flags.timeout === undefined ? {} : { timeout_seconds: flags.timeout }),
    ...(flags.model === undefined ? {} : { model: flags.model }),
    ...(flags.maxTurns === undefined ? {} : { max_turns: flags.maxTurns }),
    ...(flags.systemPrompt === undefined ? {} : { system_prompt: flags.systemPrompt }),
    ...(flags.allowTool === undefined ? {} : { allowed_tools: flags.allowTool }),
    ...(flags.resume === undefined ? {} : { resume_session_id: flags.resume }),
    ...(flags.session === undefined ? {} : { session: flags.session }),
  };
  const idempotencyKey = flags.key ?? context.key();
  const { calls } = context.connection();
  const call = calls !== null && flags.async !== true;
  const options = call
    ? { idempotencyKey, unbounded: true as const, ...(flags.wait === undefined ? {} : { waitS: flags.wait }) }
    : { idempotencyKey, waitS: 0 };
  let lostSince: number | null = null;
  for (let tries = 1; ; tries++) {
    const asked = context.now();
    try {
      const api = call ? calls : context.connection().api;
      const answer = chat
        ? await api.chat(agent, body, options)
        : await api.task(agent, flags.async === true ? { ...body, async_mode: true } : body, options);
      if (answer.execution_id !== null) return answer.execution_id;
      throw new ApiError('The server accepted the work and gave no id.', { status: 500, code: 'internal' });
    } catch (e) {
      if (!(e instanceof ApiError)) throw e;
      // It ended within the request, badly: the row tells the whole of it.
      if (e.executionId !== null && e.code !== 'idempotency_conflict') return e.executionId;
      const soon = e.code === 'not_ready' || e.code === 'shutting_down';
      if (call) {
        // A line that stood for a while was a good one: its loss begins now.
        if (lostSince === null || context.now() - asked > lostMs) lostSince = context.now();
        // Not in our words: something on the way says that the server is not there.
        if (!(soon || e.status === 0 || (e.status >= 502 && e.code === `http_${e.status}`))) throw e;
        if (context.now() - lostSince > callAwayMs) throw e;
        await context.pause(lostMs);
        continue;
      }
      const lost = e.status === 0 && !neverSent(e);
      if (tries >= submitTries || !(lost || soon)) throw e;
      await context.pause(e.retryAfterMs ?? 250 * 2 ** tries);
    }
  }
};

/** A call that has been answered: ended, or its `--wait` is over. */
const waitedFor = async (context: Context, id: string): Promise<Watched> => {
  const row = await context.connection().api.execution(id);
  return isTerminal(row.status) ? { kind: 'ended', row, lastText: null } : { kind: 'out_of_wait', row };
};

/** Nothing listens there: saying so at once is better than trying. */
const neverSent = (e: ApiError): boolean => {
  for (let c: unknown = e.cause, depth = 0; c instanceof Error && depth < 4; c = c.cause, depth++)
    if (['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH'].includes(String((c as { code?: unknown }).code))) return true;
  return false;
};

const told = (context: Context, id: string, watched: Watched): ExitName => {
  const { terminal } = context;
  if (watched.kind !== 'ended') {
    if (context.json) printJson(context, watched.row ?? { id, status: null });
    const why = watched.kind === 'detached' ? 'Stopped watching' : 'The wait is over';
    terminal.err(`${why}; ${id} goes on. See it: drover logs -f ${id}; stop it: drover cancel ${id}\n`);
    return watched.kind === 'detached' ? 'interrupted' : 'still_running';
  }
  const { row } = watched;
  if (context.json) printJson(context, row);
  else {
    answer(context, row, watched.lastText);
    terminal.err(endingLines(row, terminal));
  }
  return exitOfEnding(row);
};

/** On a screen the answer was the last thing shown; in a pipe it is the only thing. */
const answer = (context: Context, row: ExecutionBody, lastText: string | null): void => {
  if (row.response === null || row.response === '') return;
  const text = plain(row.response).trimEnd();
  const seen =
    context.terminal.outIsTty && context.terminal.errIsTty && lastText !== null && text === lastText.trimEnd();
  if (!seen) context.terminal.out(`${context.terminal.outIsTty ? text : row.response.trimEnd()}\n`);
};
