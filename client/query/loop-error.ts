/** A run that stopped without completing, as an error, for callers who want it thrown (C4). */
import { HoldfastError } from '../../core/state/errors.js';
import type { RunResult } from '../../core/state/result.js';
import type { SDKResultError } from '../../pure/sdk/message.js';

/** A run of `runOrThrow` stopped without completing: the message says why, `result` and `ending` have the whole of it. */
export class LoopError extends HoldfastError {
  readonly result: RunResult;
  /** The last message of the run. */
  readonly ending: SDKResultError;

  constructor(ending: SDKResultError) {
    const { run_result: result, errors } = ending;
    // The reason, and what to do: truer than the result's own words.
    const [, next] = result.nextSafeAction === undefined ? [] : errors;
    const why = result.detail === undefined ? '' : ` (${result.detail})`;
    super(
      'RunNotCompleted',
      `Run ${result.runId} stopped without completing: ${result.stopReason}${why}.`,
      {
        ...(next !== undefined && { hint: next }),
        details: { runId: result.runId, stopReason: result.stopReason },
      },
    );
    this.name = 'LoopError';
    this.result = result;
    this.ending = ending;
  }
}
