/**
 * One POST of the bridge and its answer as it comes. By Node's own client: a CLI waits for the bridge before its first turn, and
 * `fetch` alone takes 65 ms of that to load. Rejects when the server is not reached; the answer throws when its line breaks.
 */
import * as http from 'node:http';

interface Answer {
  status: number;
  type: string;
  /** Pieces of text; read to the end or destroyed. */
  body: http.IncomingMessage;
}

const agent = new http.Agent({ keepAlive: true });
/** Loaded only where a runner speaks to its server over TLS. */
const senderFor = async (url: URL) => {
  if (url.protocol !== 'https:') return { request: http.request, agent };
  const https = await import('node:https');
  return { request: https.request, agent: https.globalAgent };
};

export const post = async (
  url: URL,
  headers: Record<string, string>,
  text: string,
  signal: AbortSignal,
): Promise<Answer> => {
  const sender = await senderFor(url);
  return new Promise((resolve, reject) => {
    const request = sender.request(
      url,
      {
        method: 'POST',
        agent: sender.agent,
        signal,
        headers: { ...headers, 'content-length': String(Buffer.byteLength(text)) },
      },
      (answer) => {
        answer.setEncoding('utf8');
        resolve({ status: answer.statusCode ?? 0, type: answer.headers['content-type'] ?? '', body: answer });
      },
    );
    request.on('error', reject);
    request.end(text);
  });
};
