/**
 * The program that an agent's CLI starts as its MCP server: stdio on one side, POST /mcp on the other. It stands in the CLI's own
 * process tree, so it lives through every restart of the server, and each call carries an id of its own: a line that breaks is
 * drawn again, and the call joins the wait that there is (F12). It gives a call up only when the CLI says so, or is gone.
 *
 * `mcp-bridge.cjs FILE`: FILE holds `{url, token}` and is read again before each delivery, since a server may come back on
 * another port. The token is never an argument and never leaves but as a header.
 */
import { readFileSync } from 'node:fs';
import { createParser } from 'eventsource-parser';
import { hashedBackoff } from '../kernel/backoff.ts';
import { systemClock } from '../kernel/clock.ts';
import { post } from './post.ts';

interface Message {
  jsonrpc: '2.0';
  id?: string | number;
  method?: string;
  params?: { requestId?: string | number };
  result?: unknown;
  error?: { code: number; message: string };
}

/** From a blink, so that a restart of the server (0.3 s) is hardly seen, to five seconds. */
const firstMs = 200;
const mostMs = 5_000;
/** A CLI that has closed its side waits for us no longer than this. */
const farewellMs = 2_000;

const clock = systemClock();
/** Of the bridges that one execution has had, this one: nobody else can use its ids. `node:crypto` alone would take 4 ms to load. */
const own = `${process.pid}-${clock.now()}`;
const [file = ''] = process.argv.slice(2);
/** Calls under way, by the CLI's own id. */
const calls = new Map<string | number, { callId: string; gone: AbortController }>();

const line = (): { url: string; token: string } => JSON.parse(readFileSync(file, 'utf8'));
const say = (message: Message) => void process.stdout.write(`${JSON.stringify(message)}\n`);

class Refused extends Error {}

const textOf = async (body: AsyncIterable<string>): Promise<string> => {
  let text = '';
  for await (const part of body) text += part;
  return text;
};

/** One delivery; true once the answer to `message` has come. Throws Refused when asking again changes nothing. */
const deliver = async (message: Message, callId: string | null, signal: AbortSignal): Promise<boolean> => {
  const { url, token } = line();
  const { status, type, body } = await post(
    new URL('/mcp', url),
    {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      ...(callId === null ? {} : { 'x-drover-call-id': callId }),
    },
    JSON.stringify(message),
    signal,
  );
  if (status >= 500 || status === 429) {
    body.resume();
    return false;
  }
  if (status < 200 || status >= 300)
    throw new Refused(`The server refused (${status}): ${(await textOf(body)).slice(0, 500)}`);
  let answered = message.id === undefined;
  const pass = (text: string) => {
    const said = JSON.parse(text) as Message;
    if (said.id === message.id && (said.result !== undefined || said.error !== undefined)) answered = true;
    say(said);
  };
  if (!type.includes('text/event-stream')) {
    const text = await textOf(body);
    if (text.trim() !== '') pass(text);
    return answered;
  }
  const parser = createParser({
    onEvent: ({ data }) => {
      // A stream begins with an empty event, from which it could be resumed.
      if (data !== '') pass(data);
    },
  });
  for await (const part of body) parser.feed(part);
  return answered;
};

const untilDelivered = async (message: Message, callId: string | null, signal: AbortSignal): Promise<void> => {
  for (let failures = 1; ; failures++) {
    try {
      if (await deliver(message, callId, signal)) return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refused) {
        if (message.id !== undefined)
          say({ jsonrpc: '2.0', id: message.id, error: { code: -32001, message: error.message } });
        return;
      }
    }
    await clock.sleep(hashedBackoff(callId ?? own, Math.min(failures, 6), firstMs, mostMs), signal).catch(() => {});
    if (signal.aborted) return;
  }
};

const ask = async (message: Message): Promise<void> => {
  const id = message.id!;
  const call = { callId: `${own}:${String(id).replace(/[^\w.-]/g, '_')}`, gone: new AbortController() };
  calls.set(id, call);
  try {
    await untilDelivered(message, message.method === 'tools/call' ? call.callId : null, call.gone.signal);
  } finally {
    calls.delete(id);
  }
};

/** In this order: the word first, so that the server does not take the broken line for one that is drawn again. */
const giveUp = async (id: string | number, signal: AbortSignal): Promise<void> => {
  const call = calls.get(id);
  if (call === undefined) return;
  const cancelled: Message = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } };
  const told = untilDelivered(cancelled, call.callId, signal);
  call.gone.abort();
  await told;
};

const never = new AbortController().signal;
const take = (text: string): void => {
  let message: Message;
  try {
    message = JSON.parse(text);
  } catch {
    say({ jsonrpc: '2.0', error: { code: -32700, message: 'That line is not JSON.' } });
    return;
  }
  if (message.method === 'notifications/cancelled' && message.params?.requestId !== undefined)
    void giveUp(message.params.requestId, never);
  else if (message.id !== undefined && message.method !== undefined) void ask(message);
  else if (message.method !== undefined) void untilDelivered(message, null, never);
};

process.stdout.on('error', () => process.exit(0));
// By hand: `node:readline` takes 2 ms to load.
let rest = '';
process.stdin
  .setEncoding('utf8')
  .on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const one of lines) if (one.trim() !== '') take(one);
  })
  .on('end', () => {
    const farewell = new AbortController();
    clock.after(farewellMs, () => farewell.abort());
    void Promise.all([...calls.keys()].map((id) => giveUp(id, farewell.signal))).then(() => process.exit(0));
  });
