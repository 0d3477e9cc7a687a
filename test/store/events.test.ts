import type { RunEvent } from '../../core/state/event.js';
import { cleanUp, eventsFrom, newStore, SESSION_INIT, warnings } from './fixtures.js';
import type { Store } from '../../store/store.js';

const RUN = { tenant: 't', runId: 'r1' };
const A = { ...RUN, execution: 'exec-a' };
const B = { ...RUN, execution: 'exec-b' };
const C = { ...RUN, execution: 'exec-c' };

let store: Store;
beforeEach(async () => {
  store = (await newStore()).store;
});
afterAll(cleanUp);

async function line(): Promise<readonly RunEvent[]> {
  return (await store.readEvents(RUN, { sinceSeq: 0, limit: 1000 })).events;
}

/** Events of an execution that came later, so different from what lies there. */
function later(seq: number, count: number): RunEvent[] {
  return eventsFrom(seq, warnings(count, 'after the reset'), 9000);
}

test('events come back in order and acknowledge up to the last', async () => {
  const events = eventsFrom(0, [SESSION_INIT, ...warnings(4)]);
  expect(await store.appendEvents(A, events.slice(0, 2))).toBe(2);
  expect(await store.appendEvents(A, events.slice(2))).toBe(5);
  expect(await store.readEvents(RUN, { sinceSeq: 0, limit: 10 })).toEqual({
    events,
    nextSeq: 5,
    epoch: 0,
  });
  const page = await store.readEvents(RUN, { sinceSeq: 1, limit: 2 });
  expect(page.events.map((event) => event.stamp.seq)).toEqual([1, 2]);
  expect(page.nextSeq).toBe(3);
});

test('an empty page keeps the cursor where it was', async () => {
  expect(await store.readEvents(RUN, { sinceSeq: 7, limit: 10 })).toEqual({
    events: [],
    nextSeq: 7,
    epoch: 0,
  });
});

test('sending a batch again, or one that overlaps it, changes nothing but what is new', async () => {
  const events = eventsFrom(0, warnings(5));
  await store.appendEvents(A, events.slice(0, 3));
  expect(await store.appendEvents(A, events.slice(0, 3))).toBe(3);
  expect(await store.appendEvents(A, events.slice(1, 5))).toBe(5);
  expect(await store.appendEvents(A, events.slice(0, 1))).toBe(1);
  expect(await line()).toEqual(events);
});

test('of one execution the first form of an event stays', async () => {
  await store.appendEvents(A, eventsFrom(0, warnings(1, 'first')));
  await store.appendEvents(A, eventsFrom(0, warnings(1, 'second')));
  expect(await line()).toEqual(eventsFrom(0, warnings(1, 'first')));
});

test('no events acknowledge what this execution itself stored, never what another one did', async () => {
  expect(await store.appendEvents(A, [])).toBe(0);
  await store.appendEvents(A, eventsFrom(0, warnings(5)));
  expect(await store.appendEvents(A, [])).toBe(5);
  expect(await store.appendEvents(B, [])).toBe(0);
});

test('a batch with a gap is refused whole', async () => {
  const [first, , third] = eventsFrom(0, warnings(3));
  const gapped = [first, third] as RunEvent[];
  await expect(store.appendEvents(A, gapped)).rejects.toMatchObject({ code: 'InvalidRequest' });
  expect(await line()).toEqual([]);
});

test('continue-as-new goes on with the line, and events sent again unchanged are no reset', async () => {
  const events = eventsFrom(0, warnings(6));
  await store.appendEvents(A, events.slice(0, 4));
  expect(await store.appendEvents(B, events.slice(2, 6))).toBe(6);
  expect(await store.readEvents(RUN, { sinceSeq: 0, limit: 10, epoch: 0 })).toEqual({
    events,
    nextSeq: 6,
    epoch: 0,
  });
});

test('the same event with its keys in another order is the same event', async () => {
  const events = eventsFrom(0, warnings(3));
  await store.appendEvents(A, events);
  const reordered = events.map(
    (event) => Object.fromEntries(Object.entries(event).reverse()) as unknown as RunEvent,
  );
  expect(Object.keys(reordered[0] ?? {})).not.toEqual(Object.keys(events[0] ?? {}));
  await store.appendEvents(B, reordered);
  expect(await store.readEvents(RUN, { sinceSeq: 0, limit: 10, epoch: 0 })).toEqual({
    events,
    nextSeq: 3,
    epoch: 0,
  });
});

test('a batch of any size goes on with the line', async () => {
  let next = 0;
  for (const count of [1, 2, 1000, 999, 1]) {
    expect(await store.appendEvents(A, eventsFrom(next, warnings(count)))).toBe(next + count);
    next += count;
  }
  const page = await store.readEvents(RUN, { sinceSeq: 2000, limit: 10 });
  expect(page.events).toEqual(eventsFrom(2000, warnings(3)));
  expect((await store.getRun('t', 'r1'))?.lastSeq).toBe(2002);
});

test('what comes after a gap, and what fills it, is kept once', async () => {
  await store.appendEvents(A, eventsFrom(0, warnings(2)));
  await store.appendEvents(A, eventsFrom(4, warnings(2)));
  await store.appendEvents(A, eventsFrom(2, warnings(2)));
  await store.appendEvents(A, eventsFrom(4, warnings(3)));
  expect(await line()).toEqual(eventsFrom(0, warnings(7)));
  expect((await store.getRun('t', 'r1'))?.lastSeq).toBe(6);
});

