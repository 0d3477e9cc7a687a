/** The end of a process whose output is looked at: 'exit' may come before the last of what it wrote. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** Processes that it has started may hold its pipes open. */
const PIPES_MS = 10_000;

/** Its exit code, null after a signal, once all that it wrote has been read. */
export async function readToTheEnd(child: ChildProcess): Promise<number | null> {
  // A process that could not be started has no end; the exit says so.
  const closed = once(child, 'close').catch(() => undefined);
  await once(child, 'exit');
  const late = new AbortController();
  await Promise.race([closed, sleep(PIPES_MS, undefined, { signal: late.signal }).catch(() => {})]);
  late.abort();
  return child.exitCode;
}
