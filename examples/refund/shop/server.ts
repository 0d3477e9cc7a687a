/**
 * The shop's HTTP interface.
 *
 * `GET /orders/:id`, `GET /deliveries/:orderId`, `GET /policy?words=`,
 * `POST /refunds` with the header `idempotency-key`, `GET /refunds?key=`, `GET /refunds?order=`.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Books, RefundOutcome } from './books.js';

const BODY_BYTES_MAX = 16 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;

const refundSchema = z.object({
  orderId: z.string().min(1).max(100),
  amountCents: z.number().int().positive(),
  reason: z.string().min(1).max(1_000),
});
const keySchema = z.string().min(1).max(500);

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

const REFUSALS: { readonly [kind in Exclude<RefundOutcome['kind'], 'paid'>]: number } = {
  key_conflict: 409,
  unknown_order: 404,
  too_much: 422,
};

/** The HTTP server over the books; the caller makes it listen. */
export function createShopServer(books: Books): Server {
  const server = createServer((request, response) => {
    answer(books, request)
      .catch(() => failure(500, 'internal', 'The shop could not answer.'))
      .then((reply) => send(response, reply))
      .catch(() => response.destroy());
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  return server;
}

async function answer(books: Books, request: IncomingMessage): Promise<Reply> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const [, resource, id = ''] = url.pathname.split('/').map(decodeURIComponent);
  if (request.method === 'POST' && resource === 'refunds') return pay(books, request);
  if (request.method !== 'GET') return failure(405, 'method', 'Only GET, and POST /refunds.');
  switch (resource) {
    case 'orders':
      return found(books.order(id), `There is no order ${id}.`);
    case 'deliveries':
      return found(books.delivery(id), `There is no delivery of order ${id}.`);
    case 'policy':
      return ok({ sections: books.searchPolicy(url.searchParams.get('words') ?? '') });
    case 'refunds': {
      const key = url.searchParams.get('key');
      if (key !== null) return ok({ refund: books.findByKey(key) ?? null });
      return ok({ refunds: books.refundsOf(url.searchParams.get('order') ?? '') });
    }
    default:
      return failure(404, 'path', 'No such path.');
  }
}

async function pay(books: Books, request: IncomingMessage): Promise<Reply> {
  const key = keySchema.safeParse(request.headers['idempotency-key']);
  if (!key.success) return failure(400, 'key_missing', 'A refund needs an idempotency-key.');
  const body = await readBody(request);
  if (body === undefined) return failure(413, 'too_large', 'The body is too large.');
  const parsed = refundSchema.safeParse(parseJson(body));
  if (!parsed.success) return failure(400, 'invalid', z.prettifyError(parsed.error));
  const outcome = books.refund({ key: key.data, ...parsed.data }, Date.now());
  if (outcome.kind === 'paid') return ok({ ...outcome.refund, replayed: outcome.replayed });
  return failure(REFUSALS[outcome.kind], outcome.kind, outcome.message);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function found(value: unknown, message: string): Reply {
  return value === undefined ? failure(404, 'not_found', message) : ok(value);
}

function ok(body: unknown): Reply {
  return { status: 200, body };
}

function failure(status: number, code: string, message: string): Reply {
  return { status, body: { error: { code, message } } };
}

function send(response: ServerResponse, { status, body }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
}
