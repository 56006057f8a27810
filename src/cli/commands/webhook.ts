/** `drover webhook …`: the address is shown once; a secret comes on stdin and nowhere else, because argv is read by others. */
import { text } from 'node:stream/consumers';
import type { WebhookBody } from '../../client/day-wire.ts';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { CliFailure, usage } from '../failure.ts';
import { onlyHere } from '../loopback.ts';
import { age } from '../show/durations.ts';
import { table } from '../show/table.ts';
import { oneLine } from '../terminal.ts';

const under = (agent: string, rest = '') => `/api/agents/${encodeURIComponent(agent)}/webhooks${rest}`;
const all = async (context: Context, agent: string): Promise<WebhookBody[]> =>
  (await context.connection().api.request<WebhookBody[]>(under(agent))).body;

export const list = async (context: Context, _: object, [agent]: string[]): Promise<ExitName> => {
  const hooks = await all(context, agent!);
  if (context.json) printJson(context, hooks);
  else if (hooks.length === 0) context.terminal.out(`None. drover webhook add ${agent} NAME MESSAGE\n`);
  else
    context.terminal.out(
      table(
        context.terminal,
        ['NAME', 'STATE', 'SIGNED', 'TOKEN', 'LAST CALL', 'MESSAGE'],
        hooks.map((h) => [
          h.name,
          h.enabled ? 'on' : 'off',
          h.signed ? 'yes' : 'no',
          `${h.token_prefix}…`,
          h.last_called_at === null ? '–' : `${age(h.last_called_at, context.now())} ago`,
          oneLine(h.message, 200),
        ]),
      ),
    );
  return 'ok';
};

export const add = async (
  context: Context,
  o: { secretFromStdin?: boolean; perMinute?: number },
  [agent, name, ...words]: string[],
): Promise<ExitName> => {
  const { terminal } = context;
  if (words.length === 0)
    throw usage('What is the agent to do when it is called? drover webhook add AGENT NAME MESSAGE');
  if (o.secretFromStdin && terminal.inIsTty)
    throw usage(
      'The secret is read from stdin.',
      'openssl rand -hex 32 | tee secret | drover webhook add … --secret-from-stdin',
    );
  const secret = o.secretFromStdin ? (await text(terminal.stdin as AsyncIterable<Buffer>)).trim() : undefined;
  const { api, url } = context.connection();
  const { body } = await api.request<WebhookBody & { path: string }>(under(agent!), {
    method: 'POST',
    json: { name, message: words.join(' '), secret, max_per_minute: o.perMinute },
  });
  if (context.json) printJson(context, { ...body, url: url + body.path });
  else {
    terminal.out(`POST ${url}${body.path}\n`);
    terminal.err(
      `Shown once: whoever has this address can give the agent work. Keep it as a secret.\n${onlyHere(url)}`,
    );
  }
  return 'ok';
};

export const remove = async (context: Context, _: object, [agent, name]: string[]): Promise<ExitName> => {
  const hook = (await all(context, agent!)).find((h) => h.name === name || h.id === name);
  if (hook === undefined)
    throw new CliFailure('not_found', `${agent} has no webhook "${oneLine(name!, 80)}".`, [
      `See drover webhook ls ${agent}.`,
    ]);
  const { body } = await context
    .connection()
    .api.request<{ message: string }>(under(agent!, `/${hook.id}`), { method: 'DELETE' });
  if (context.json) printJson(context, body);
  else context.terminal.out(`${body.message}\n`);
  return 'ok';
};
