/**
 * Where a login at the terminal comes back to: an address of this machine, for one answer.
 * Invariants: an answer of another login is refused and waited past; nothing that was sent is shown.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LoginAnswer } from '../../connectors/logins.js';
import { HoldfastError } from '../../core/state/errors.js';

const HOST = '127.0.0.1';
const PATH = '/callback';
const HEADERS = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  connection: 'close',
};

export interface Loopback {
  readonly redirectUrl: string;
  /** The first answer that is of the login. Errors: the reason of the signal. */
  answer(isOwn: (answer: LoginAnswer) => boolean, signal: AbortSignal): Promise<Answered>;
  close(): Promise<void>;
}

export interface Answered {
  readonly answer: LoginAnswer;
  /** What the person's browser shows. */
  reply(text: string): void;
}

/** `port` 0: a free one. Errors: `PortTaken`. */
export async function openLoopback(port: number): Promise<Loopback> {
  let answered: ((answer: LoginAnswer, response: ServerResponse) => boolean) | undefined;
  const server = createServer((request, response) => {
    const answer = answerIn(request, redirectUrl);
    if (answer === undefined) return end(response, 404, 'There is nothing here.');
    if (answered?.(answer, response) !== true) end(response, 400, 'This is another login.');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(taken(port, error)));
    server.listen(port, HOST, resolve);
  });
  const redirectUrl = `http://${HOST}:${(server.address() as AddressInfo).port}${PATH}`;
  return {
    redirectUrl,
    answer: (isOwn, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        answered = (answer, response) => {
          if (!isOwn(answer)) return false;
          answered = undefined;
          resolve({ answer, reply: (text) => end(response, 200, text) });
          return true;
        };
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), 500).unref();
      }),
  };
}

function answerIn({ method, url = '', headers }: IncomingMessage, own: string) {
  const at = new URL(own);
  // A name that leads here by somebody else's DNS is not ours.
  if (method !== 'GET' || headers.host !== at.host || !URL.canParse(url, own)) return undefined;
  const { pathname, searchParams } = new URL(url, own);
  if (pathname !== PATH) return undefined;
  const of = (name: string): string | undefined => searchParams.get(name) ?? undefined;
  return { code: of('code'), state: of('state'), iss: of('iss'), error: of('error') };
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, HEADERS).end(`${text}\n`);
}

function taken(port: number, error: Error): HoldfastError {
  return new HoldfastError('PortTaken', `The port ${port} of this machine cannot be used.`, {
    hint: 'Leave --port out to take a free one.',
    cause: error,
  });
}
