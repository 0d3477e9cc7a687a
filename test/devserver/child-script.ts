import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { compiledPath } from '../compiled.js';

/** A process that runs in-process.ts, and the one line it prints. */
export interface ScriptRun {
  readonly child: ChildProcess;
  readonly line: Promise<Readonly<Record<string, unknown>>>;
  readonly exited: Promise<NodeJS.Signals | number | null>;
}

/** Runs a command of in-process.ts in a process of its own. */
export function runScript(command: 'find' | 'start', options: object): ScriptRun {
  const child = spawn(
    process.execPath,
    [compiledPath(join(__dirname, 'in-process.ts')), command, JSON.stringify(options)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = new Promise<NodeJS.Signals | number | null>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? code));
  });
  const line = new Promise<Readonly<Record<string, unknown>>>((resolve, reject) => {
    createInterface({ input: child.stdout })
      .once('line', (text) => resolve(JSON.parse(text) as Readonly<Record<string, unknown>>))
      .once('close', () => reject(new Error('the script printed nothing')));
  });
  return { child, line, exited };
}
