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

/** Where a request to a model was begun. */
export interface RequestPlace {
  readonly step: number;
  /** Number of the model call. */
  readonly call: number;
}

export interface ShownReply {
  readonly reply?: ReplyView;
  /** The request that it answers, where that is another one than the newest. */
  readonly answered?: RequestPlace;
}

/**
 * The newest reply since the newest request, at the end of a step. A step may receive the reply to one request and begin the
 * next; for the steps behind it that reply is an older one.
 */
export function shownReply(fold: Fold, step: number, newest: RequestPlace | undefined): ShownReply {
  if (fold.kind !== 'run') return {};
  const begun = newest?.step ?? 0;
  for (let at = step; at > begun || at === step; at -= 1) {
    if (!fold.steps[at - 1]!.inputs.some(({ type }) => type === 'model_replied')) continue;
    const { request, ...found } = replyOf(fold, at);
    return request === undefined || request.step === begun
      ? found
      : { ...found, answered: request };
  }
  return {};
}

interface FoundReply extends Pick<ShownReply, 'reply'> {
  /** The one that it answers; absent: the index does not have that. */
  readonly request?: RequestPlace;
}

function replyOf(fold: RunFold, step: number): FoundReply {
  for (const input of fold.at(step).given.toReversed()) {
    if (input.type !== 'model_replied') continue;
    const request = requestOf(fold, input.id, step);
    const { text, stop, refusal, calls } = input.output.reply;
    const reply = {
      step,
      ...(request !== undefined && { call: request.call }),
      stop,
      ...(text !== undefined && { text }),
      ...(refusal !== undefined && { refusal }),
      calls: calls.map(({ id, tool, args }) => ({ id, tool, args })),
    };
    return { reply, ...(request !== undefined && { request }) };
  }
  return {};
}

function requestOf({ steps }: RunFold, id: string, before: number): RequestPlace | undefined {
  for (let index = before - 1; index >= 0; index -= 1) {
    const begun = steps[index]!.effects.find((one) => one.kind === 'call_model' && one.id === id);
    if (begun !== undefined)
      return begun.call === undefined ? undefined : { step: index + 1, call: begun.call };
  }
  return undefined;
}
