/**
 * Messages that are decided on and too large for the request that would bring them along: they are stored
 * by an effect of their own, some at a time.
 * Invariants: messages become nodes in their order, each once; no request, compaction or closing leaves
 * while they are under way.
 */
import { storeWork } from '../step/clock.js';
import { type ActivityEffect, type FlushOutput, refOf } from '../state/effect.js';
import type { Failure } from '../state/failure.js';
import { STORE_LIMITS, nextId, start } from '../step/inflight.js';
import { fitsBytes, jsonBytes, surelyFits } from '../json/json.js';
import type { OpenRun, Step } from '../state/run.js';
import type { TranscriptItem } from '../state/transcript.js';
import { leanEvents } from '../step/outbox.js';

/** What a request brings along by itself; its other parts and some events fit beside it. */
export const APPEND_BYTES_MAX = 24 * 1024;
/** What one effect stores, if it is more than one message. */
const STORED_AT_ONCE_BYTES_MAX = 40 * 1024;

/** 'hold' while messages are under way; undefined when a request can bring all of them along. */
export function storeMessages(run: OpenRun): Step<OpenRun> | 'hold' | undefined {
  if (run.storing !== undefined) return 'hold';
  return surelyFits(run.pending, APPEND_BYTES_MAX) || fitsBytes(run.pending, APPEND_BYTES_MAX)
    ? undefined
    : storeSome(run);
}

/** Stores as many of the oldest messages as fit one payload. */
export function storeSome(run: OpenRun): Step<OpenRun> {
  const append = oldestThatFit(run.pending);
  const effectId = nextId(run, 'flush');
  const head = run.head ?? run.frozen.prompt.hash;
  const storing = { effectId, messages: append.length };
  return start({ ...run, storing }, 'flush', (id, events): ActivityEffect => ({
    kind: 'flush',
    id,
    input: {
      v: 1,
      run: refOf(run),
      head,
      append,
      events: leanEvents(events, append),
    },
    limits: storeWork(run, STORE_LIMITS),
    summary: `${append.length} messages`,
  }));
}

function oldestThatFit(pending: readonly TranscriptItem[]): readonly TranscriptItem[] {
  let room = STORED_AT_ONCE_BYTES_MAX;
  const beyond = pending.findIndex((item, index) => {
    room -= jsonBytes(item);
    return room < 0 && index > 0;
  });
  return beyond < 0 ? pending : pending.slice(0, beyond);
}

/** They are nodes now. */
export function messagesStored(run: OpenRun, effectId: string, { head }: FlushOutput): OpenRun {
  const { storing, ...rest } = run;
  if (storing?.effectId !== effectId || head === undefined) return run;
  return { ...rest, head, pending: run.pending.slice(storing.messages) };
}

/** They cannot be stored: no request can be made any more, and one that ends goes without them. */
export function messagesNotStored(run: OpenRun, effectId: string, failure: Failure): OpenRun {
  const { storing, ...rest } = run;
  if (storing?.effectId !== effectId) return run;
  if (run.stopping !== undefined) return { ...rest, pending: [] };
  const { code, message } = failure;
  return { ...rest, modelFailure: { code, message, attempts: 1, outOfTime: false } };
}
