/**
 * One request and its whole answer over kept connections, for the runner's own calls (its server, agents behind HTTP). Node's
 * own client: a larger one costs the runner 15 MB. Rejects with the code of the system (`ECONNREFUSED`: nothing was sent;
 * `ETIMEDOUT` before a connection, `EANSWER` when the answer stays out, `EANSWERSIZE` when it does not end); a redirect is an answer
 * like any other.
 */
import * as http from 'node:http';
import * as https from 'node:https';

export interface Ask {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body: string | null;
  signal: AbortSignal;
  /** Silence of this long ends the wait for an answer; 0 = as long as it takes. */
  answerMs: number;
}

export interface HttpClient {
  ask(url: string | URL, what: Ask): Promise<{ status: number; text: string }>;
  /** The answer as it comes: read to its end or destroyed; it throws when the line breaks. */
  open(url: string | URL, what: Ask): Promise<http.IncomingMessage>;
  /** Cuts what is under way. */
  close(): void;
}

/** A log of a service that was long at work has some MB; whatever never ends is cut off here. */
const longestAnswer = 64 * 1024 * 1024;

const failure = (code: string, message: string): Error => Object.assign(new Error(message), { code });

export const httpClient = (o: { connectMs: number; connections?: number }): HttpClient => {
  const options = { keepAlive: true, ...(o.connections !== undefined && { maxSockets: o.connections }) };
  const plain = new http.Agent(options);
  const secure = new https.Agent(options);
  const open: HttpClient['open'] = (to, what) =>
    new Promise((resolve, reject) => {
      const url = new URL(to);
      const tls = url.protocol === 'https:';
      const { method, signal, body } = what;
      const headers = body === null ? what.headers : { ...what.headers, 'content-length': Buffer.byteLength(body) };
      let connected = false;
      const request = (tls ? https : http).request(
        url,
        { method, headers, signal, agent: tls ? secure : plain, timeout: o.connectMs },
        resolve,
      );
      request.on('socket', (socket) => {
        const begin = () => {
          connected = true;
          socket.setTimeout(what.answerMs);
        };
        if (socket.connecting) socket.once(tls ? 'secureConnect' : 'connect', begin);
        else begin();
      });
      request.on('timeout', () =>
        request.destroy(
          connected
            ? failure('EANSWER', `no answer for ${what.answerMs / 1000} s`)
            : failure('ETIMEDOUT', `no connection within ${o.connectMs / 1000} s`),
        ),
      );
      request.on('error', reject);
      request.end(body ?? undefined);
    });
  return {
    open,
    async ask(to, what) {
      const answer = await open(to, what);
      const parts: Buffer[] = [];
      let bytes = 0;
      for await (const part of answer as AsyncIterable<Buffer>) {
        bytes += part.length;
        if (bytes > longestAnswer)
          throw failure('EANSWERSIZE', `the answer is longer than ${longestAnswer / 1024 / 1024} MB`);
        parts.push(part);
      }
      return { status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') };
    },
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
};
