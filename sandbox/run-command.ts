/**
 * One command in a sandbox: the work folder goes in, the command runs, the work folder comes back.
 * Invariants: nothing of the host is written to; whatever the command does, this ends: after its time and what its
 * folder needs on the way, the sandbox is killed from outside; what comes back is bounded and checked.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { folderDefect, type FolderEntries, type FolderEntry } from '../pure/work-folder/entry.js';
import { NODE_INSIDE, PATH_INSIDE, programsFolder, type Isolation } from './isolation.js';
import { limitsWith, type SandboxLimits } from './limits.js';
import {
  FrameCut,
  frameOf,
  readFrame,
  type CommandEnd,
  type Frame,
  type SandboxReply,
  type SandboxRequest,
} from './protocol.js';
import { openProxy, type NamedHost, type ProxyOptions } from './proxy.js';

export interface SandboxCommand {
  readonly argv: readonly string[];
  readonly stdin?: string;
  readonly env?: { readonly [name: string]: string };
  /** Reached by HTTPS through a proxy; default: nothing is reached. */
  readonly hosts?: readonly NamedHost[];
  readonly limits?: Partial<SandboxLimits>;
  /** How hosts are found; default: as this machine finds them. */
  readonly proxy?: ProxyOptions;
  readonly signal: AbortSignal;
}

export interface WorkFolder {
  readonly entries: FolderEntries;
  /** By sha256. */
  readonly contents: ReadonlyMap<string, Buffer>;
}

export interface CommandRan {
  readonly end: CommandEnd;
  /** Why the folder cannot be kept. */
  readonly refused?: string;
  readonly entries: FolderEntries;
  /** Only those that were not there before. */
  readonly fresh: ReadonlyMap<string, Buffer>;
  readonly skipped: number;
}

/** The sandbox did not answer, or answered what cannot be read: nothing of it is kept. */
export class SandboxBroken extends Error {}

const PROXY_PORT = 3_128;
const PROXY_FOLDER = '/proxy';
const MEMORY_OF_NODE = 512 * 1024 * 1024;
/** For making the folder, reading it and starting. */
const MARGIN_MS = 30_000;
/** A reply's head beside the contents of files. */
const HEAD_BYTES_MAX = 8 * 1024 * 1024;
const ERRORS_CHARS_MAX = 1_000;
/** What lies in a tmpfs takes whole pages. */
const PAGE_BYTES = 4_096;

export async function runInSandbox(
  isolation: Isolation,
  folder: WorkFolder,
  command: SandboxCommand,
): Promise<CommandRan> {
  const { hosts = [] } = command;
  const limits = limitsWith(command.limits);
  const proxy = hosts.length === 0 ? undefined : await openProxy(hosts, command.proxy);
  try {
    const request = requestOf(folder, { ...command, limits, isProxied: proxy !== undefined });
    const argv = isolation.command({
      argv: [NODE_INSIDE, '--max-old-space-size=512', '/holdfast/inside/main.js'],
      shown: {
        '/holdfast': programsFolder(),
        ...(proxy !== undefined && { [PROXY_FOLDER]: proxy.folder }),
      },
      scratch: {
        '/work': limits.folder.bytes + PAGE_BYTES * limits.folder.entries,
        '/tmp': limits.temporaryBytes,
      },
      limits: kernelLimits(limits),
    });
    const frame = frameOf({ head: request, contents: folder.contents });
    const reply = await exchange(argv, frame, { limits, signal: command.signal });
    return read(() => checked(reply, { folder, limits }));
  } finally {
    await proxy?.close();
  }
}

/** Whatever a hostile reply makes fail is the sandbox's failure. */
function read<T>(check: () => T): T {
  try {
    return check();
  } catch (cause) {
    if (cause instanceof SandboxBroken) throw cause;
    throw new SandboxBroken('The answer of the sandbox cannot be read.', { cause });
  }
}

function kernelLimits({ cpuSeconds, memoryBytes, processes, folder }: SandboxLimits) {
  return [
    `--cpu=${cpuSeconds}`,
    `--data=${memoryBytes + MEMORY_OF_NODE}`,
    `--nproc=${processes}`,
    `--fsize=${folder.bytes}`,
    '--nofile=1024',
    '--core=0',
  ];
}

type BoundedCommand = Omit<SandboxCommand, 'limits'> & {
  readonly limits: SandboxLimits;
  readonly isProxied: boolean;
};

