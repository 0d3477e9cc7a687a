/**
 * Workers on the same task queue that are not of this process: starts go to any of them, whatever code they have.
 * Invariant: each is told once, and only one that has asked for work since this began, or that lives on this machine: its
 * last question may be a minute old, as long as it waits for the answer. One that has ended on this machine is told when it
 * asks again: it runs in a container with this machine's name.
 */
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Poller } from '../../client/index.js';
import { identityOf } from '../../devserver/process-identity.js';
import { inert } from '../render/index.js';

const EVERY_MS = 15_000;
/** Clocks of server and machine. */
const SKEW_MS = 2_000;
/** One question waits for so long at most. */
const POLL_MS = 90_000;
const NAME_CHARS_MAX = 200;
const TOLD_MAX = 20;

export interface NeighbourSettings {
  readonly taskQueue: string;
  readonly pollers: () => Promise<readonly Poller[]>;
  readonly tell: (line: string) => void;
  readonly everyMs?: number;
  /** Of this process; default: its own. */
  readonly self?: string;
  /** Folder in which a process of this machine runs; default: what the system says, where it does. */
  readonly folderOf?: (pid: number) => string | undefined;
}

/** Looks from now on. Gives what ends it. */
export function watchNeighbours(settings: NeighbourSettings): () => void {
  const { pollers, tell, everyMs = EVERY_MS, self = `${process.pid}@${hostname()}` } = settings;
  const since = Date.now() - SKEW_MS;
  const told = new Set<string>();
  const ended = new Map<string, number>();
  let isOver = false;
  const look = async (): Promise<void> => {
    const found = await pollers().catch(() => []);
    for (const { identity, askedAt } of found) {
      if (identity === self) continue;
      const isHere = folderIn(identity, settings) !== undefined;
      if (askedAt < (isHere ? since - POLL_MS : since)) continue;
      if (!isHere && (await hasEnded(identity))) {
        const before = ended.get(identity) ?? askedAt;
        ended.set(identity, before);
        if (askedAt === before) continue;
      }
      if (told.has(identity)) continue;
      if (told.size >= TOLD_MAX || isOver) return;
      told.add(identity);
      tell(lineOf(identity, settings));
    }
  };
  void look();
  const timer = setInterval(() => void look(), everyMs).unref();
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

/** Of a process that lives on this machine, where the system says so. */
function folderIn(
  identity: string,
  { folderOf = folderHere }: Pick<NeighbourSettings, 'folderOf'>,
): string | undefined {
  const pid = pidHere(identity);
  return pid === undefined ? undefined : folderOf(pid);
}

/** Undefined: it names no process of this machine. */
function pidHere(identity: string): number | undefined {
  const [, pid, host] = /^(\d+)@(.*)$/.exec(identity) ?? [];
  return host === hostname() ? Number(pid) : undefined;
}

async function hasEnded(identity: string): Promise<boolean> {
  const pid = pidHere(identity);
  return pid !== undefined && (await identityOf(pid)) === undefined;
}

function lineOf(identity: string, settings: NeighbourSettings): string {
  const { taskQueue } = settings;
  const folder = folderIn(identity, settings);
  const who = inert(identity, NAME_CHARS_MAX);
  const where = folder === undefined ? '' : `, running in ${inert(folder, NAME_CHARS_MAX)},`;
  return `Another worker (${who})${where} is on the task queue ${taskQueue}. A run goes to either of them, whatever code each has. Projects that share a server need queues of their own: --task-queue NAME, or HOLDFAST_TASK_QUEUE.`;
}

function folderHere(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}
