/** A reader of server-sent events over a real connection that can also stop reading, as a slow client does. */
import { type IncomingMessage, request } from 'node:http';

interface SseMessage {
  id: string | null;
  event: string | null;
  data: string;
}

export interface SseReader {
  status: number;
  headers: IncomingMessage['headers'];
  messages: SseMessage[];
  /** Resolves when at least `count` messages are there, or the line has ended. */
  until(count: number): Promise<void>;
  /** Resolves when the server ended the line, or it was cut. */
  ended: Promise<void>;
  pause(): void;
  resume(): void;
  leave(): void;
}

export const readSse = (url: string, headers: Record<string, string>): Promise<SseReader> =>
  new Promise((resolve, reject) => {
    const asked = request(url, { headers, agent: false }, (response) => {
      const messages: SseMessage[] = [];
      let wake = () => {};
      let over = false;
      let rest = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        const blocks = (rest + text).split('\n\n');
        rest = blocks.pop()!;
        for (const block of blocks) {
          const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1] ?? null;
          const data = field('data');
          if (data !== null) messages.push({ id: field('id'), event: field('event'), data });
        }
        wake();
      });
      const ended = new Promise<void>((done) => {
        response.on('error', () => {});
        response.on('close', () => {
          over = true;
          wake();
          done();
        });
      });
      resolve({
        status: response.statusCode!,
        headers: response.headers,
        messages,
        ended,
        until: async (count) => {
          while (messages.length < count && !over)
            await new Promise<void>((again) => {
              wake = again;
            });
        },
        pause: () => void response.pause(),
        resume: () => void response.resume(),
        leave: () => void asked.destroy(),
      });
    });
    asked.on('error', reject);
    asked.end();
  });
