/** When a trial holds. */
import {
  countsOf,
  faultsIn,
  NO_TRANSCRIPT,
  type Figures,
  type RunEnd,
} from '../../lab/chaos/figures.js';
import type { Payment } from '../../lab/chaos/payment-service.js';

const stall = { ms: 1_000, from: 0, waitedFor: 'a workflow task' };
const ended = (runId: string, over: Partial<RunEnd> = {}): RunEnd => ({
  runId,
  end: 'completed',
  stall,
  lastedMs: 5_000,
  waitsFor: [],
  ...over,
});
const paid = (runId: string, over: Partial<Payment> = {}): Payment => ({
  key: `${runId}:0`,
  runId,
  amountCents: 500,
  at: 100,
  requests: 1,
  ...over,
});

interface Shown {
  readonly ends: readonly RunEnd[];
  readonly payments: readonly Payment[];
}

function faults({ ends, payments }: Shown, restored = false) {
  const approvedAt = new Map([
    ['a', 50],
    ['b', 50],
  ]);
  const figures = countsOf({ ends, payments, approvedAt }) as Figures;
  return faultsIn(figures, { ends, payments }, { stallMax: 60, restored });
}

test('a trial holds when every run completed with one approved payment', () => {
  const ends = [ended('a'), ended('b')];
  expect(faults({ ends, payments: [paid('a', { requests: 3 }), paid('b')] })).toEqual([]);
});

test('a run waits for its transcript only where an older store has taken the place of its own', () => {
  const ends = [ended('a', { end: NO_TRANSCRIPT, waitsFor: ['the transcript'] })];
  expect(faults({ ends, payments: [] }, true)).toEqual([]);
  expect(faults({ ends, payments: [] })).toEqual([
    'a: its transcript is missing; waits for the transcript',
  ]);
});

test.each<[string, Shown, RegExp]>([
  [
    'a payment is made twice',
    { ends: [ended('a')], payments: [paid('a'), paid('a', { key: 'a:1' })] },
    /1 payments were made twice/,
  ],
  [
    'a payment comes before its approval',
    { ends: [ended('a')], payments: [paid('a', { at: 49 })] },
    /before their approval/,
  ],
  [
    'nobody approved a payment',
    { ends: [ended('c')], payments: [paid('c')] },
    /before their approval/,
  ],
  ['a payment is missing', { ends: [ended('a')], payments: [] }, /a completed without its payment/],
  [
    'a run does not end',
    { ends: [ended('a', { end: 'no result', waitsFor: ['the store'] })], payments: [paid('a')] },
    /a: no result; waits for the store/,
  ],
  [
    'a run stands still for too long',
    { ends: [ended('a', { stall: { ...stall, ms: 60_001 } })], payments: [paid('a')] },
    /a made no progress for longer than 60 s/,
  ],
])('a trial fails when %s', (_, shown, message) => {
  expect(faults(shown)).toEqual([expect.stringMatching(message)]);
});
