/** A worker process that tells its parent where it is and does nothing more until it is told to. */
import { readSync, writeSync } from 'node:fs';
import { RELEASE_FD, type Report } from './protocol.js';

const STDOUT_FD = 1;
const PAUSE_MS = 5;

export function tell(report: Report): void {
  writeSync(STDOUT_FD, `${JSON.stringify(report)}\n`);
}

/**
 * Blocks the whole thread: no timer, no heartbeat and no other run moves on. Whoever is to kill this process
 * finds it exactly here. It ends with its parent, whose end of the pipe then closes.
 */
export function standStill(report: Report): void {
  tell(report);
  const byte = Buffer.alloc(1);
  for (;;) {
    try {
      if (readSync(RELEASE_FD, byte, 0, 1, null) === 0) process.exit(1);
      return;
    } catch (error) {
      // A SIGSTOP with its SIGCONT interrupts the read.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EINTR' && code !== 'EAGAIN') process.exit(1);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}
