/**
 * Probes of a process of workers: `GET /health` (the process serves) and `GET /ready` (its workers take work, and store
 * and server answer), without a login and without anything but fixed words.
 */
import { createServer } from 'node:http';
import { listenPlace } from '../connection/reach-rules.js';
import type { WorkerReadiness } from '../connection/readiness.js';
import { listenFailure } from './runtime.js';

const LIMIT_MS = 5_000;
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

  const server = createServer({ requestTimeout: LIMIT_MS, headersTimeout: LIMIT_MS });
  server.on('request', ({ method, url }, response) => {
    void (async () => {
      const isReady = method === 'GET' && url === '/ready';
      const isKnown = isReady || (method === 'GET' && url === '/health');
      const answer = isReady ? await ready() : { ok: isKnown };
      response
        .writeHead(answer.ok ? 200 : isKnown ? 503 : 404, { 'content-type': 'application/json' })
        .end(JSON.stringify(answer));
    })();
  });
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const options = '--probe-address or HOLDFAST_PROBE_ADDRESS';
      reject(listenFailure(address, { isTaken: cause.code === 'EADDRINUSE', options, cause }));
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
