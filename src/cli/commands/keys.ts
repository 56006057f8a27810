/** `drover keys …`: what programs sign in with. A key is shown once, alone on stdout, so that it can go straight into a file. */
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { CliFailure, usage } from '../failure.ts';
import { age } from '../show/durations.ts';
import { table } from '../show/table.ts';
import { oneLine } from '../terminal.ts';

interface KeyBody {
  id: string;
  name: string;
  key_prefix: string;
  scope: string;
  agent_name: string | null;
  is_active: boolean;
  created_at: string;
  last_used_at: string | null;
  description: string | null;
}

const base = '/api/mcp/keys';
const all = async (context: Context): Promise<KeyBody[]> =>
  (await context.connection().api.request<KeyBody[]>(base)).body;

export const list = async (context: Context, o: { all?: boolean }): Promise<ExitName> => {
  const keys = (await all(context)).filter((k) => o.all || k.is_active);
  const { terminal } = context;
  const ago = (at: string) => `${age(at, context.now())} ago`;
  if (context.json) printJson(context, keys);
  else if (keys.length === 0)
    terminal.out(
      `No key${o.all ? '' : ' that works'}. The CLI needs none on this machine; for a program: drover keys add NAME\n`,
    );
  else
    terminal.out(
      table(
        terminal,
        ['NAME', 'KEY', 'OF', 'STATE', 'MADE', 'LAST USED', 'ID', 'FOR'],
        keys.map((k) => [
          k.name,
          `${k.key_prefix}…`,
          k.scope === 'agent' ? `agent ${k.agent_name ?? '(removed)'}` : 'a person',
          k.is_active ? 'works' : 'revoked',
          ago(k.created_at),
          k.last_used_at === null ? 'never' : ago(k.last_used_at),
          k.id,
          k.description ?? '–',
        ]),
      ),
    );
  return 'ok';
};

export const add = async (
  context: Context,
  o: { agent?: string; description?: string },
  [name]: string[],
): Promise<ExitName> => {
  const { api, url } = context.connection();
  const { body } = await api.request<KeyBody & { key: string }>(base, {
    method: 'POST',
    json: { name, description: o.description, agent_name: o.agent },
  });
  if (context.json) printJson(context, body);
  else {
    context.terminal.out(`${body.key}\n`);
    context.terminal.err(
      `Shown once; it may what ${body.agent_name === null ? 'you' : `the agent ${body.agent_name}`} may. Used as DROVER_SERVER_URL=${url} DROVER_TOKEN=…, or as Authorization: Bearer.\n`,
    );
  }
  return 'ok';
};

export const revoke = async (context: Context, _: object, [which]: string[]): Promise<ExitName> => {
  const key = await find(context, which!);
  return end(context, `${base}/${key.id}/revoke`, 'POST');
};

export const remove = async (context: Context, _: object, [which]: string[]): Promise<ExitName> => {
  const key = await find(context, which!);
  return end(context, `${base}/${key.id}`, 'DELETE');
};

const end = async (context: Context, path: string, method: 'POST' | 'DELETE'): Promise<ExitName> => {
  const { body } = await context.connection().api.request<{ message: string }>(path, { method });
  if (context.json) printJson(context, body);
  else context.terminal.out(`${body.message}\n`);
  return 'ok';
};

/** By id, name, or its beginning (a whole key, too: whoever found one lying about has just that). Names may be given twice. */
const find = async (context: Context, which: string): Promise<KeyBody> => {
  const keys = await all(context);
  const named = keys.filter((k) => k.name === which && k.is_active);
  const found =
    keys.find((k) => k.id === which) ?? (named.length > 0 ? null : keys.find((k) => which.startsWith(k.key_prefix)));
  if (found) return found;
  if (named.length === 1) return named[0]!;
  if (named.length > 1)
    throw usage(
      `${named.length} keys are named "${oneLine(which, 80)}". Say which by its id: ${named.map((k) => `${k.id} (${k.key_prefix}…)`).join(', ')}.`,
    );
  // What was typed may be a whole key: it is not repeated.
  throw new CliFailure('not_found', 'There is no key of that name, id or beginning that works.', [
    'See drover keys ls --all.',
  ]);
};
