/** Worker processes that can be killed: the real worker in a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { extname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { HoldfastError } from '../core/errors.js';
import type { WorkerEntrySettings } from './worker-entry.js';

export type { WorkerEntrySettings };

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 15_000;
const ENTRY = join(__dirname, `worker-entry${extname(__filename)}`);

export interface WorkerProcess {
  readonly pid: number;
  /** Resolves when the process is gone. */
  readonly exited: Promise<void>;
  /** SIGKILL: nothing of it runs afterwards. */
  kill(): Promise<void>;
  /** Drains, then ends. */
  stop(): Promise<void>;
}

/** Starts a worker process and waits until it serves. From TypeScript sources it runs under tsx. */
export async function startWorkerProcess(settings: WorkerEntrySettings): Promise<WorkerProcess> {
  const loader = ENTRY.endsWith('.ts') ? ['--import', 'tsx'] : [];
  const child = spawn(process.execPath, [...loader, ENTRY, JSON.stringify(settings)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit').then(() => undefined);
  await serving(child, exited);
  return {
    pid: child.pid!,
    exited,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async stop() {
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await exited;
      clearTimeout(force);
    },
  };
}

async function serving(child: ChildProcess, exited: Promise<void>): Promise<void> {
  const lines = createInterface({ input: child.stdout! });
  let timer: NodeJS.Timeout | undefined;
  const outcome = await Promise.race([
    once(lines, 'line').then(() => 'serving' as const),
    exited.then(() => 'ended' as const),
    new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), START_LIMIT_MS);
    }),
  ]);
  clearTimeout(timer);
  if (outcome === 'serving') return;
  child.kill('SIGKILL');
  throw new HoldfastError('Internal', `The worker process ${outcome} before it served.`, {
    hint: 'Its own output above says why.',
  });
}
