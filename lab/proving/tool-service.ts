/**
 * The tools of a domain as a process of their own, so that they and their ledger outlive whatever is
 * killed around them. Listens on the loopback interface only, prints `{"port": n}` as its first
 * line, and stops on SIGTERM or when its standard input ends, that is, when its parent is gone.
 *
 * `POST /call`, `GET /find?key=`, `GET /changes?run=`, `GET /ledger?run=`, `GET /arrivals?run=`,
 * `GET /health`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Command, Option } from 'commander';
import { z } from 'zod';
import { HoldfastError } from '../../core/state/errors.js';
import { checked } from './data-file.js';
import { argumentsSchema } from './recording-limits.js';
import { loadDatabase } from './domains/database.js';
import { domainNamed, DOMAIN_NAMES } from './domains/domains.js';
import { dumpJson } from './python/python-json.js';
import { objectFromJson } from './python/python-value.js';
import { MODES, openToolStore, type Mode, type ToolCall, type ToolStore } from './tool-store.js';

const BODY_BYTES_MAX = 1024 * 1024;
const REQUEST_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 2_000;

const nameSchema = z.string().min(1).max(500);

const callSchema = z.object({
  tenant: nameSchema.default('default'),
  run: nameSchema,
  step: nameSchema.optional(),
  tool: nameSchema,
  args: argumentsSchema,
  key: nameSchema.optional(),
  callId: nameSchema.optional(),
  attempt: z.number().int().nonnegative().max(1_000_000).default(1),
});

interface Reply {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
}

/** The HTTP server over a store; the caller makes it listen. */
export function createToolServer(store: ToolStore): Server {
  const server = createServer((request, response) => {
    void answer(store, request).then((reply) => send(response, reply));
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  return server;
}

async function answer(store: ToolStore, request: IncomingMessage): Promise<Reply> {
  try {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (request.method === 'POST' && url.pathname === '/call') {
      return json(200, store.call(toolCall(await readBody(request))));
    }
    if (request.method === 'GET') return lookUp(store, url);
    return failure(405, 'Usage', 'Only GET, and POST /call.');
  } catch (error) {
    if (!(error instanceof HoldfastError)) return failure(500, 'Internal', 'The call failed.');
    const status = error.code === 'KeyConflict' ? 409 : error.code === 'InvalidRequest' ? 413 : 400;
    return failure(status, error.code, error.message);
  }
}

function lookUp(store: ToolStore, url: URL): Reply {
  switch (url.pathname) {
    case '/health':
      return json(200, { ok: true });
    case '/find': {
      const result = store.find(parameter(url, 'key'));
      return json(200, result === undefined ? { found: false } : { found: true, ...result });
    }
    case '/changes':
      return { status: 200, body: dumpJson(store.changes(parameter(url, 'run'))) };
    case '/ledger':
      return json(200, {
        rows: store.ledger(url.searchParams.has('run') ? parameter(url, 'run') : undefined),
      });
    case '/arrivals':
      return json(200, { rows: store.arrivals(parameter(url, 'run')) });
    default:
      return failure(404, 'Usage', 'No such path.');
  }
}

function parameter(url: URL, name: string): string {
  return checked(nameSchema, url.searchParams.get(name), `a query with ${name}`);
}

function toolCall(body: string): ToolCall {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch (cause) {
    throw new HoldfastError('InvalidTask', 'The body is not JSON.', { cause });
  }
  const call = checked(callSchema, parsed, 'a tool call');
  try {
    return {
      tenant: call.tenant,
      run: call.run,
      step: call.step ?? call.callId ?? '',
      tool: call.tool,
      args: objectFromJson(call.args),
      attempt: call.attempt,
      ...(call.key === undefined ? {} : { key: call.key }),
    };
  } catch (cause) {
    throw new HoldfastError('InvalidTask', 'The arguments are nested too deeply.', { cause });
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX) {
      throw new HoldfastError('InvalidRequest', `The body is larger than ${BODY_BYTES_MAX} bytes.`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function json(status: number, value: unknown): Reply {
  return { status, body: JSON.stringify(value) };
}

function failure(status: number, code: string, message: string): Reply {
  return json(status, { error: { code, message } });
}

function send(response: ServerResponse, reply: Reply): void {
  response.writeHead(reply.status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(reply.body);
}

interface Options {
  readonly domain: string;
  readonly mode: Mode;
  readonly database: string[];
  readonly dataDir: string;
  readonly port: string;
}

function main(argv: readonly string[]): void {
  const options = new Command('tool-service')
    .description('Serves the tools of recorded runs, with an append-only ledger.')
    .addOption(
      new Option('--domain <name>', 'whose tools').choices(DOMAIN_NAMES).makeOptionMandatory(),
    )
    .addOption(
      new Option('--mode <mode>', 'whether idempotency keys are honoured')
        .choices(MODES)
        .default('keys'),
    )
    .requiredOption('--database <path...>', 'database file or folder')
    .requiredOption('--data-dir <folder>', 'where the ledger and the changes of runs are kept')
    .option('--port <number>', 'loopback port, 0 for any', '0')
    .parse([...argv])
    .opts<Options>();
  const port = checked(z.coerce.number().int().min(0).max(65_535), options.port, 'a port');
  const domain = domainNamed(options.domain);
  const database = loadDatabase(domain, options.database);
  const { dataDir, mode } = options;
  const store = openToolStore({ domain, database, dataDir, mode });
  const server = createToolServer(store);
  server.listen(port, '127.0.0.1', () => {
    const { port: bound } = server.address() as AddressInfo;
    process.stdout.write(`${JSON.stringify({ port: bound })}\n`);
  });
  const stop = (): void => {
    server.close(() => {
      store.close();
      process.exit(0);
    });
    server.closeIdleConnections();
    // A client that never hangs up must not keep the service alive; what is committed is on disk.
    setTimeout(() => process.exit(0), STOP_TIMEOUT_MS).unref();
  };
  process.once('SIGTERM', stop);
  process.stdin.once('end', stop).once('error', stop).resume();
}

if (require.main === module) {
  try {
    main(process.argv);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}
