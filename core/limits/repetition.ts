/**
 * Repeated actions: the same call with the same result, in a row (G21). First the model gets a notice,
 * the next time a person is needed.
 */
import { reached } from '../budget-fields.js';
import { sha256Hex } from '../digest.js';
import type { StoredText } from '../json.js';
import type { OpenRun } from '../run.js';
import type { ToolResult } from '../tool-result.js';
import type { Call } from '../call/call.js';

export const REPETITION_NOTICE =
  'You have made the same call several times and got the same result. Do something else, or give your answer.';

/** Notes an executed call; anything new starts the count again. */
export function noteAction(run: OpenRun, call: Call, result: ToolResult): OpenRun {
  if (!result.started || run.frozen.budget.maxRepeatedActions === 'unlimited') return run;
  const action = `${call.digest}:${result.status}:${hashOf(result.content)}`;
  const same = run.repetition?.action === action ? run.repetition : undefined;
  const repetition = {
    action,
    count: (same?.count ?? 0) + 1,
    noticed: same?.noticed ?? false,
  };
  return { ...run, repetition };
}

export type RepetitionStep = 'none' | 'notice' | 'stop';

export function repetitionStep(run: OpenRun): RepetitionStep {
  const { repetition } = run;
  if (!repetition || !reached(repetition.count, run.frozen.budget.maxRepeatedActions))
    return 'none';
  return repetition.noticed ? 'stop' : 'notice';
}

/** The notice is out: one more of the same is too much; a turn that executes nothing is not one more. */
export function afterNotice(run: OpenRun): OpenRun {
  const { repetition } = run;
  const { maxRepeatedActions: limit } = run.frozen.budget;
  if (repetition === undefined || limit === 'unlimited') return run;
  return { ...run, repetition: { ...repetition, count: limit - 1, noticed: true } };
}

function hashOf(content: StoredText): string {
  return 'text' in content ? sha256Hex(content.text) : content.$blob;
}
