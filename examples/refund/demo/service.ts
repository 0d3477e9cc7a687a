/**
 * A process of the demo beside this one. It runs in a process group of its own, so that Ctrl-C reaches only
 * us and everything is stopped in order; it stops by itself when our end of its standard input closes.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { HoldfastError } from '../../../index.js';

export interface ServiceCommand {
  readonly name: string;
  /** Path of the module without its extension, which is that of the sources or of the compiled code. */
  readonly entry: string;
  readonly args?: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What it is told on its standard input once that is known; meanwhile it loads. */
  readonly firstLine?: Promise<string>;
}

export interface Service {
  readonly pid: number;
  /** The JSON line by which it said that it is ready. */
  readonly ready: unknown;
  readonly exited: Promise<void>;
  /** SIGTERM, and SIGKILL after a limit; resolves when the process is gone. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 8_000;
const TYPESCRIPT = __filename.endsWith('.ts');

/** Starts the process and resolves once it has said that it is ready. */
export async function startService(command: ServiceCommand): Promise<Service> {
  const child = spawn(process.execPath, [...moduleOf(command.entry), ...(command.args ?? [])], {
    env: command.environment,
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const exited = once(child, 'exit').then(() => undefined);
  // A pipe to a process that is gone must not end this one.
  child.stdin.on('error', () => undefined);
  try {
    const line = await command.firstLine;
    if (line !== undefined) child.stdin.write(`${line}\n`);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  const ready = await readyLine(child, command.name);
  return { pid: child.pid ?? 0, ready, exited, stop: () => stop(child, exited) };
}

/** From the sources, node needs a loader for TypeScript. */
function moduleOf(entry: string): readonly string[] {
  return TYPESCRIPT ? ['--import', require.resolve('tsx'), `${entry}.ts`] : [`${entry}.js`];
}

async function readyLine(child: ChildProcess, name: string): Promise<unknown> {
  const { stdout } = child;
  const failed = (cause?: unknown): HoldfastError =>
    new HoldfastError('Internal', `The ${name} did not start.`, {
      hint: 'Read what it printed above.',
      cause,
    });
  if (stdout === null) throw failed();
  const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
  const lines = createInterface({ input: stdout });
  try {
    // When the process ends before it is ready, the loop ends without a line.
    for await (const line of lines) return JSON.parse(line) as unknown;
  } catch (error) {
    child.kill('SIGKILL');
    throw failed(error);
  } finally {
    clearTimeout(timer);
    lines.close();
    stdout.resume();
  }
  throw failed();
}

async function stop(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}
