/** `drover creds …`: what agents may log in with. A secret comes on stdin and nowhere else: argv and files are read by others. */
import { text } from 'node:stream/consumers';
import type { CredentialKind } from '../../contract/credential.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { usage } from '../failure.ts';
import { age } from '../show/durations.ts';
import { table } from '../show/table.ts';

export const add = async (
  context: Context,
  options: { kind?: CredentialKind; pool?: string; maxParallel?: number },
  [name]: string[],
): Promise<ExitName> => {
  const { terminal } = context;
  const kind = options.kind ?? 'anthropic_api_key';
  let token: string | undefined;
  if (kind !== 'host_login') {
    if (terminal.inIsTty)
      throw usage(
        'The secret is read from stdin.',
        `printenv NAME_OF_VARIABLE | drover creds add ${name} --kind ${kind}`,
        'Or from a file: drover creds add … < file',
      );
    const read = await text(terminal.stdin as AsyncIterable<Buffer>);
    token = kind === 'env' ? read : read.trim();
    if (token === '') throw usage('Nothing came on stdin.', 'Is the variable or the file empty?');
  }
  const made = await context
    .connection()
    .api.addCredential({ name: name!, kind, token, pool: options.pool, max_parallel: options.maxParallel });
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
      ['NAME', 'KIND', 'STATE', 'UNTIL', 'RUNS', 'USED', 'LAST EVIDENCE'],
      all.map((c) => [
        c.name,
        c.kind,
        { text: c.state, colour: c.state === 'ok' ? 'green' : c.state === 'unknown' ? 'dim' : 'red' },
        c.until ?? '–',
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
