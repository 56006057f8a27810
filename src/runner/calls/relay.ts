/**
 * One MCP client of one attempt, as messages: what its CLI says goes to POST /mcp in the name of its execution, what comes back is
 * said. Each call carries an id of its own: a line that breaks is drawn again, and the call joins the wait that there is (F12). It
 * gives a call up only when the CLI says so, or has hung up.
 */
import type { IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import { hashedBackoff } from '../../kernel/backoff.ts';
import type { Clock } from '../../kernel/clock.ts';

export type MessageId = string | number;
interface Message {
  jsonrpc: '2.0';
  id?: MessageId;
  method?: string;
  params?: { requestId?: MessageId };
  result?: unknown;
  error?: { code: number; message: string };
}

/** From a blink, so that a restart of the server (0.3 s) is hardly seen, to five seconds. */
const firstMs = 200;
const mostMs = 5_000;
/** A CLI that has hung up waits for us no longer than this. */
const farewellMs = 2_000;

export interface RelayParts {
  send(text: string, callId: string | null, signal: AbortSignal): Promise<IncomingMessage>;
  /** Of all clients that the executions of this fleet have had, this one: nobody else can use its ids. */
  own: string;
  clock: Clock;
  say(message: object): void;
}

export interface Relay {
  /**
   * What the CLI has said, a line each. `answered`: ids that an earlier runner has answered already; what it has not answered is
   * asked again under the same call id.
   */
  take(lines: readonly string[], answered?: ReadonlySet<MessageId>): void;
  /** The CLI is gone: gives up what it waits for. */
  hangUp(): Promise<void>;
  /** Cuts every line and gives nothing up: the next runner goes on. */
  close(): void;
}

/** The id of a call that this message answers, or null. */
export const answeredBy = (text: string): MessageId | null => {
  const said = parse(text);
  return said?.id !== undefined && isAnswer(said) ? said.id : null;
};
const isAnswer = (m: Message): boolean => m.result !== undefined || m.error !== undefined;
const parse = (text: string): Message | null => {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
};

class Refused extends Error {}

const textOf = async (body: AsyncIterable<string>): Promise<string> => {
  let text = '';
  for await (const part of body) text += part;
  return text;
};

export const startRelay = ({ send, own, clock, say }: RelayParts): Relay => {
  /** Whatever is under way, to be cut. */
  const open = new Set<AbortController>();
  /** Calls under way, by the CLI's own id. */
  const calls = new Map<MessageId, AbortController>();
  const callIdOf = (id: MessageId) => `${own}:${String(id).replace(/[^\w.-]/g, '_')}`;

  /** One delivery; true once the answer to `message` has come. Throws Refused when asking again changes nothing. */
  const deliver = async (message: Message, callId: string | null, signal: AbortSignal): Promise<boolean> => {
    const answer = (await send(JSON.stringify(message), callId, signal)).setEncoding('utf8');
    const status = answer.statusCode ?? 0;
    if (status >= 500 || status === 429) {
      answer.resume();
      return false;
    }
    if (status < 200 || status >= 300)
      throw new Refused(`The server refused (${status}): ${(await textOf(answer)).slice(0, 500)}`);
    let answered = message.id === undefined;
    const pass = (text: string) => {
      const said = JSON.parse(text) as Message;
      if (said.id === message.id && isAnswer(said)) answered = true;
      say(said);
    };
    if (!answer.headers['content-type']?.includes('text/event-stream')) {
      const text = await textOf(answer);
      if (text.trim() !== '') pass(text);
      return answered;
    }
    const parser = createParser({
      onEvent: ({ data }) => {
        // A stream begins with an empty event, from which it could be resumed.
        if (data !== '') pass(data);
      },
    });
    for await (const part of answer) parser.feed(part);
    return answered;
  };

  const untilDelivered = async (message: Message, callId: string | null, cut: AbortController): Promise<void> => {
    const { signal } = cut;
    open.add(cut);
    try {
      for (let failures = 1; !signal.aborted; failures++) {
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
      }
    } finally {
      open.delete(cut);
    }
  };

  const ask = async (message: Message, id: MessageId): Promise<void> => {
    const cut = new AbortController();
    calls.set(id, cut);
    await untilDelivered(message, message.method === 'tools/call' ? callIdOf(id) : null, cut);
    calls.delete(id);
  };

  /** In this order: the word first, so that the server does not take the broken line for one that is drawn again. */
  const giveUp = async (id: MessageId, cut = new AbortController()): Promise<void> => {
    const word: Message = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } };
    const told = untilDelivered(word, callIdOf(id), cut);
    calls.get(id)?.abort();
    await told;
  };

  const given = (m: Message): MessageId | undefined =>
    m.method === 'notifications/cancelled' ? m.params?.requestId : undefined;
  return {
    take(lines, answered = new Set()) {
      const messages = lines.filter((text) => text.trim() !== '').map(parse);
      const givenUp = new Set(messages.map((m) => m && given(m)));
      for (const message of messages) {
        if (message === null) {
          say({ jsonrpc: '2.0', error: { code: -32700, message: 'That line is not JSON.' } });
          continue;
        }
        const { id, method } = message;
        const over = given(message);
        if (over !== undefined) {
          if (!answered.has(over)) void giveUp(over);
        } else if (method === undefined) continue;
        else if (id === undefined) void untilDelivered(message, null, new AbortController());
        else if (!answered.has(id) && !givenUp.has(id)) void ask(message, id);
      }
    },
    async hangUp() {
      const farewell = new AbortController();
      clock.after(farewellMs, () => farewell.abort());
      await Promise.all([...calls.keys()].map((id) => giveUp(id, farewell)));
    },
    close() {
      for (const cut of open) cut.abort();
    },
  };
};