test('a reset supersedes the old tail, and readers learn from where', async () => {
  const old = eventsFrom(0, warnings(6));
  await store.appendEvents(A, old);
  expect(await store.appendEvents(B, later(3, 1))).toBe(4);
  expect(await line()).toEqual([...old.slice(0, 3), ...later(3, 1)]);
  const seen = await store.readEvents(RUN, { sinceSeq: 6, limit: 10, epoch: 0 });
  expect(seen).toEqual({ events: later(3, 1), nextSeq: 4, epoch: 1, reset: { fromSeq: 3 } });
  const unaffected = await store.readEvents(RUN, { sinceSeq: 2, limit: 10, epoch: 0 });
  expect(unaffected.reset).toBeUndefined();
  expect(unaffected.events.map((event) => event.stamp.seq)).toEqual([2, 3]);
});

test('a reset whose first events are unchanged supersedes what lies beyond them at once', async () => {
  const old = eventsFrom(0, warnings(6));
  await store.appendEvents(A, old);
  await store.appendEvents(B, old.slice(1, 3));
  expect(await line()).toEqual(old.slice(0, 3));
  expect((await store.readEvents(RUN, { sinceSeq: 6, limit: 1, epoch: 0 })).reset).toEqual({
    fromSeq: 3,
  });
});

test('two resets between two reads are reported from the lowest seq', async () => {
  await store.appendEvents(A, eventsFrom(0, warnings(8)));
  await store.appendEvents(B, later(2, 4));
  await store.appendEvents(C, eventsFrom(5, warnings(1, 'third'), 20_000));
  const page = await store.readEvents(RUN, { sinceSeq: 8, limit: 10, epoch: 0 });
  expect(page).toMatchObject({ epoch: 2, reset: { fromSeq: 2 }, nextSeq: 6 });
  const newer = await store.readEvents(RUN, { sinceSeq: 6, limit: 10, epoch: 1 });
  expect(newer).toMatchObject({ epoch: 2, reset: { fromSeq: 5 } });
});

test('what an execution sends after it was superseded changes no line', async () => {
  const old = eventsFrom(0, warnings(6));
  await store.appendEvents(A, old.slice(0, 4));
  await store.appendEvents(B, later(2, 1));
  expect(await store.appendEvents(A, old.slice(1, 4))).toBe(4);
  expect(await store.appendEvents(A, old.slice(4))).toBe(6);
  expect(await line()).toEqual([...old.slice(0, 2), ...later(2, 1)]);
  await store.appendEvents(B, later(3, 2));
  expect(await line()).toEqual([...old.slice(0, 2), ...later(2, 3)]);
});

test('what a superseded execution sends next does not join the line, though it begins at its end', async () => {
  await store.appendEvents(A, eventsFrom(0, warnings(4)));
  await store.appendEvents(B, later(2, 2));
  const reset = [...eventsFrom(0, warnings(2)), ...later(2, 2)];
  expect(await store.appendEvents(A, eventsFrom(4, warnings(1)))).toBe(5);
  expect(await line()).toEqual(reset);
  expect((await store.getRun('t', 'r1'))?.lastSeq).toBe(3);
  await store.appendEvents(B, later(4, 1));
  expect(await line()).toEqual([...reset, ...later(4, 1)]);
  expect((await store.getRun('t', 'r1'))?.epoch).toBe(1);
});

test('a first batch that was held up until after a reset does not take the line over', async () => {
  await store.appendEvents(B, later(0, 3));
  expect(await store.appendEvents(A, eventsFrom(0, warnings(1)))).toBe(1);
  expect(await store.appendEvents(A, eventsFrom(1, warnings(4)))).toBe(5);
  await store.appendEvents(B, later(3, 1));
  expect(await line()).toEqual(later(0, 4));
});

test('runs and tenants do not see one another', async () => {
  await store.appendEvents(A, eventsFrom(0, warnings(2)));
  await store.appendEvents({ ...A, tenant: 'other' }, eventsFrom(0, warnings(1, 'theirs')));
  await store.appendEvents({ ...A, runId: 'r2' }, eventsFrom(0, warnings(1, 'second')));
  expect(await line()).toEqual(eventsFrom(0, warnings(2)));
});

test('events append fast enough that a run never waits for them', async () => {
  const singles = eventsFrom(0, warnings(300, 'x'.repeat(300)));
  const started = performance.now();
  for (const event of singles) await store.appendEvents(A, [event]);
  const singleRate = 300_000 / (performance.now() - started);
  const batchStarted = performance.now();
  for (let batch = 0; batch < 20; batch += 1) {
    await store.appendEvents(B, eventsFrom(300 + batch * 200, warnings(200, 'x'.repeat(300))));
  }
  const batchRate = 4_000_000 / (performance.now() - batchStarted);
  console.info(
    `${singleRate.toFixed(0)} single appends/s, ${batchRate.toFixed(0)} events/s in batches of 200`,
  );
  expect(batchRate).toBeGreaterThan(500);
});
