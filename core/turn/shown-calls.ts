/**
 * The calls of a reply as its event shows them: bounded, as every event is.
 * Invariant: where something of them is left out, the event names the message that has all of it.
 */
import type { EventBody } from '../state/event.js';
import { follows } from '../step/changes.js';
import type { OpenRun, Turn } from '../state/run.js';

type ModelResponse = Extract<EventBody, { type: 'model_response' }>;
export type ShownCalls = ModelResponse['calls'];

/** Arguments beyond this much in all are left out. */
const EVENT_ARGS_CHARS = 8_000;
const EVENT_CALLS_MAX = 32;

export function shownCalls(
  run: OpenRun,
  { calls, reply }: Turn,
): Pick<ModelResponse, 'calls' | 'head'> {
  let room = EVENT_ARGS_CHARS;
  const shown = calls.slice(0, EVENT_CALLS_MAX).map(({ id, tool, args }) => {
    const size = JSON.stringify(args).length;
    room -= size;
    return { id, tool, args: room >= 0 ? args : { $omitted: size } };
  });
  const isWhole = room >= 0 && shown.length === calls.length + (reply.surplus ?? 0);
  const { head } = run;
  if (isWhole || typeof head !== 'string' || !follows(run, 'namedReplies')) {
    return { calls: shown };
  }
  return { calls: shown, head };
}
