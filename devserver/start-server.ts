import { join, resolve } from 'node:path';
import { HoldfastError } from '../core/state/errors.js';
import { databaseFile, runningServer, writeRecord, type RunningServer } from './data-folder.js';
import type { Environment } from './environment.js';
import type { ServerBinary } from './find-server.js';
import { NAMESPACE, SEARCH_ATTRIBUTES } from './pins.js';
import { LOOPBACK, assertPortFree, freePort } from './ports.js';
import { identityOf, ownIdentity } from './process-identity.js';
import { makeFolder } from '../store/make-folder.js';
import { withFileLock } from '../store/sqlite/file-lock.js';
import { waitedTooLong } from './wait-limit.js';
import { waitUntilReady } from './readiness.js';
import { endOfFile, lastLines } from './run-command.js';
import { endForeign, spawnServer, type ServerExit, type ServerProcess } from './server-process.js';
import { tuningFlags } from './tuning.js';

export interface StartServerOptions {
  readonly binary: Pick<ServerBinary, 'path' | 'versions'>;
  readonly dataDir: string;
  readonly environment: Environment;
  /** 0 takes a free port. */
  readonly port: number;
  /** Port of Temporal's own web page; 0 takes a free one, undefined starts without the page. */
  readonly uiPort?: number;
  /** Dynamic configuration beyond the tuning, as the server's own `KEY=JSON`. */
  readonly dynamicConfig?: readonly string[];
  /** Longest wait until the server is usable; default 30 s. */
  readonly startLimitMs?: number;
  /** Longest wait for a graceful end before SIGKILL; default 5 s. */
  readonly stopLimitMs?: number;
}

/** An embedded server of this process. */
export interface ServerHandle {
  readonly address: string;
  readonly uiUrl: string | undefined;
  readonly pid: number;
  readonly databaseFile: string;
  readonly logFile: string;
  /** Resolves when the server has ended, for whatever reason. */
  readonly exited: Promise<ServerExit>;
  /** Ends it gracefully, by force after a limit; may be called again. */
  stop(): Promise<void>;
  /** Kills it as a crash would. */
  kill(): Promise<void>;
}

type LaunchOptions = StartServerOptions & { readonly startLimitMs: number };

interface Endpoints {
  readonly port: number;
  readonly uiPort: number | undefined;
  readonly address: string;
  readonly uiUrl: string | undefined;
}

const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 5000;
const STARTS_MAX = 3;

/**
 * Starts the embedded server on a data folder and waits until its namespace is usable.
 * One server per data folder: fails with DataFolderInUse when another is alive, and with PortTaken
 * when a port is not free. A server whose owner was killed is ended first.
 */
export async function startServer(options: StartServerOptions): Promise<ServerHandle> {
  const dataDir = resolve(options.dataDir);
  // Histories hold conversations: a new folder is this user's only.
  makeFolder(dataDir, 0o700);
  const startLimitMs = options.startLimitMs ?? START_LIMIT_MS;
  // Held while starting only; from then on the record of the running server speaks.
  const path = join(dataDir, 'starting.lock');
  const waitMs = 2 * startLimitMs;
  const lock = { path, waitMs, tooLong: () => waitedTooLong(path, waitMs) };
  return withFileLock(lock, async () => {
    await clearTheWay(dataDir, options.stopLimitMs ?? STOP_LIMIT_MS);
    return launchAgain({ ...options, dataDir, startLimitMs });
  });
}

/** A port that was free may be another program's when the server, which takes some of its own, gets there. */
async function launchAgain(options: LaunchOptions): Promise<ServerHandle> {
  for (let start = 1; ; start += 1) {
    const endpoints = await chooseEndpoints(options);
    try {
      return await launch(options, endpoints);
    } catch (error) {
      if (start === STARTS_MAX || !endedByItself(error)) throw error;
    }
  }
}

/** Neither killed nor asked to end. */
function endedByItself(error: unknown): boolean {
  return error instanceof HoldfastError && Number(error.details?.['exitCode']) > 0;
}

async function clearTheWay(dataDir: string, stopLimitMs: number): Promise<void> {
  const running = await runningServer(dataDir);
  if (running === undefined) return;
  const identity = running.orphaned ? await identityOf(running.pid) : undefined;
  if (identity !== undefined && (await endForeign(identity, stopLimitMs))) return;
  if ((await runningServer(dataDir)) === undefined) return;
  throw inUse(dataDir, running);
}

