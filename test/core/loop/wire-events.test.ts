import type { RunEvent, WireEvent } from '../../../core/state/event.js';
import type { StoredText } from '../../../core/json/json.js';
import type { TranscriptItem } from '../../../core/state/transcript.js';
import { leanEvents, wholeEvents, wireForm } from '../../../core/step/outbox.js';

const RUN = { tenant: 'default', runId: 'r', traceId: 't' };
const TEXT = 'the result';

function finished(callId: string, content: StoredText): WireEvent {
  return {
    type: 'tool_finished',
    callId,
    tool: 'read',
    status: 'ok',
    content,
    synthetic: false,
    started: true,
    attempts: 1,
    durationMs: 1,
    key: `r:${callId}`,
    stamp: { seq: 0, at: 1, phase: 'dispatching_tools', step: 0, turn: 0 },
  };
}

function results(...contents: readonly (readonly [string, StoredText])[]): TranscriptItem {
  return {
    kind: 'results',
    messageId: 'r:m1',
    results: contents.map(([callId, content]) => ({ callId, isError: false, content })),
  };
}

/** There and back again. */
function carried(events: readonly WireEvent[], append: readonly TranscriptItem[]) {
  const lean = leanEvents(events, append);
  return { text: JSON.stringify(lean), back: wholeEvents({ run: RUN, events: lean, append }) };
}

function whole(event: WireEvent): RunEvent[] {
  return [...wholeEvents({ run: RUN, events: [event] })];
}

describe('events in a payload', () => {
  test('leave out a result that the payload appends anyway, and get it back', () => {
    const event = finished('a', { text: TEXT });
    const { text, back } = carried([event], [results(['a', { text: TEXT }])]);
    expect(text).not.toContain(TEXT);
    expect(back).toEqual(whole(event));
  });

  test.each<[string, TranscriptItem]>([
    ['is not appended', results(['b', { text: TEXT }])],
    ['is appended with other words', results(['a', { text: 'cut' }])],
    ['lies in the store', results(['a', { $blob: 'h', bytes: 9_000, preview: TEXT }])],
    ['shares its id with another', results(['a', { text: TEXT }], ['a', { text: 'other' }])],
  ])('keep a result that %s', (_what, item) => {
    const event = finished('a', { text: TEXT });
    const { text, back } = carried([event], [item]);
    expect(text).toContain(TEXT);
    expect(back).toEqual(whole(event));
  });

  test('say of their stamps only what is not as it was in the event before', () => {
    const stamps = [
      { seq: 4, at: 7, phase: 'validating', step: 1, turn: 2 },
      { seq: 5, at: 7, phase: 'validating', step: 1, turn: 2 },
      { seq: 6, at: 9, phase: 'dispatching_tools', step: 2, turn: 2 },
      { seq: 7, at: 9, phase: 'dispatching_tools', step: 2, turn: 3 },
      { seq: 8, at: 7, phase: 'validating', step: 0, turn: 0 },
    ] as const;
    const events = stamps.map((stamp): RunEvent => ({
      type: 'transition',
      reason: 'next_turn',
      stamp: { ...stamp, runId: RUN.runId, traceId: RUN.traceId },
    }));
    const sent = events.map((event, index) => wireForm(event, events[index - 1]));
    expect(sent.map(({ stamp }) => stamp)).toEqual([
      stamps[0],
      { seq: 5 },
      { seq: 6, at: 9, phase: 'dispatching_tools', step: 2 },
      { seq: 7, turn: 3 },
      { seq: 8, at: 7, phase: 'validating', step: 0, turn: 0 },
    ]);
    expect(wholeEvents({ run: RUN, events: sent })).toEqual(events);
  });
});
