/** Places of a recorded run as moments of a case: a question, a model call, a call of a tool, a hook. */
import type { RunEvent } from '../../core/state/event.js';
import { INTERRUPTED_CODES } from '../../core/state/tool-result.js';
import { isRecord } from '../../core/json/shape.js';
import type { WrittenPattern } from '../format/during.js';
import { asksIn, isClosing, type AskEvent } from './asked.js';
import type { Heard } from './heard.js';
import { outputOf, type Activity, type Recording } from './recording.js';
import { refused } from './refused.js';

export function isTogether(to: number | undefined, { together }: Heard): boolean {
  return to !== undefined && to > together.after && to < together.before;
}

export function isOpenAt(ask: AskEvent, { at }: Heard, events: readonly RunEvent[]): boolean {
  const closed = events.find((event) => isClosing(event) && event.askId === ask.askId);
  return ask.stamp.at < at && (closed === undefined || closed.stamp.at >= at);
}

/** The k-th question of its kind about its call. */
export function ofAsk(ask: AskEvent, events: readonly RunEvent[]): WrittenPattern {
  const same = asksIn(events).filter(
    (one) => one.type === ask.type && (ask.callId === undefined || one.callId === ask.callId),
  );
  const n = same.findIndex(({ askId }) => askId === ask.askId) + 1;
  return {
    event: ask.type,
    ...(ask.callId !== undefined && { call: ask.callId }),
    ...(n > 1 && { n }),
  };
}

/** It came together with the end of this activity. */
export function whenEnded(
  activity: Activity,
  events: readonly RunEvent[],
): WrittenPattern | undefined {
  switch (activity.kind) {
    case 'call_model':
      return activity.end.kind === 'completed'
        ? { modelCall: callNumber(activity), at: 'after' }
        : undefined;
    case 'execute_tool':
      return { event: 'tool_finished', call: callId(activity) };
    case 'run_hooks':
      return ofHook(activity, events);
    default:
      return undefined;
  }
}

export const STOPS: readonly string[] = ['interrupt', 'cancel', 'close'];

export function whileFlying(
  activity: Activity,
  events: readonly RunEvent[],
  said = '',
): WrittenPattern | undefined {
  // A tool hears late that it is to stop, or does not listen: what it brought all the same had come with the word.
  if (STOPS.includes(said) && hasAnswered(activity)) return whenEnded(activity, events);
  switch (activity.kind) {
    case 'call_model': {
      const reply = outputOf(activity, 'call_model')?.reply;
      const said = reply?.partial === true && reply.text !== undefined;
      return { modelCall: callNumber(activity), at: said ? 'streaming' : 'before' };
    }
    case 'execute_tool':
      return { event: 'tool_started', call: callId(activity) };
    case 'run_hooks':
      return ofHook(activity, events);
    case 'open_run':
      return { start: true };
    default:
      return undefined;
  }
}

function hasAnswered(activity: Activity): boolean {
  if (activity.kind !== 'execute_tool') return false;
  const outcome = outputOf(activity, 'execute_tool')?.outcome;
  return (
    outcome?.kind === 'ok' ||
    (outcome?.kind === 'error' && !INTERRUPTED_CODES.includes(outcome.code))
  );
}

function ofHook(activity: Activity, events: readonly RunEvent[]): WrittenPattern | undefined {
  const { point, payload } = activity.input as { readonly [key: string]: unknown };
  const told = events.some((event) => event.type === 'hook' && event.name === point);
  if (!told) return undefined;
  const call = isRecord(payload) ? payload.call_id : undefined;
  return {
    event: 'hook',
    name: point,
    ...(typeof call === 'string' && { call }),
  } as WrittenPattern;
}

/** Nothing that both engines can stand in was under way: the next model call, else the newest. */
export function nearest(
  { activities }: Pick<Recording, 'activities'>,
  { place }: Pick<Heard, 'place'>,
): WrittenPattern {
  const calls = activities.filter(({ kind }) => kind === 'call_model');
  const next = calls.find(({ from }) => from > place);
  if (next !== undefined) return { modelCall: callNumber(next), at: 'before' };
  const last = calls.at(-1);
  if (last === undefined) return { start: true };
  return { modelCall: callNumber(last), at: 'after' };
}

function callNumber({ input }: Activity): number {
  const { call } = (input ?? {}) as { readonly call?: unknown };
  if (typeof call === 'number') return call;
  throw refused('a model call has no number');
}

function callId({ input }: Activity): string {
  const { call } = (input ?? {}) as { readonly call?: { readonly callId?: unknown } };
  if (typeof call?.callId === 'string') return call.callId;
  throw refused('a call of a tool has no id');
}
