/** The order in which calls that run together end, however late each of them begins. */
import { setTimeout as sleep } from 'node:timers/promises';
import { turnsOf, type Turns } from '../../evaluation/temporal/turns.js';

const NEVER = new AbortController().signal;

let inFlight: string[];
let ended: string[];
let turns: Turns;
beforeEach(() => {
  inFlight = [];
  ended = [];
  turns = turnsOf(async () => inFlight);
});

/** A call as its double plays it; the run hears of its end a moment later. */
async function play(callId: string, ms: number, { ends = true, arrivesMs = 0 } = {}) {
  const begun = turns.begin({ effectId: `effect-${callId}`, callId });
  await turns.wait({ callId, ends }, ms, NEVER);
  begun.told();
  await sleep(arrivesMs);
  ended.push(callId);
  inFlight = inFlight.filter((id) => id !== `effect-${callId}`);
}

test('the shorter wait ends first, although its call begins when the longer one is over', async () => {
  inFlight = ['effect-a', 'effect-b'];
  const first = play('a', 40);
  await sleep(80);
  expect(ended).toEqual([]);
  await Promise.all([first, play('b', 10)]);
  expect(ended).toEqual(['b', 'a']);
});

test('a call ends after those before it have arrived at the run', async () => {
  inFlight = ['effect-a', 'effect-b'];
  await Promise.all([play('a', 20), play('b', 10, { arrivesMs: 120 })]);
  expect(ended).toEqual(['b', 'a']);
});

test('what follows from an end comes before a longer wait, too', async () => {
  inFlight = ['effect-a', 'effect-b'];
  const longer = play('a', 1_000);
  await play('b', 10);
  inFlight.push('effect-c');
  await sleep(1_100);
  await Promise.all([longer, play('c', 10)]);
  expect(ended).toEqual(['b', 'c', 'a']);
});

test('nobody waits for a call that others end, or of which nothing is known any more', async () => {
  inFlight = ['effect-a', 'effect-hangs', 'effect-lost'];
  turns.begin({ effectId: 'effect-hangs', callId: 'hangs' });
  await turns.wait({ callId: 'hangs', ends: false }, 0, NEVER);
  turns.begin({ effectId: 'effect-lost', callId: 'lost' }).lost();
  await play('a', 10);
  expect(ended).toEqual(['a']);
});

test('whoever is stopped waits no longer, and a run that cannot be asked is asked again', async () => {
  const stop = new AbortController();
  inFlight = ['effect-a', 'effect-b'];
  turns.begin({ effectId: 'effect-a', callId: 'a' });
  const waiting = turns.wait({ callId: 'a', ends: true }, 10, stop.signal);
  await sleep(60);
  stop.abort();
  await waiting;
  let asked = 0;
  const deaf = turnsOf(async () => {
    asked += 1;
    if (asked < 3) throw new Error('no worker');
    return ['effect-a'];
  });
  deaf.begin({ effectId: 'effect-a', callId: 'a' });
  await deaf.wait({ callId: 'a', ends: true }, 1, NEVER);
  expect(asked).toBe(3);
});
