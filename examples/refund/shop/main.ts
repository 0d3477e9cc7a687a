/**
 * The shop as a process of its own, so that orders and payments outlive whatever is killed around them:
 * `main --database FILE [--port N]`. Listens on the loopback interface, prints `{"url", "pid"}` as its first
 * line, and stops on SIGTERM, SIGINT, or when a pipe on its standard input ends: its parent is gone.
 */
import { fstatSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { openBooks } from './books.js';
import { createShopServer } from './server.js';

const HOST = '127.0.0.1';
const STOP_TIMEOUT_MS = 2_000;

function main(argv: readonly string[]): void {
  const { values } = parseArgs({
    args: [...argv],
    options: { database: { type: 'string' }, port: { type: 'string', default: '0' } },
  });
  const port = Number(values.port);
  if (values.database === undefined || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error('Use: --database FILE [--port N]');
  }
  const books = openBooks(values.database);
  const server = createShopServer(books);
  server.once('error', (error) => {
    process.stderr.write(`The shop cannot listen on port ${port}: ${error.message}\n`);
    process.exitCode = 1;
    books.close();
  });
  server.listen(port, HOST, () => {
    const { port: bound } = server.address() as AddressInfo;
    process.stdout.write(
      `${JSON.stringify({ url: `http://${HOST}:${bound}`, pid: process.pid })}\n`,
    );
  });
  stopWhenTold(() => {
    server.close(() => {
      books.close();
      process.exit(0);
    });
    server.closeIdleConnections();
    // A client that never hangs up must not keep the shop open; what is paid is on disk.
    setTimeout(() => process.exit(0), STOP_TIMEOUT_MS).unref();
  });
}

function stopWhenTold(stop: () => void): void {
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  // Nobody reads what it says: the parent is gone.
  process.stdout.once('error', stop);
  // A parent that gives no standard input attaches a device, which ends at once and says nothing.
  const input = fstatSync(0);
  if (!input.isFIFO() && !input.isSocket()) return;
  process.stdin.once('end', stop).once('error', stop).resume();
}

try {
  main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
