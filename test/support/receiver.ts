/** A receiver of notifications on loopback: keeps what came, and answers as it is told to. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** How the next requests are answered; `null` = not at all. */
  answer: ((response: ServerResponse) => void) | null;
  close(): void;
}

/** `port`: 0 = any free one. */
export const openReceiver = async (port = 0): Promise<Receiver> => {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (d) => {
      text += d;
    });
    request.on('end', () => {
      received.push({ path: request.url!, headers: request.headers, text });
      receiver.answer?.(response);
    });
  });
  await new Promise<void>((ready) => server.listen(port, '127.0.0.1', ready));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (response) => void response.writeHead(204).end(),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return receiver;
};
