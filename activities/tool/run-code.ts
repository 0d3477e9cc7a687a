/**
 * Runs a tool's code under its limits.
 * Invariants: it always ends, at the latest `graceMs` after the timeout or a stop; what the code said in
 * that time counts, because its effect is as real as one in time.
 */

import type { Timers } from '../timers.js';

export type CodeOutcome =
  | { readonly kind: 'returned'; readonly value: unknown }
  /** Threw before anything stopped it, or a ToolError at any time. */
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'stopped' };

export interface CodeLimits {
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly timers: Timers;
  /** Stops the code from outside. */
  readonly stop: AbortSignal;
  /** Errors that mean what they say even after a stop. */
  readonly isDefinite: (error: unknown) => boolean;
}

export function runCode(
  code: (signal: AbortSignal) => Promise<unknown>,
  limits: CodeLimits,
): Promise<CodeOutcome> {
  return new Promise((resolve) => {
    const controller = new AbortController();
    const pending: (() => void)[] = [];
    let stopped: 'timed_out' | 'stopped' | undefined;

    const end = (outcome: CodeOutcome): void => {
      for (const cancel of pending) cancel();
      limits.stop.removeEventListener('abort', onStop);
      resolve(outcome);
    };
    const halt = (kind: 'timed_out' | 'stopped'): void => {
      if (stopped !== undefined) return;
      stopped = kind;
      pending.push(limits.timers.after(limits.graceMs, () => end({ kind })));
      controller.abort(new Error(kind === 'timed_out' ? 'The tool timed out.' : 'Stopped.'));
    };
    const onStop = (): void => halt('stopped');

    pending.push(limits.timers.after(limits.timeoutMs, () => halt('timed_out')));
    limits.stop.addEventListener('abort', onStop, { once: true });
    if (limits.stop.aborted) onStop();
    // A tool that throws synchronously is a tool that rejects.
    Promise.resolve()
      .then(() => code(controller.signal))
      .then(
        (value) => end({ kind: 'returned', value }),
        (error: unknown) =>
          end(
            stopped === undefined || limits.isDefinite(error)
              ? { kind: 'threw', error }
              : { kind: stopped },
          ),
      );
  });
}
