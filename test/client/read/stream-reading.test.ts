import fc from 'fast-check';
import { startReading } from '../../../client/read/stream-reading.js';
import type { StreamChunk, StreamEntry } from '../../../pure/stream.js';
import type { StreamBatch } from '../../../store/changes.js';

const started: StreamEntry = { kind: 'attempt_started', eventsBefore: 0 };
const ended: StreamEntry = { kind: 'attempt_ended' };
const lost: StreamEntry = { kind: 'attempt_reset', reason: 'WorkerLost' };
const says = (text: string): StreamEntry => ({
  kind: 'delta',
  delta: { type: 'text', block: 0, text },
});

/** Attempt `fence` says these things from the place `first` on. */
function batch(fence: number, first: number, ...entries: readonly StreamEntry[]): StreamBatch {
  const attempt = { call: 1, attempt: fence, messageId: 'm1' };
  return { tenant: 't', runId: 'r', fence, first, ...attempt, entries };
}

function told(chunks: readonly StreamChunk[]): readonly string[] {
  return chunks.map((chunk) => (chunk.kind === 'delta' ? chunk.delta.text : chunk.kind));
}

const reader = (after?: string, now: () => number = () => 0) => startReading(after, now);

describe('a reader', () => {
  test('takes what comes from both sides once', () => {
    const reading = reader();
    expect(told(reading.hear([batch(1, 0, started)]))).toEqual(['attempt_started']);
    expect(told(reading.hear([batch(1, 1, says('a'))]))).toEqual(['a']);
    expect(told(reading.read([batch(1, 0, started, says('a'), says('b'))]))).toEqual(['b']);
    expect(told(reading.hear([batch(1, 2, says('b')), batch(1, 3, ended)]))).toEqual([
      'attempt_ended',
    ]);
  });

  test('lets chunks wait for those before them', () => {
    const reading = reader();
    expect(told(reading.hear([batch(1, 2, says('b'))]))).toEqual([]);
    expect(reading.isMissing()).toBe(true);
    expect(told(reading.read([batch(1, 0, started, says('a'))]))).toEqual(['attempt_started', 'a']);
    expect(told(reading.hear([]))).toEqual(['b']);
    expect(reading.isMissing()).toBe(false);
  });

  test('but not for ever: then it says that something is missing', () => {
    let now = 0;
    const reading = reader('1.1', () => now);
    expect(told(reading.hear([batch(1, 3, says('c'))]))).toEqual([]);
    now = 1_001;
    expect(told(reading.hear([]))).toEqual(['gap', 'c']);
  });

  test('says what the store does not have', () => {
    expect(told(reader('1.1').read([batch(1, 5, says('f'))]))).toEqual(['gap', 'f']);
    expect(told(reader().read([batch(3, 0, started)]))).toEqual(['gap', 'attempt_started']);
    expect(told(reader('1.4').read([batch(2, 0, started)]))).toEqual(['gap', 'attempt_started']);
  });

  test('misses nothing when a dead attempt is reset by the next', () => {
    const reading = reader();
    reading.hear([batch(1, 0, started, says('a'), says('never stored'))]);
    const next = batch(2, 0, lost);
    expect(told(reading.read([next, batch(2, 1, started, says('a'))]))).toEqual([
      'attempt_reset',
      'attempt_started',
      'a',
    ]);
    // The dead one goes on, and nobody listens.
    expect(told(reading.hear([batch(1, 3, says('still here'))]))).toEqual([]);
  });

  test('names the attempt that never ended when the run is over, once', () => {
    const open = { call: 4, attempt: 2, messageId: 'm4', fence: 2 };
    const [reset] = reader('2.7').end(open);
    expect(reset).toMatchObject({ kind: 'attempt_reset', call: 4, attempt: 2, cursor: '3.0' });
    expect(reader('3.0').end(open)).toEqual([]);
    expect(reader('2.7').end(undefined)).toEqual([]);
  });

  test('refuses what is no cursor', () => {
    for (const after of ['', '1', '0.0', '1.-1', 'a.b', '1.1.1', '9'.repeat(40)]) {
      expect(() => reader(after)).toThrow('no cursor');
    }
  });
});

test('however chunks arrive and wherever readers leave, each is read once and in order', () => {
  const attempt = fc.record({ says: fc.nat(6), dies: fc.boolean() });
  const arrivals = fc.array(fc.tuple(fc.boolean(), fc.nat(4), fc.boolean()), { maxLength: 60 });
  fc.assert(
    fc.property(fc.array(attempt, { minLength: 1, maxLength: 4 }), arrivals, (attempts, moves) => {
      const all: StreamBatch[] = [];
      let dead = false;
      attempts.forEach(({ says: count, dies }, at) => {
        const entries: StreamEntry[] = [
          ...(dead ? [lost] : []),
          started,
          ...Array.from({ length: count }, (_, n) => says(`${at}:${n} `)),
          ...(dies ? [] : [ended]),
        ];
        dead = dies;
        all.push(...entries.map((entry, first) => batch(at + 1, first, entry)));
      });
      const expected = told(reader().read(all));
      const seen: StreamChunk[] = [];
      let reading = reader();
      let sent = 0;
      let stored = 0;
      for (const [hears, count, leaves] of moves) {
        const from = sent;
        sent = Math.min(all.length, sent + count);
        // The store is never ahead, and what a reader missed while it was away is only there.
        if (hears) seen.push(...reading.hear(all.slice(from, sent)));
        else {
          stored = sent;
          seen.push(...reading.read(all.slice(0, stored)));
        }
        if (leaves) reading = reader(seen.at(-1)?.cursor);
      }
      seen.push(...reading.read(all), ...reading.hear([]));
      expect(told(seen)).toEqual(expected);
      expect(expected).not.toContain('gap');
    }),
  );
});
