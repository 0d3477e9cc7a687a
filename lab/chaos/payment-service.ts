/**
 * The payment service as a process of its own, so that it outlives whatever is killed around it. It recognises a
 * payment's key, and every payment is on disk before anybody hears of it.
 *
 * `POST /pay`, `GET /find?key=`, `GET /payments`, `GET /busy?worker=`. Listens on loopback, prints `{"port": n}` as its
 * first line, and ends when its standard input does, that is, when its parent is gone.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { z } from 'zod';
import { keep } from '../../store/sqlite/kept.js';
import { seededRandom } from '../../testing/index.js';

const BODY_BYTES_MAX = 64 * 1024;
const HOST = '127.0.0.1';

const settingsSchema = z.object({ file: z.string(), seed: z.number(), delayMsMax: z.number() });

const orderSchema = z.object({
  key: z.string().min(1).max(500),
  runId: z.string().min(1).max(200),
  amountCents: z.number().int().positive(),
  /** Process id of who asks. */
  worker: z.number().int(),
});

export interface Payment {
  readonly key: string;
  readonly runId: string;
  readonly amountCents: number;
  /** ms since epoch */
  readonly at: number;
  /** How often its key arrived. */
  readonly requests: number;
}

function openBook(file: string) {
  const db = keep(new Sqlite(file));
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  db.exec(`CREATE TABLE IF NOT EXISTS payments (key TEXT PRIMARY KEY, runId TEXT NOT NULL,
    amountCents INTEGER NOT NULL, at INTEGER NOT NULL, requests INTEGER NOT NULL)`);
  const insert = db.prepare<[string, string, number, number]>(
    `INSERT INTO payments VALUES (?, ?, ?, ?, 1) ON CONFLICT (key) DO UPDATE SET requests = requests + 1`,
  );
  const find = db.prepare<[string], Payment>('SELECT * FROM payments WHERE key = ?');
  const all = db.prepare<[], Payment>('SELECT * FROM payments ORDER BY at');
  return keep({ insert, find, all });
}

function main(): void {
  const { file, seed, delayMsMax } = settingsSchema.parse(JSON.parse(process.argv[2] ?? '{}'));
  const book = openBook(file);
  const random = seededRandom(seed, 1);
  const busy = new Map<number, number>();
  const pay = async (request: IncomingMessage): Promise<unknown> => {
    const order = orderSchema.parse(JSON.parse(await bodyOf(request)));
    busy.set(order.worker, (busy.get(order.worker) ?? 0) + 1);
    try {
      // A worker may die before the money is sent, and after it.
      await sleep(random() * delayMsMax);
      book.insert.run(order.key, order.runId, order.amountCents, Date.now());
      await sleep(random() * delayMsMax);
      return { paid: true };
    } finally {
      busy.set(order.worker, busy.get(order.worker)! - 1);
    }
  };
  const answer = async (request: IncomingMessage): Promise<unknown> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', `http://${HOST}`);
    if (request.method === 'POST' && pathname === '/pay') return pay(request);
    if (pathname === '/find')
      return { found: book.find.get(searchParams.get('key') ?? '') ?? null };
    if (pathname === '/payments') return { payments: book.all.all() };
    if (pathname === '/busy') return { busy: busy.get(Number(searchParams.get('worker'))) ?? 0 };
    throw new Error(`nothing is at ${pathname}`);
  };
  const server = createServer((request, response) => {
    void answer(request).then(
      (value) => send(response, 200, value),
      (error: unknown) => send(response, 400, { error: String(error) }),
    );
  });
  server.listen(0, HOST, () => {
    process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
  });
  process.stdin.once('end', () => process.exit(0)).resume();
}

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request as AsyncIterable<Buffer>) {
    body += chunk.toString('utf8');
    if (body.length > BODY_BYTES_MAX) throw new Error('the order is too large');
  }
  return body;
}

if (require.main === module) main();