function inUse(dataDir: string, running: RunningServer): HoldfastError {
  const { pid, address, ownerPid } = running;
  return new HoldfastError(
    'DataFolderInUse',
    `The data folder ${dataDir} is in use by the server at ${address} (process ${pid}, started by process ${ownerPid}).`,
    {
      hint: `Use that server at ${address}, or end process ${ownerPid}, or choose another data folder.`,
      details: { dataDir, pid, address, ownerPid },
    },
  );
}

async function chooseEndpoints(options: StartServerOptions): Promise<Endpoints> {
  const port = await choosePort(options.port, 'the Temporal server', '--port');
  const uiPort =
    options.uiPort === undefined
      ? undefined
      : await choosePort(options.uiPort, "Temporal's web page", '--ui-port');
  return {
    port,
    uiPort,
    address: `${LOOPBACK}:${port}`,
    uiUrl: uiPort === undefined ? undefined : `http://${LOOPBACK}:${uiPort}`,
  };
}

async function choosePort(wanted: number, purpose: string, option: string): Promise<number> {
  if (wanted === 0) return freePort();
  await assertPortFree(wanted, purpose, option);
  return wanted;
}

async function launch(options: LaunchOptions, endpoints: Endpoints): Promise<ServerHandle> {
  const database = databaseFile(options.dataDir, options.binary.versions.server);
  const logFile = join(options.dataDir, 'temporal-server.log');
  const server = await spawnServer({
    binary: options.binary.path,
    args: [
      ...startArguments(database, endpoints),
      ...(options.dynamicConfig ?? []).flatMap((entry) => ['--dynamic-config-value', entry]),
    ],
    environment: { ...options.environment, TEMPORAL_VERSION_CHECK_DISABLED: '1' },
    logFile,
  });
  const { address, uiUrl } = endpoints;
  try {
    await recordServer(options.dataDir, server.pid, { address, uiUrl, databaseFile: database });
    await waitUntilReady({
      binary: options.binary.path,
      environment: options.environment,
      address,
      limitMs: options.startLimitMs,
      ended: () => server.ended() !== undefined,
    });
  } catch (error) {
    await server.kill();
    throw await notStarted(error, server, logFile);
  }
  return {
    address,
    uiUrl,
    pid: server.pid,
    databaseFile: database,
    logFile,
    exited: server.exited,
    stop: () => server.stop(options.stopLimitMs ?? STOP_LIMIT_MS),
    kill: () => server.kill(),
  };
}

async function recordServer(
  dataDir: string,
  pid: number,
  facts: Pick<ServerHandle, 'address' | 'uiUrl' | 'databaseFile'>,
): Promise<void> {
  const server = await identityOf(pid);
  if (server === undefined) throw new Error('it ended at once');
  await writeRecord(dataDir, { server, owner: await ownIdentity(), ...facts });
}

function startArguments(database: string, endpoints: Endpoints): readonly string[] {
  const page =
    endpoints.uiPort === undefined
      ? ['--headless']
      : ['--ui-port', String(endpoints.uiPort), '--ui-disable-news-fetch'];
  const attributes = Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => [
    '--search-attribute',
    `${name}=${type}`,
  ]);
  return [
    'server',
    'start-dev',
    '--disable-config-env',
    '--disable-config-file',
    '--ip',
    LOOPBACK,
    '--port',
    String(endpoints.port),
    '--namespace',
    NAMESPACE,
    ...page,
    '--db-filename',
    database,
    '--sqlite-pragma',
    'journal_mode=wal',
    '--sqlite-pragma',
    'synchronous=2',
    ...attributes,
    ...tuningFlags(),
  ];
}

async function notStarted(
  error: unknown,
  server: ServerProcess,
  logFile: string,
): Promise<HoldfastError> {
  const end = await server.exited;
  const reason = error instanceof Error ? error.message : String(error);
  const log = lastLines(await endOfFile(logFile), 5);
  return new HoldfastError(
    'ServerUnavailable',
    `The embedded Temporal server did not become usable: ${reason}.${log === '' ? '' : ` The end of the server’s log: ${log}`}`,
    {
      hint: `Read ${logFile}; if the database is damaged, move it away and start again.`,
      details: { logFile, exitCode: end.code, signal: end.signal },
      cause: error,
    },
  );
}
