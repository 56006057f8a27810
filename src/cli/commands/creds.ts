/** `drover creds …`: what agents may log in with. A secret comes on stdin and nowhere else: argv and files are read by others. */
import { text } from 'node:stream/consumers';
import type { CredentialBody } from '../../client/wire.ts';
import type { CredentialKind } from '../../contract/credential.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { usage } from '../failure.ts';
import { age } from '../show/durations.ts';
import { table } from '../show/table.ts';

/** From stdin alone. */
const secret = async ({ terminal }: Context, kind: CredentialKind | null, command: string): Promise<string> => {
  if (terminal.inIsTty)
    throw usage(
      'The secret is read from stdin.',
      `printenv NAME_OF_VARIABLE | drover ${command}`,
      `Or from a file: drover ${command} < file`,
    );
  const read = await text(terminal.stdin as AsyncIterable<Buffer>);
  const token = kind === 'env' ? read : read.trim();
  if (token === '') throw usage('Nothing came on stdin.', 'Is the variable or the file empty?');
  return token;
};

/** On stderr, so that `--json` stays JSON. */
const warn = ({ terminal }: Context, { warning, name }: CredentialBody): void => {
  if (warning !== undefined) terminal.err(`${name}: ${warning} (drover creds replace ${name})\n`);
};

export const replace = async (context: Context, _: object, [name]: string[]): Promise<ExitName> => {
  const token = await secret(context, null, `creds replace ${name}`);
  const made = await context.connection().api.changeCredential(name!, { token });
  warn(context, made);
  if (context.json) printJson(context, made);
  else
    context.terminal.out(`${made.name} has a new secret. It counts from the next run on; waiting work goes on now.\n`);
  return 'ok';
};

export const change = async (
  context: Context,
  options: { pool?: string; maxParallel?: number },
  [name]: string[],
): Promise<ExitName> => {
  if (options.pool === undefined && options.maxParallel === undefined)
    throw usage('Nothing to change.', 'Give --pool TAG or --max-parallel N.');
  const pool = options.pool === undefined ? undefined : options.pool === '' ? null : options.pool;
  const made = await context.connection().api.changeCredential(name!, { pool, max_parallel: options.maxParallel });
  if (context.json) printJson(context, made);
  else context.terminal.out(`${made.name}: pool ${made.pool ?? '–'}, at once ${made.max_parallel ?? 'no bound'}.\n`);
  return 'ok';
};

export const events = async (context: Context): Promise<ExitName> => {
  const { api } = context.connection();
  const all = (await api.request<CredentialEventBody[]>('/api/subscriptions/events')).body;
  if (context.json) {
    printJson(context, all);
    return 'ok';
  }
  const names = new Map((await api.credentials()).map((c) => [c.id, c.name]));
  context.terminal.out(
    all.length === 0
      ? 'No provider has said anything against a credential.\n'
      : table(
          context.terminal,
          ['AT', 'CREDENTIAL', 'AGENT', 'CAUSE', 'EFFECT', 'EVIDENCE'],
          all.map((e) => [
            e.at,
            names.get(e.credential_id) ?? e.credential_id,
            e.agent_name,
            e.cause,
            e.effect ?? '–',
            e.evidence,
          ]),
        ),
  );
  return 'ok';
};

interface CredentialEventBody {
  at: string;
  credential_id: string;
  agent_name: string;
  cause: string;
  effect: string | null;
  evidence: string;
}

/** The fullest window of a plan, and how many runs the provider bears at present. */
const headroomText = (c: CredentialBody): string => {
  const used = (c.headroom?.windows ?? []).flatMap((w) => (w.utilization === null ? [] : [w.utilization]));
  const left = used.length === 0 ? '–' : `${Math.max(0, Math.round((1 - Math.max(...used)) * 100))} %`;
  return c.pace === null ? left : `${left}, ${c.pace} at once`;
};

export const add = async (
  context: Context,
  options: { kind?: CredentialKind; pool?: string; maxParallel?: number },
  [name]: string[],
): Promise<ExitName> => {
  const { terminal } = context;
  const kind = options.kind ?? 'anthropic_api_key';
  const token = kind === 'host_login' ? undefined : await secret(context, kind, `creds add ${name} --kind ${kind}`);
  const made = await context
    .connection()
    .api.addCredential({ name: name!, kind, token, pool: options.pool, max_parallel: options.maxParallel });
  warn(context, made);
  if (context.json) printJson(context, made);
  else
    terminal.out(
      `Stored ${made.name} (${made.kind}), sealed. Agents of its kind draw from it from their next run on.\n`,
    );
  return 'ok';
};

export const list = async (context: Context): Promise<ExitName> => {
  const { terminal } = context;
  const all = await context.connection().api.credentials();
  if (context.json) {
    printJson(context, all);
    return 'ok';
  }
  if (all.length === 0) {
    terminal.out(
      'No credential is stored: agents use the login that their CLI has on the host.\n' +
        'Store one: printenv ANTHROPIC_API_KEY | drover creds add NAME\n',
    );
    return 'ok';
  }
  terminal.out(
    table(
      terminal,
      ['NAME', 'KIND', 'POOL', 'STATE', 'UNTIL', 'LEFT', 'RUNS', 'USED', 'LAST EVIDENCE'],
      all.map((c) => [
        c.name,
        c.kind,
        c.pool ?? '–',
        { text: c.state, colour: c.state === 'ok' ? 'green' : c.state === 'unknown' ? 'dim' : 'red' },
        c.until ?? '–',
        headroomText(c),
        String(c.running),
        c.last_used_at === null ? 'never' : `${age(c.last_used_at, context.now())} ago`,
        c.last_evidence ?? '–',
      ]),
    ),
  );
  return 'ok';
};

export const remove = async (context: Context, _: object, [name]: string[]): Promise<ExitName> => {
  const answer = await context.connection().api.deleteCredential(name!);
  if (context.json) printJson(context, answer);
  else context.terminal.out(`${answer.message}\n`);
  return 'ok';
};
