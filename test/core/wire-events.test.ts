import type { RunEvent, WireEvent } from '../../core/event.js';
import type { StoredText } from '../../core/json.js';
import type { TranscriptItem } from '../../core/transcript.js';
import { leanEvents, wholeEvents } from '../../core/wire-events.js';

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
});
