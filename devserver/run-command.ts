import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Environment } from './environment.js';

/** Output kept of a command: the end, where programs say what went wrong. */
const OUTPUT_CHARS_MAX = 4000;
const END_BYTES = 4096;

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly timeoutMs: number;
  readonly folder?: string;
  readonly onLine?: (line: string) => void;
}

export interface CommandResult {
  readonly ok: boolean;
  /** Both streams, in the order of arrival, the last 4,000 characters. */
  readonly output: string;
  /** Why it is not ok, in one line and without the output. */
  readonly failure?: string;
}

/**
 * Runs a command to its end or its time limit. Never rejects.
 * The child stays in our process group, so that Ctrl-C in a terminal ends a build as well.
 */
export function runCommand(command: Command): Promise<CommandResult> {
  return new Promise((resolve) => {
    let output = '';
    let settled = false;
    const child = spawn(command.file, command.args, {
      cwd: command.folder,
      env: command.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const keep = (line: string): void => {
      output = `${output}${line}\n`.slice(-OUTPUT_CHARS_MAX);
      command.onLine?.(line);
    };
    createInterface({ input: child.stdout }).on('line', keep);
    createInterface({ input: child.stderr }).on('line', keep);
    const settle = (failure?: string): void => {
      if (settled) return;
      settled = true;
      clearTimeout(limit);
      // A grandchild may hold the pipes open; nobody waits for it.
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(failure === undefined ? { ok: true, output } : { ok: false, output, failure });
    };
    const limit = setTimeout(() => {
      child.kill('SIGKILL');
      settle(`it did not end within ${command.timeoutMs} ms`);
    }, command.timeoutMs);
    child.once('error', (error) => settle(error.message));
    child.once('close', (code, signal) => {
      settle(code === 0 ? undefined : `it ended with ${signal ?? `exit code ${code}`}`);
    });
  });
}

/** The last lines of an output, short enough for an error message. */
export function lastLines(output: string, count = 3): string {
  return output.trim().split('\n').slice(-count).join(' | ').slice(-500);
}

/** The last bytes of a log as text; empty where it cannot be read. */
export async function endOfFile(file: string): Promise<string> {
  const handle = await open(file, 'r').catch(() => undefined);
  if (handle === undefined) return '';
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - END_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(END_BYTES), {
      position: start,
    });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
