/**
 * A fetch for the one request that may be answered after hours: a call by which an execution waits for another. The platform's own
 * gives up on the headers after 300 s, and a line that goes away tells the server that the call is given up. This one waits as long
 * as it takes; when this process ends, however it ends, its line ends too.
 */
import * as http from 'node:http';
import * as https from 'node:https';

/** Often enough that no table of connections on the way forgets a line that is silent for hours. */
const keepAliveMs = 30_000;

export const longFetch: typeof fetch = (input, init) =>
  new Promise((resolve, reject) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const request = (url.protocol === 'https:' ? https : http).request(
      url,
      {
        method: init?.method ?? 'GET',
        headers: Object.fromEntries(new Headers(init?.headers)),
        ...(init?.signal && { signal: init.signal }),
        // A line of its own: nothing else waits behind it.
        agent: false,
      },
      (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () => {
          const headers = new Headers();
          for (const [name, value] of Object.entries(answer.headers))
            if (value !== undefined) headers.set(name, String(value));
          const status = answer.statusCode ?? 502;
          // Statuses that have no body refuse even an empty one.
          resolve(new Response(status === 204 || status === 304 ? null : Buffer.concat(parts), { status, headers }));
        });
      },
    );
    request.on('socket', (socket) => socket.setKeepAlive(true, keepAliveMs));
    request.on('error', reject);
    request.end(typeof init?.body === 'string' ? init.body : undefined);
  });
