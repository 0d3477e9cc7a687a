/** Somebody's webhook on loopback: keeps what it gets, and answers as a test says. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Got {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly askId: string;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** 'hang': no answer at all. */
export type Answer = Reply | 'hang';

export interface Receiver {
  readonly url: string;
  readonly got: readonly Got[];
  /** What to say to a request; default: 200. */
  answer: (got: Got) => Answer | Promise<Answer>;
  close(): Promise<void>;
}

const TAKEN: Reply = { status: 200 };

export async function startReceiver(port = 0): Promise<Receiver> {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      const { askId } = JSON.parse(body) as { readonly askId: string };
      const one = { headers: request.headers, body, askId };
      got.push(one);
      void Promise.resolve(receiver.answer(one)).then((answer) => {
        if (answer !== 'hang') response.writeHead(answer.status, answer.headers).end('so it is');
      });
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    got,
    answer: () => TAKEN,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}
