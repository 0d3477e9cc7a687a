/** What one command may use. */
import { FOLDER_LIMITS, type FolderLimits } from '../pure/work-folder/entry.js';

export interface SandboxLimits {
  /** From its start, ms. */
  readonly timeMs: number;
  /** Of one process, seconds of processor time. */
  readonly cpuSeconds: number;
  /** Of all processes together, looked at several times a second; one process is held to it by the kernel. */
  readonly memoryBytes: number;
  /** Processes and threads at once. */
  readonly processes: number;
  /** Kept of each of its two outputs: the beginning and the end. */
  readonly outputBytes: number;
  /** Written in all before the command is ended. */
  readonly floodBytes: number;
  /** In /tmp, which goes with the command. */
  readonly temporaryBytes: number;
  readonly folder: FolderLimits;
}

const MIB = 1024 * 1024;

export const SANDBOX_LIMITS: SandboxLimits = {
  timeMs: 120_000,
  cpuSeconds: 300,
  memoryBytes: 1024 * MIB,
  processes: 256,
  outputBytes: 32 * 1024,
  floodBytes: 64 * MIB,
  temporaryBytes: 128 * MIB,
  folder: FOLDER_LIMITS,
};

/** The limits, where some of them are given. */
export function limitsWith(given: Partial<SandboxLimits> = {}): SandboxLimits {
  return { ...SANDBOX_LIMITS, ...given };
}
