/**
 * Events as payloads carry them: what a payload says elsewhere is not said again.
 * Invariant: `wholeEvents` gives back exactly the events that `wireForm` and `leanEvents` were given.
 */
import type { RunRef } from '../state/effect.js';
import type { EventStamp, RunEvent, WireEvent, WireStamp } from '../state/event.js';
import type { StoredText } from '../json/json.js';
import type { TranscriptItem } from '../state/transcript.js';

/** An event behind the one before it in its payload. */
export function wireForm(event: RunEvent, before: RunEvent | undefined): WireEvent {
  return { ...event, stamp: stampAfter(event.stamp, before?.stamp) };
}

function stampAfter(
  { seq, at, phase, step, turn, rule }: EventStamp,
  before?: EventStamp,
): WireStamp {
  return {
    seq,
    ...(at !== before?.at && { at }),
    ...(phase !== before?.phase && { phase }),
    ...(step !== before?.step && { step }),
    ...(turn !== before?.turn && { turn }),
    ...(rule !== before?.rule && { rule: rule ?? null }),
  };
}

/** Leaves out results that the payload appends to the transcript. */
export function leanEvents(
  events: readonly WireEvent[],
  append: readonly TranscriptItem[],
): readonly WireEvent[] {
  const results = resultsOf(append);
  return events.map((event) => {
    if (event.type !== 'tool_finished' || event.content === null) return event;
    const appended = results.get(event.callId);
    return appended !== undefined && sameText(appended, event.content)
      ? { ...event, content: null }
      : event;
  });
}

export interface EventsInPayload {
  readonly run: RunRef;
  readonly events: readonly WireEvent[];
  readonly append?: readonly TranscriptItem[];
}

/** The events of a payload with all that was left out of them. */
export function wholeEvents({ run, events, append = [] }: EventsInPayload): readonly RunEvent[] {
  const results = resultsOf(append);
  const { runId, traceId } = run;
  let before: EventStamp = { ...FIRST, runId, traceId };
  return events.map((event): RunEvent => {
    const stamp = stampBehind(before, event.stamp);
    before = stamp;
    if (event.type !== 'tool_finished') return { ...event, stamp };
    const content = event.content ?? results.get(event.callId) ?? { text: '' };
    return { ...event, content, stamp };
  });
}

function stampBehind({ rule: ruleBefore, ...before }: EventStamp, given: WireStamp): EventStamp {
  const { rule = ruleBefore, ...said } = given;
  return { ...before, ...said, ...(typeof rule === 'string' && { rule }) };
}

/** What the first event of a payload says itself. */
const FIRST = { seq: 0, at: 0, phase: 'initializing', step: 0, turn: 0 } as const;

/** References are as short as what would stand in their place. */
function sameText(a: StoredText, b: StoredText): boolean {
  return 'text' in a && 'text' in b && a.text === b.text;
}

/** By call id; of two results with one id neither is used. */
function resultsOf(append: readonly TranscriptItem[]): ReadonlyMap<string, StoredText> {
  const results = new Map<string, StoredText>();
  const twice = new Set<string>();
  for (const item of append) {
    if (item.kind !== 'results') continue;
    for (const { callId, content } of item.results) {
      if (results.has(callId)) twice.add(callId);
      results.set(callId, content);
    }
  }
  for (const callId of twice) results.delete(callId);
  return results;
}
