import { readFile } from 'node:fs/promises';
import { runCommand } from './run-command.js';

/** A process for good: its id is used again one day, its id and start time are not. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time as the platform tells it; empty where it does not. */
  readonly started: string;
}

/** The process behind an id now, or undefined when there is none (a zombie is none). */
export async function identityOf(pid: number): Promise<ProcessIdentity | undefined> {
  if (!signalReaches(pid)) return undefined;
  if (process.platform === 'linux') return linuxIdentity(pid);
  if (process.platform === 'win32') return { pid, started: '' };
  const result = await runCommand({
    file: '/bin/ps',
    args: ['-o', 'lstart=', '-p', String(pid)],
    environment: { LC_ALL: 'C' },
    timeoutMs: 5000,
  });
  return result.ok ? { pid, started: result.output.trim() } : undefined;
}

/** Whether this very process still runs. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  const now = await identityOf(identity.pid);
  return now !== undefined && now.started === identity.started;
}

/** Our own identity. */
export async function ownIdentity(): Promise<ProcessIdentity> {
  return (await identityOf(process.pid)) ?? { pid: process.pid, started: '' };
}

/** Reads an identity back from JSON. */
export function asIdentity(value: unknown): ProcessIdentity | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { pid, started } = value as { pid?: unknown; started?: unknown };
  if (!Number.isSafeInteger(pid) || typeof started !== 'string') return undefined;
  return { pid: pid as number, started };
}

function signalReaches(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function linuxIdentity(pid: number): Promise<ProcessIdentity | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may hold spaces and brackets; after it come state and, 19 fields on, the start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return { pid, started: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
