/** Stop reasons of the caller's own domain: a task lists them, the result says them as its `detail`. */
import type { Run } from '../state/run.js';

/** The word, when it is one of the task's stop reasons. */
export function domainReason(run: Run, word: string | undefined): string | undefined {
  const wanted = word?.trim();
  return (run.start.task.stopReasons ?? []).find((reason) => reason === wanted);
}
