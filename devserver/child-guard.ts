import type { ChildProcess } from 'node:child_process';

/*
 * Children in process groups of their own do not hear a terminal's Ctrl-C and would outlive us.
 * The guard kills them when this process exits, and when a signal would end it unheard.
 */

const GUARDED_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

const guarded = new Set<ChildProcess>();

/** Ends the child when this process ends; returns what takes the guard away. */
export function guardChild(child: ChildProcess): () => void {
  if (guarded.size === 0) {
    process.on('exit', killGuarded);
    for (const signal of GUARDED_SIGNALS) process.on(signal, onSignal);
  }
  guarded.add(child);
  return () => {
    if (guarded.delete(child) && guarded.size === 0) removeHandlers();
  };
}

/** An exit handler cannot wait for a graceful end, and the database survives a kill. */
function killGuarded(): void {
  for (const child of guarded) child.kill('SIGKILL');
}

function onSignal(signal: NodeJS.Signals): void {
  // With a handler of its own the application decides when it stops its servers.
  if (process.listenerCount(signal) > 1) return;
  killGuarded();
  guarded.clear();
  removeHandlers();
  // Our handler had taken the place of the default action.
  process.kill(process.pid, signal);
}

function removeHandlers(): void {
  process.off('exit', killGuarded);
  for (const signal of GUARDED_SIGNALS) process.off(signal, onSignal);
}
