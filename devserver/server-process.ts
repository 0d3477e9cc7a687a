import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';
import { HoldfastError } from '../core/state/errors.js';
import { guardChild } from './child-guard.js';
import { onPath, type Environment } from './environment.js';
import { isAlive, type ProcessIdentity } from './process-identity.js';
import { runCommand } from './run-command.js';

/*
 * The server runs in a process group of its own (detached), so Ctrl-C in a terminal reaches only us:
 * we drain first and stop the server last. The price is that we must end it on every way out:
 * stop() in the ordinary case, the child guard on exits and unhandled signals, and on Linux the
 * kernel (setpriv --pdeathsig) when we are killed with -9.
 * Where there is no setpriv the server outlives a kill -9, and the next start on its folder ends it.
 */

export interface ServerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ServerCommand {
  readonly binary: string;
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly logFile: string;
}

/** A child that cannot outlive this process unnoticed. */
export interface ServerProcess {
  readonly pid: number;
  readonly exited: Promise<ServerExit>;
  /** How it ended, once it has. */
  ended(): ServerExit | undefined;
  /** SIGTERM, and SIGKILL after the limit; resolves when the process is gone. */
  stop(limitMs: number): Promise<void>;
  /** SIGKILL, as a crash; resolves when the process is gone. */
  kill(): Promise<void>;
}

const POLL_MS = 20;
const PROBE_TIMEOUT_MS = 2000;

/** Files that `begin`, and the processes that it starts, make are this user's only: histories hold conversations. */
function privately<T>(begin: () => T): T {
  // The mask is the whole process's; a thread may not change it.
  if (!isMainThread) return begin();
  const before = process.umask(0o077);
  try {
    return begin();
  } finally {
    process.umask(before);
  }
}

/** Starts the server with its output in the log file, and guards it. */
export async function spawnServer(command: ServerCommand): Promise<ServerProcess> {
  const wrapper = await deathSignalWrapper(command.environment);
  const [file = command.binary, ...args] = [...wrapper, command.binary, ...command.args];
  const child = privately(() => {
    const log = openSync(command.logFile, 'w');
    try {
      return spawn(file, args, {
        env: command.environment,
        detached: true,
        stdio: ['ignore', log, log],
        windowsHide: true,
      });
    } finally {
      closeSync(log);
    }
  });
  let end: ServerExit | undefined;
  const exited = new Promise<ServerExit>((resolve) => {
    child.once('exit', (code, signal) => {
      end = { code, signal };
      resolve(end);
    });
  });
  await started(child, command.binary);
  const unguard = guardChild(child);
  void exited.then(unguard);
  return {
    pid: child.pid ?? 0,
    exited,
    ended: () => end,
    stop: async (limitMs) => {
      child.kill('SIGTERM');
      const limit = setTimeout(() => child.kill('SIGKILL'), limitMs);
      await exited;
      clearTimeout(limit);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Ends a server that is not our child; false when it is still there after both signals. */
export async function endForeign(identity: ProcessIdentity, limitMs: number): Promise<boolean> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!(await isAlive(identity))) return true;
    try {
      process.kill(identity.pid, signal);
    } catch {
      // It ended in between, or it is not ours to end: the next look tells.
    }
    const deadline = performance.now() + limitMs;
    while (performance.now() < deadline) {
      if (!(await isAlive(identity))) return true;
      await sleep(POLL_MS);
    }
  }
  return false;
}

function started(child: ChildProcess, binary: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => {
      reject(
        new HoldfastError('ServerUnavailable', `${binary} cannot be started: ${error.message}.`, {
          hint: 'Check that the file is a Temporal CLI for this machine and may be run.',
          details: { binary },
          cause: error,
        }),
      );
    });
  });
}

/** The signal is tied to the thread that starts the child, so it is of use in the main thread only. */
async function deathSignalWrapper(environment: Environment): Promise<readonly string[]> {
  if (process.platform !== 'linux' || !isMainThread) return [];
  const setpriv = onPath(environment, 'setpriv')[0];
  if (setpriv === undefined) return [];
  const args = ['--pdeathsig', 'TERM', '--'];
  const probe = await runCommand({
    file: setpriv,
    args: [...args, 'true'],
    environment,
    timeoutMs: PROBE_TIMEOUT_MS,
  });
  return probe.ok ? [setpriv, ...args] : [];
}
