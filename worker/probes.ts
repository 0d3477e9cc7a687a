/**
 * Probes of a process of workers: `GET /health` (the process serves) and `GET /ready` (its workers take work, and store
 * and server answer), without a login and without anything but fixed words.
 */
import { createServer } from 'node:http';
import { listenPlace } from '../connection/reach-rules.js';
import { listenFailure } from './listen-failure.js';
import type { WorkerReadiness } from './ready.js';

const REQUEST_LIMIT_MS = 5_000;
const CONNECTIONS_MAX = 50;

export interface Probes {
  /** A worker that serves from now on. */
  watch(worker: { ready(): Promise<WorkerReadiness> }): void;
  close(): Promise<void>;
}

/** Errors: PortTaken, InvalidConfig. */
export async function startProbes(address: string): Promise<Probes> {
  const workers: Parameters<Probes['watch']>[0][] = [];

  /** That of the first worker which is not ready. */
  async function ready(): Promise<Pick<WorkerReadiness, 'ok' | 'worker'>> {
    const all = await Promise.all(workers.map((one) => one.ready()));
    return all.find(({ ok }) => !ok) ?? all[0] ?? { ok: false, worker: 'starting' };
  }

  const looks: { readonly [path: string]: () => Promise<{ readonly ok: boolean }> } = {
    '/health': async () => ({ ok: true }),
    '/ready': ready,
  };
  const server = createServer(
    { requestTimeout: REQUEST_LIMIT_MS, headersTimeout: REQUEST_LIMIT_MS },
    (request, response) => {
      const look = request.method === 'GET' ? looks[request.url ?? ''] : undefined;
      void (look?.() ?? Promise.resolve(undefined)).then((answer) => {
        const status = answer === undefined ? 404 : answer.ok ? 200 : 503;
        response
          .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
          .end(JSON.stringify(answer ?? { ok: false }));
      });
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const options = '--probe-address or HOLDFAST_PROBE_ADDRESS';
      const isTaken = cause.code === 'EADDRINUSE';
      reject(listenFailure({ what: 'The probes', address, options }, { isTaken, cause }));
    });
    server.listen({ ...listenPlace(address), exclusive: true }, resolve);
  });
  return {
    watch: (worker) => void workers.push(worker),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
