/** Answers to senders that wait for one; the shell takes them after each step. */
import type { Run } from '../state/run.js';
import type { Verdict } from '../state/ask.js';

/** Nothing when nobody waits. */
export function withVerdict<R extends Run>(
  run: R,
  ticket: string | undefined,
  verdict: Verdict,
): R {
  return ticket === undefined ? run : { ...run, verdicts: [...run.verdicts, { ticket, verdict }] };
}
