/**
 * Events as payloads carry them: what a payload says elsewhere is not said again.
 * Invariant: `wholeEvents` gives back exactly the events that `leanEvents` was given.
 */
import type { RunRef } from './effect.js';
import type { RunEvent, WireEvent } from './event.js';
import type { StoredText } from './json.js';
import type { TranscriptItem } from './transcript.js';

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
  return events.map((event): RunEvent => {
    const stamp = { ...event.stamp, runId: run.runId, traceId: run.traceId };
    if (event.type !== 'tool_finished') return { ...event, stamp };
    const content = event.content ?? results.get(event.callId) ?? { text: '' };
    return { ...event, content, stamp };
  });
}

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
