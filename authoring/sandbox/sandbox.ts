/** What code that runs for a sandboxed call works with: the work folder of the run, and commands in it. */
import type { Json } from '../../core/json/json.js';
import type { FolderEntries } from '../../pure/work-folder/entry.js';
import type { SandboxLimits } from '../../sandbox/limits.js';
import type { CommandEnd } from '../../sandbox/protocol.js';
import type { NamedHost } from '../../sandbox/proxy.js';

/** The work folder at one moment. */
export interface FolderView {
  readonly entries: FolderEntries;
  /** Contents by their sha256. */
  contents(hashes: Iterable<string>): Promise<ReadonlyMap<string, Buffer>>;
}

/** What becomes of the work folder, and what the call returns. */
export interface FolderChange<Made extends Json> {
  /** Paths with what lies there from now on; undefined: nothing does. */
  readonly files: ReadonlyMap<string, Buffer | undefined>;
  readonly result: Made;
}

export interface SandboxedCommand {
  /** A program and its arguments: `['npm', 'test']`. */
  readonly command: readonly string[];
  readonly stdin?: string;
  readonly env?: { readonly [name: string]: string };
  /** Of `parseHosts`; default: nothing is reached. */
  readonly hosts?: readonly NamedHost[];
  readonly limits?: Partial<SandboxLimits>;
  /** false: the folder stays as it is, as tools that only read have to leave it; default: true. */
  readonly keep?: boolean;
}

/** How the command ended, and what it did to the folder. A `type`: JSON, as results are. */
export type CommandResult = {
  readonly endedBy: CommandEnd['endedBy'];
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
  /** Paths; at most a hundred each. */
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** Sockets, pipes and the like that were not kept. */
  readonly skipped: number;
  /** Why the folder is as it was before, where it is. */
  readonly notKept?: string;
};

/** What code in a sandbox works with: its folder, and commands that run there. */
export interface Sandbox {
  look(): Promise<FolderView>;
  /**
   * Changes the folder once for this call: whatever is delivered again gets what was made. `make` is asked again where
   * another call changed the folder meanwhile. Errors: ToolError, and then nothing has changed.
   */
  change<Made extends Json>(
    make: (folder: FolderView) => FolderChange<Made> | Promise<FolderChange<Made>>,
  ): Promise<Made>;
  /**
   * Runs a command in the folder, isolated, and keeps what it made of the folder, once for this call. Errors: ToolError,
   * and then nothing of the folder has changed.
   */
  run(command: SandboxedCommand): Promise<CommandResult>;
  /**
   * For probes: what this call has returned when it changed the folder; null: it never did, and under this attempt
   * never will.
   */
  made(): Promise<Json | null>;
}
