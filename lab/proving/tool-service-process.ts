/** Starts the tool service as a process of its own, and talks to it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { HoldfastError } from '../../core/state/errors.js';
import type { Mode } from './tool-store.js';

const START_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 5_000;

export interface ToolServiceOptions {
  /** Name of the domain whose tools it serves. */
  readonly domain: string;
  readonly mode: Mode;
  /** Database file, or files and folders; see `loadDatabase`. */
  readonly databaseFiles: readonly string[];
  /** Keeps ledger and worlds; a service started on the same folder continues them. */
  readonly dataDir: string;
  /** Loopback port; any free one when left out. */
  readonly port?: number;
}

export interface ToolService {
  readonly url: string;
  readonly pid: number;
  /** Asks the process to stop and waits until it is gone; kills it when it does not listen. */
  stop(): Promise<void>;
}

/** Starts the service and resolves once it accepts calls. */
export async function startToolService(options: ToolServiceOptions): Promise<ToolService> {
  const child = spawn(process.execPath, [...entry(), ...serviceArguments(options)], {
    // The service stops when this pipe closes, that is, when this process ends in whatever way.
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const port = await portOf(child);
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    stop: () => stopped(child),
  };
}

/** From the sources, as in tests, node needs a loader for TypeScript. */
function entry(): string[] {
  if (__filename.endsWith('.ts')) {
    return ['--import', require.resolve('tsx'), join(__dirname, 'tool-service.ts')];
  }
  return [join(__dirname, 'tool-service.js')];
}

function serviceArguments(options: ToolServiceOptions): string[] {
  const port = String(options.port ?? 0);
  const { domain, mode, databaseFiles, dataDir } = options;
  const what = ['--domain', domain, '--mode', mode, '--database', ...databaseFiles];
  return [...what, '--data-dir', dataDir, '--port', port];
}

async function portOf(child: ChildProcess): Promise<number> {
  if (child.stdout === null) throw unavailable();
  const lines = createInterface({ input: child.stdout });
  const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
  try {
    // When the process ends before it prints its port, the loop ends without a line.
    for await (const line of lines) {
      const port: unknown = (JSON.parse(line) as { port?: unknown }).port;
      if (typeof port === 'number') return port;
    }
  } finally {
    clearTimeout(timer);
    lines.close();
    child.stdout.resume();
  }
  throw unavailable();
}

function unavailable(): HoldfastError {
  return new HoldfastError('ToolUnavailable', 'The tool service did not start.', {
    hint: 'Read what it printed above.',
  });
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exit;
  clearTimeout(timer);
}