function requestOf(
  { entries, contents }: WorkFolder,
  { argv, stdin, env = {}, limits, isProxied }: BoundedCommand,
): SandboxRequest {
  const address = `http://127.0.0.1:${PROXY_PORT}`;
  return {
    argv,
    env: {
      PATH: PATH_INSIDE,
      HOME: '/tmp',
      TMPDIR: '/tmp',
      LANG: 'C.UTF-8',
      // The work folder is not owned by whom the command runs as.
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      ...(isProxied && { HTTPS_PROXY: address, https_proxy: address }),
      ...env,
    },
    ...(stdin !== undefined && { stdin }),
    limits,
    ...(isProxied && { proxy: { socket: `${PROXY_FOLDER}/socket`, port: PROXY_PORT } }),
    entries: [...entries],
    contents: [...contents].map(([hash, content]) => [hash, content.length]),
  };
}

interface Bounds {
  readonly limits: SandboxLimits;
  readonly signal: AbortSignal;
}

async function exchange(
  [command = '', ...args]: readonly string[],
  request: Buffer,
  { limits, signal }: Bounds,
): Promise<Frame<SandboxReply>> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env: {}, cwd: '/' });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors = `${errors}${chunk}`.slice(-ERRORS_CHARS_MAX);
  });
  const kill = (): void => void child.kill('SIGKILL');
  const late = setTimeout(kill, limits.timeMs + MARGIN_MS);
  // The program inside ends the command, and hands back what there is.
  const stop = (): void => void child.stdin.end();
  const gone = ended(child);
  try {
    child.stdin.on('error', () => undefined).write(request);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const bytesMax = limits.folder.bytes + 2 * limits.outputBytes * 6 + HEAD_BYTES_MAX;
    return await readFrame<SandboxReply>(child.stdout, bytesMax).catch((cause: unknown) => {
      const why =
        cause instanceof FrameCut
          ? 'All of its processes ended before one told how the command ended.'
          : (cause as Error).message;
      throw new SandboxBroken(`The sandbox did not answer. ${why}`, { cause });
    });
  } catch (error) {
    kill();
    await gone;
    if (error instanceof SandboxBroken) error.message = `${error.message} ${errors}`.trim();
    throw error;
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', stop);
    kill();
    await gone;
  }
}

/** Its user may end before it does: there is nothing left then that could write. */
function ended(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<void> {
  return new Promise((resolve) => {
    child.once('error', () => resolve()).once('close', () => resolve());
  });
}

function checked(
  { head, contents }: Frame<SandboxReply>,
  { folder, limits }: { readonly folder: WorkFolder; readonly limits: SandboxLimits },
): CommandRan {
  const { end, skipped } = head;
  const base = { end: checkedEnd(end, limits), skipped: Number(skipped) || 0 };
  if (head.entries === undefined) {
    const refused = String(head.refused ?? 'The work folder did not come back.').slice(0, 500);
    return { ...base, refused, entries: folder.entries, fresh: new Map() };
  }
  const entries = new Map<string, FolderEntry>(head.entries);
  const defect = folderDefect(entries, limits.folder) ?? contentDefect(entries, contents, folder);
  if (defect !== undefined)
    return {
      ...base,
      refused: `The work folder has ${defect}.`,
      entries: folder.entries,
      fresh: new Map(),
    };
  return { ...base, entries, fresh: contents };
}

/** Every content is what its name says, and there. */
function contentDefect(
  entries: FolderEntries,
  fresh: ReadonlyMap<string, Buffer>,
  { contents }: WorkFolder,
): string | undefined {
  for (const [hash, content] of fresh) {
    if (createHash('sha256').update(content).digest('hex') !== hash)
      return 'a content of another name';
  }
  for (const [path, entry] of entries) {
    if (entry.kind !== 'file') continue;
    const content = fresh.get(entry.hash) ?? contents.get(entry.hash);
    if (content?.length !== entry.bytes) return `no content for ${JSON.stringify(path)}`;
  }
  return undefined;
}

const ENDINGS = ['exit', 'time', 'memory', 'output', 'stop'] as const;

function checkedEnd(end: CommandEnd, { outputBytes }: SandboxLimits): CommandEnd {
  const { endedBy, exitCode, signal, stdout, stderr, durationMs } = end;
  const known = ENDINGS.find((one) => one === endedBy);
  if (known === undefined)
    throw new SandboxBroken('The sandbox did not say how the command ended.');
  const output = ({ text, omitted }: CommandEnd['stdout']) => ({
    text: String(text).slice(0, 2 * outputBytes),
    omitted: Number(omitted) || 0,
  });
  return {
    endedBy: known,
    exitCode: Number.isInteger(exitCode) ? exitCode : null,
    signal: signal === null ? null : String(signal).slice(0, 20),
    stdout: output(stdout),
    stderr: output(stderr),
    durationMs: Number(durationMs) || 0,
  };
}
