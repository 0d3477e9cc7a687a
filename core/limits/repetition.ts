/**
 * Repeated actions: the same call with the same result, again and again without anything new in between
 * (G21). First the model gets a notice, the next time a person is needed.
 * Invariants: an action that the run has not seen, another call or another result, is progress and starts
 * all counts again, so that `a b a b` is noticed and `a b a c a d` is not; the table is bounded.
 */
import { reached } from '../state/budget-fields.js';
import { sha256Hex } from '../json/digest.js';
import type { StoredText } from '../json/json.js';
import type { OpenRun, Repetition } from '../state/run.js';
import type { ToolResult } from '../state/tool-result.js';
import type { Call } from '../state/call.js';

export const REPETITION_NOTICE =
  'You have made the same call several times and got the same result. Do something else, or give your answer.';
/** Different actions that are remembered; a longer cycle is left to the budgets. */
const ACTIONS_MAX = 16;
const HASH_CHARS = 12;

const NOTHING: Repetition = { counts: {}, noticed: false };

/** Notes an executed call. */
export function noteAction(run: OpenRun, call: Call, result: ToolResult): OpenRun {
  if (!result.started || run.frozen.budget.maxRepeatedActions === 'unlimited') return run;
  const { counts, noticed } = run.repetition ?? NOTHING;
  const action = actionOf(call, result);
  const before = counts[action];
  if (before !== undefined) {
    return { ...run, repetition: { counts: { ...counts, [action]: before + 1 }, noticed } };
  }
  const known = Object.keys(counts).slice(1 - ACTIONS_MAX);
  const fresh = Object.fromEntries([...known, action].map((one) => [one, 1]));
  return { ...run, repetition: { counts: fresh, noticed: false } };
}

/** Not integer-like, so that the table keeps the order of its entries. */
function actionOf({ digest }: Call, { status, content }: ToolResult): string {
  return `a${sha256Hex(`${digest}:${status}:${hashOf(content)}`).slice(0, HASH_CHARS)}`;
}

export type RepetitionStep = 'none' | 'notice' | 'stop';

export function repetitionStep(run: OpenRun): RepetitionStep {
  const { counts, noticed } = run.repetition ?? NOTHING;
  const limit = run.frozen.budget.maxRepeatedActions;
  if (!Object.values(counts).some((count) => reached(count, limit))) return 'none';
  return noticed ? 'stop' : 'notice';
}

/** The notice is out: one more of the same is too much; a turn that executes nothing is not one more. */
export function afterNotice(run: OpenRun): OpenRun {
  const { repetition } = run;
  const { maxRepeatedActions: limit } = run.frozen.budget;
  if (repetition === undefined || limit === 'unlimited') return run;
  const counts = Object.fromEntries(
    Object.entries(repetition.counts).map(([action, count]) => [
      action,
      Math.min(count, limit - 1),
    ]),
  );
  return { ...run, repetition: { counts, noticed: true } };
}

function hashOf(content: StoredText): string {
  return 'text' in content ? sha256Hex(content.text) : content.$blob;
}
