/** How a run ended: answer first, then what it means and what it cost. */
import { previewOf } from '../../core/json/json.js';
import type { RunResult } from '../../core/state/result.js';
import { endingWords, headlineHasDetail } from '../../pure/ending-words.js';
import { costLine } from './amounts.js';
import { inert, inertLines } from './inert.js';
import { PLAIN, type Paint } from './paint.js';

export interface ResultOptions {
  readonly paint?: Paint;
  /** The whole answer, when the result itself holds only a reference to it. */
  readonly answer?: string;
  /** What to do next, where more is known than the result says. */
  readonly next?: string;
}

export function resultBlock(result: RunResult, options: ResultOptions = {}): string {
  const { paint = PLAIN } = options;
  const next = options.next === undefined ? result.nextSafeAction : paint.own(options.next);
  const status = result.completed
    ? paint.green('completed')
    : paint.yellow(inert(endingWords(result), 1_000));
  const text = options.answer ?? (result.answer && previewOf(result.answer));
  const partial = result.partialOutput && previewOf(result.partialOutput);
  return [
    ...(text === undefined ? [] : [...inertLines(text, 20_000), '']),
    ...(partial === undefined ? [] : [paint.dim('(cut off)'), ...inertLines(partial), '']),
    `${paint.bold(inert(result.runId))} ${status}`,
    ...(result.detail === undefined || result.completed || headlineHasDetail(result)
      ? []
      : [inert(result.detail, 1_000)]),
    ...(result.handedTo === undefined
      ? []
      : [`Goes on as ${inert(result.handedTo.runId)} with agent ${inert(result.handedTo.agent)}.`]),
    ...(next === undefined ? [] : [`Next: ${inert(next, 1_000)}`]),
    ...(result.budgetOverrun ? [paint.red('The vendor billed more than the budget allowed.')] : []),
    ...(result.unprocessed === undefined
      ? []
      : [`Arrived too late: ${inert(result.unprocessed.join('; '), 500)}`]),
    paint.dim(costLine(result.counters)),
  ].join('\n');
}
