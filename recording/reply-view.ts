/** The newest reply of the model after a step, as it came. */
import type { ProposedCall, Reply } from '../core/state/model.js';
import type { StoredText } from '../core/json/json.js';
import type { Fold, RunFold } from './fold.js';

export interface ReplyView {
  /** That received it. */
  readonly step: number;
  /** Number of the model call that it answers; absent: the index does not have that. */
  readonly call?: number;
  readonly stop: Reply['stop'];
  /** Absent: it has none. */
  readonly text?: StoredText;
  readonly refusal?: string;
  readonly calls: readonly Pick<ProposedCall, 'id' | 'tool' | 'args'>[];
}

/** Undefined: none was received since `from`, a step, or before the end of `upTo`. */
export function newestReply(
  fold: Fold,
  { from, upTo }: { readonly from: number; readonly upTo: number },
): ReplyView | undefined {
  if (fold.kind !== 'run') return undefined;
  for (let step = upTo; step >= Math.max(1, from); step -= 1) {
    if (fold.steps[step - 1]!.inputs.some(({ type }) => type === 'model_replied')) {
      return replyOf(fold, step);
    }
  }
  return undefined;
}

function replyOf(fold: RunFold, step: number): ReplyView | undefined {
  for (const input of fold.at(step).given.toReversed()) {
    if (input.type !== 'model_replied') continue;
    const call = callOf(fold, input.id, step);
    const { text, stop, refusal, calls } = input.output.reply;
    return {
      step,
      ...(call !== undefined && { call }),
      stop,
      ...(text !== undefined && { text }),
      ...(refusal !== undefined && { refusal }),
      calls: calls.map(({ id, tool, args }) => ({ id, tool, args })),
    };
  }
  return undefined;
}

function callOf({ steps }: RunFold, id: string, before: number): number | undefined {
  for (let index = before - 1; index >= 0; index -= 1) {
    const begun = steps[index]!.effects.find((one) => one.kind === 'call_model' && one.id === id);
    if (begun !== undefined) return begun.call;
  }
  return undefined;
}
