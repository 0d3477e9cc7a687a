/** Temporal's test server, whose time can be moved. Invariant: it ends with this process. */
import { statSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Runtime } from '@temporalio/worker';
import { openVirtualTime, type VirtualTime } from '../client/virtual-time.js';
import { HoldfastError } from '../core/state/errors.js';
import {
  freePort,
  isExecutable,
  lastLines,
  LOOPBACK,
  onPath,
  spawnServer,
  TIME_SKIPPING_VARIABLE,
  type ServerProcess,
} from '../devserver/index.js';

const PROGRAM = 'temporal-test-server';
const START_LIMIT_MS = 60_000;
const DOWNLOAD_LIMIT_MS = 180_000;
const STOP_LIMIT_MS = 5_000;
const POLL_MS = 50;
const SDK = { sdkName: 'sdk-typescript', sdkVersion: '1.24.0' };

export interface TimeSkippingOptions {
  /** Usually `process.env`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The server's program; default: the variable's, else the one on PATH, else the SDK downloads it. */
  readonly executable?: string;
  /** What a person may want to know while a server is found. */
  readonly onProgress?: (text: string) => void;
}

export interface TimeSkippingServer {
  readonly address: string;
  readonly time: VirtualTime;
  stop(): Promise<void>;
}

/** Errors: ServerUnavailable. */
export async function startTimeSkippingServer(
  options: TimeSkippingOptions,
): Promise<TimeSkippingServer> {
  const executable = executableOf(options);
  const port = await freePort();
  const address = `${LOOPBACK}:${port}`;
  const process =
    executable === undefined
      ? await downloaded(port, options)
      : await started({ executable, port }, options);
  try {
    const time = await answering(address, process);
    return {
      address,
      time,
      async stop() {
        try {
          await time.close();
        } finally {
          await process.stop();
        }
      },
    };
  } catch (error) {
    const log = await process.log();
    await process.stop();
    throw unusable(error, { log, executable: executable ?? 'downloaded' });
  }
}

function unusable(
  cause: unknown,
  { log, executable }: { readonly log: string; readonly executable: string },
): HoldfastError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const end = log === '' ? '' : ` The end of its log: ${log}`;
  return new HoldfastError(
    'ServerUnavailable',
    `The time-skipping server did not become usable: ${reason}.${end}`,
    {
      hint: 'Run the program by hand with a port as its only argument and read what it says.',
      details: { executable },
      cause,
    },
  );
}

/** Undefined: nobody has named one and none is on PATH. */
function executableOf({ environment, executable }: TimeSkippingOptions): string | undefined {
  if (executable !== undefined) return usable(executable, '--time-skipping');
  const named = environment[TIME_SKIPPING_VARIABLE];
  if (named !== undefined && named !== '') return usable(named, TIME_SKIPPING_VARIABLE);
  return onPath(environment, PROGRAM)[0];
}

function usable(named: string, by: string): string {
  const file = resolve(named);
  if (isExecutable(file)) return file;
  const isFolder = statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
  throw new HoldfastError(
    'ServerUnavailable',
    `${by} names ${file}, which is ${isFolder ? 'a folder' : 'no program that can be run'}.`,
    {
      hint: isFolder
        ? `Name the server's program; where --time-skipping stands alone, write it behind the paths of the cases.`
        : `Name Temporal's test server, or a script that starts it; docs/guide/cases.md in the package holdfast tells where to get one.`,
      details: { executable: file },
    },
  );
}

interface Running {
  /** Whether it has ended by itself. */
  ended(): boolean;
  /** The last lines that it has said. */
  log(): Promise<string>;
  stop(): Promise<void>;
}

async function started(
  { executable, port }: { readonly executable: string; readonly port: number },
  { environment }: TimeSkippingOptions,
): Promise<Running> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-time-'));
  const logFile = join(folder, 'server.log');
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  let server: ServerProcess;
  try {
    // Without a further flag its time goes as usual until somebody moves it.
    server = await spawnServer({ binary: executable, args: [String(port)], environment, logFile });
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    ended: () => server.ended() !== undefined,
    log: async () => lastLines(await readFile(logFile, 'utf8').catch(() => ''), 5),
    async stop() {
      if (server.ended() === undefined) await server.stop(STOP_LIMIT_MS);
      await remove();
    },
  };
}

/** The SDK knows where the program for this machine is, and keeps it. */
async function downloaded(port: number, { onProgress }: TimeSkippingOptions): Promise<Running> {
  onProgress?.(`No ${PROGRAM} is here; the Temporal SDK looks for one to download …`);
  const runtime = Runtime.instance();
  const exe = {
    type: 'cached-download',
    downloadDir: null,
    version: 'default',
    ttl: DAY_MS,
  } as const;
  const limit = new AbortController();
  const late = sleep(DOWNLOAD_LIMIT_MS, undefined, { signal: limit.signal }).then(
    () => Promise.reject(new Error(`no answer within ${DOWNLOAD_LIMIT_MS / 1_000} s`)),
    () => undefined as never,
  );
  try {
    const starting = runtime.createEphemeralServer({
      type: 'time-skipping',
      exe: { ...exe, ...SDK },
      port,
      extraArgs: [],
    });
    const server = await Promise.race([starting, late]);
    return {
      ended: () => false,
      log: async () => '',
      stop: () => runtime.shutdownEphemeralServer(server),
    };
  } catch (error) {
    throw noServer(error);
  } finally {
    limit.abort();
  }
}

const DAY_MS = 86_400_000;

function noServer(cause: unknown): HoldfastError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const ways = [
    `name Temporal's test server with --time-skipping <executable> or ${TIME_SKIPPING_VARIABLE}`,
    `put it on PATH as ${PROGRAM}`,
    'give this machine access to temporal.download',
  ];
  return new HoldfastError(
    'ServerUnavailable',
    `No time-skipping server was found and none could be downloaded (${lastLines(reason, 1)}).`,
    {
      hint: `Do one of these: ${ways.join('; ')}. With Java and Maven it is made in a minute: docs/guide/cases.md in the package holdfast.`,
      details: { ways },
      cause,
    },
  );
}

/** Waits until the server answers. */
async function answering(address: string, process: Running): Promise<VirtualTime> {
  const until = performance.now() + START_LIMIT_MS;
  for (;;) {
    try {
      return await openVirtualTime(address);
    } catch (error) {
      if (process.ended()) throw new Error('it ended', { cause: error });
      if (performance.now() > until) throw error;
    }
    await sleep(POLL_MS);
  }
}
