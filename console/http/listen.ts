/** Listening for HTTP with the limits of the console, and ending in order. */
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '@hono/node-server';
import type { ConsoleSettings } from '../../authoring/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import { limitConnections } from './connections.js';
import { trustedProxies } from './remote-address.js';

const REQUEST_LIMIT_MS = 30_000;
const HEADERS_LIMIT_MS = 5_000;
/** Between two requests of one connection. */
const IDLE_LIMIT_MS = 5_000;
/** How often the limits are looked at; Node's own 30 s would be the shortest of them. */
const LOOKED_AT_MS = 1_000;
const HEADER_BYTES_MAX = 16_384;
/** How long requests may take to end when the console does. */
const GRACE_MS = 3_000;

type Fetch = Parameters<typeof serve>[0]['fetch'];

export interface ListenSettings extends Pick<
  ConsoleSettings,
  'host' | 'port' | 'limits' | 'trustedProxies'
> {
  /** Of what listens, for its errors; default: the console. */
  readonly what?: string;
  /** Where the port is chosen. */
  readonly portHint?: string;
}

/** Errors: PortTaken, InvalidConfig. */
export function listen(
  fetch: Fetch,
  { host, port, limits, trustedProxies: proxies, ...said }: ListenSettings,
): Promise<{ readonly server: Server; readonly port: number }> {
  return new Promise((resolve, reject) => {
    const serverOptions = {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_LIMIT_MS,
      requestTimeout: REQUEST_LIMIT_MS,
      keepAliveTimeout: IDLE_LIMIT_MS,
      connectionsCheckingInterval: LOOKED_AT_MS,
    };
    const listening = { fetch, hostname: host, port, serverOptions, overrideGlobalObjects: false };
    const server = serve(listening, (place) => resolve({ server, port: place.port })) as Server;
    limitConnections(server, limits, trustedProxies(proxies));
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(portFailure(error, { host, port, ...said })),
    );
  });
}

const CONSOLE_PORT =
  '--port of `holdfast console`, --console-port of `holdfast dev`, or console.port';

function portFailure(
  error: NodeJS.ErrnoException,
  {
    host,
    port,
    what = 'The console',
    portHint = CONSOLE_PORT,
  }: Omit<ListenSettings, 'limits' | 'trustedProxies'>,
): HoldfastError {
  const taken = error.code === 'EADDRINUSE';
  return new HoldfastError(
    taken ? 'PortTaken' : 'InvalidConfig',
    taken ? `Port ${port} is taken.` : `${what} cannot listen on ${host}:${port}.`,
    { hint: `Choose another one: ${portHint}.`, cause: error },
  );
}

/** Requests under way may end for a moment; then their connections are cut. */
export async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  const timer = new AbortController();
  const late = sleep(GRACE_MS, undefined, { signal: timer.signal }).then(
    () => server.closeAllConnections(),
    () => undefined,
  );
  await Promise.race([closed, late]);
  timer.abort();
  await closed;
}
