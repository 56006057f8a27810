/** `drover people …`: who may sign in and as what. A password is chosen by its person alone, by the link of an invitation. */
import type { InviteBody, PersonBody } from '../../client/day-wire.ts';
import type { Ask } from '../../client/request.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { onlyHere } from '../loopback.ts';
import { table } from '../show/table.ts';

const ask = async <T>(context: Context, path: string, o: Ask = {}): Promise<T> =>
  (await context.connection().api.request<T>(path, o)).body;

export const list = async (context: Context): Promise<ExitName> => {
  const [people, invites] = await Promise.all([
    ask<PersonBody[]>(context, '/api/users'),
    ask<InviteBody[]>(context, '/api/users/invites'),
  ]);
  const open = invites.filter((i) => i.status === 'open');
  if (context.json) {
    printJson(context, { people, invites: open });
    return 'ok';
  }
  const { terminal } = context;
  terminal.out(
    table(
      terminal,
      ['NAME', 'ROLE', 'ADDRESS'],
      people.map((p) => [p.username, p.role, p.email ?? '–']),
    ),
  );
  for (const i of open) terminal.out(`invited: ${i.username ?? 'anybody'} as ${i.role}, until ${i.expires_at}\n`);
  return 'ok';
};

export const invite = async (
  context: Context,
  o: { role?: string; name?: string; hours?: number },
): Promise<ExitName> => {
  const { url } = context.connection();
  const made = await ask<InviteBody & { path: string }>(context, '/api/users/invites', {
    method: 'POST',
    json: { role: o.role, username: o.name, expires_in_hours: o.hours },
  });
  if (context.json) printJson(context, { ...made, url: url + made.path });
  else {
    context.terminal.out(`${url}${made.path}\n`);
    context.terminal.err(
      `To be opened in a browser. Works once, until ${made.expires_at}; whoever has it gets in as ${made.role}.\n${onlyHere(url)}`,
    );
  }
  return 'ok';
};

export const role = async (context: Context, _: object, [name, to]: string[]): Promise<ExitName> => {
  const person = await ask<PersonBody>(context, `/api/users/${encodeURIComponent(name!)}`, {
    method: 'PUT',
    json: { role: to },
  });
  if (context.json) printJson(context, person);
  else context.terminal.out(`${person.username} is ${person.role}, and has to sign in again.\n`);
  return 'ok';
};

export const remove = async (context: Context, _: object, [name]: string[]): Promise<ExitName> => {
  const done = await ask<{ message: string }>(context, `/api/users/${encodeURIComponent(name!)}`, { method: 'DELETE' });
  if (context.json) printJson(context, done);
  else context.terminal.out(`${done.message}\n`);
  return 'ok';
};
