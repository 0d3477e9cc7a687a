/** A real Temporal server of one's own for tests: found or built like any other, on a folder of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findServer, startServer, type OnProgress, type ServerHandle } from '../devserver/index.js';
import { HoldfastError } from '../core/state/errors.js';
import { checkOptions, rules, type OptionRules } from '../pure/options.js';

export interface TestServerOptions {
  /** Usually `process.env`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Default: a new temporary folder, removed at the end. */
  readonly dataDir?: string;
  /** Default 0: a free port. A restart after a kill needs the port of before. */
  readonly port?: number;
  /** Dynamic configuration beyond the tuning, as `KEY=JSON`. */
  readonly dynamicConfig?: readonly string[];
  readonly onProgress?: OnProgress;
}

/** A Temporal server for tests, which can be crashed and started again. */
export interface TestServer {
  readonly address: string;
  readonly dataDir: string;
  readonly pid: number;
  /** SIGKILL, as a crash would. */
  kill(): Promise<void>;
  /** A new server on the same folder and port. */
  restart(): Promise<void>;
  /** Both, with `downMs` in between; resolves when the new server is usable. */
  crash(downMs?: number): Promise<void>;
  stop(): Promise<void>;
}

const OPTIONS: OptionRules<TestServerOptions> = rules(
  'object! environment, text dataDir, amount port, texts dynamicConfig, call onProgress',
);

/** Starts a Temporal server of its own for tests, on a free port and in a folder that goes with it. */
export async function startTestServer(options: TestServerOptions): Promise<TestServer> {
  checkOptions('startTestServer', options, OPTIONS);
  const own = options.dataDir === undefined;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'holdfast-server-')));
  const binary = await findServer({
    environment: options.environment,
    ...(options.onProgress !== undefined && { onProgress: options.onProgress }),
  });
  if (binary.kind !== 'binary') {
    throw new HoldfastError('ServerUnavailable', 'A test server needs a binary, not an address.', {
      hint: 'Unset the address of the server.',
    });
  }
  const launch = (port: number): Promise<ServerHandle> =>
    startServer({
      binary,
      dataDir,
      environment: options.environment,
      port,
      ...(options.dynamicConfig !== undefined && { dynamicConfig: options.dynamicConfig }),
    });
  let handle = await launch(options.port ?? 0);
  const { address } = handle;
  const port = Number(address.slice(address.lastIndexOf(':') + 1));
  return {
    address,
    dataDir,
    get pid() {
      return handle.pid;
    },
    kill: () => handle.kill(),
    async restart() {
      handle = await launch(port);
    },
    async crash(downMs = 0) {
      await handle.kill();
      await sleep(downMs);
      handle = await launch(port);
    },
    async stop() {
      await handle.stop();
      if (own) await rm(dataDir, { recursive: true, force: true });
    },
  };
}
