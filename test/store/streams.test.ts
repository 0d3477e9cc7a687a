import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import type { StreamEntry } from '../../pure/stream.js';
import type { Store } from '../../store/store.js';
import type { StreamOpening } from '../../store/streams.js';
import type { StreamBatch } from '../../store/changes.js';
import { cleanUp, newStore, onlyOn } from './fixtures.js';
import { until } from '../until.js';

afterEach(cleanUp);

const RUN = { tenant: 't', runId: 'r1' };
const START = { fence: 1, index: 0 };
const DAY = 86_400_000;

function opening(changes: Partial<StreamOpening> = {}): StreamOpening {
  const attempt = { call: 1, attempt: 1, messageId: 'm1' };
  return { ...RUN, ...attempt, eventsBefore: 3, keepMs: DAY, at: 1_000, ...changes };
}

const says = (text: string): StreamEntry => ({
  kind: 'delta',
  delta: { type: 'text', block: 0, text },
});

/** What an attempt says after the chunks that it was opened with. */
function following(opened: readonly StreamBatch[], ...texts: readonly string[]): StreamBatch {
  const last = opened.at(-1)!;
  return { ...last, first: last.first + last.entries.length, entries: texts.map(says) };
}

async function told(store: Store, from = START): Promise<readonly string[]> {
  const { batches } = await store.readStream(RUN, from);
  return batches.flatMap(({ attempt, entries }) =>
    entries.map((entry) => `${attempt} ${entry.kind === 'delta' ? entry.delta.text : entry.kind}`),
  );
}

function ending(batch: StreamBatch, entry: StreamEntry = { kind: 'attempt_ended' }) {
  const last = { ...batch, first: batch.first + batch.entries.length, entries: [entry] };
  return { ...RUN, fence: batch.fence, rest: [batch, last], chars: 10 };
}

describe('the stream of a run', () => {
  test('is read from any place', async () => {
    const { store } = await newStore();
    const opened = await store.openStream(opening());
    await store.appendStreams([following(opened, 'a', 'b', 'c')]);
    expect(await told(store)).toEqual(['1 attempt_started', '1 a', '1 b', '1 c']);
    // The batch that holds the place comes whole.
    expect(await told(store, { fence: 1, index: 3 })).toEqual(['1 a', '1 b', '1 c']);
    expect(await told(store, { fence: 1, index: 4 })).toEqual([]);
    expect(await told(store, { fence: 2, index: 0 })).toEqual([]);
  });

  test('takes nothing from an attempt that was replaced, and resets it by name', async () => {
    const { store } = await newStore();
    const dead = await store.openStream(opening());
    await store.appendStreams([following(dead, 'a')]);
    const next = await store.openStream(opening({ attempt: 2 }));
    const late = following([following(dead, 'a')], 'late');
    expect(await store.appendStreams([late, following(next, 'b')])).toEqual([late]);
    expect(await store.endStream(ending(late))).toBe(false);
    expect(await told(store)).toEqual([
      '1 attempt_started',
      '1 a',
      '1 attempt_reset',
      '2 attempt_started',
      '2 b',
    ]);
  });

  test('takes nothing from an attempt that has ended, which is not reset', async () => {
    const { store } = await newStore();
    const opened = await store.openStream(opening());
    const said = following(opened, 'a');
    expect(await store.endStream(ending(said))).toBe(true);
    expect(await store.endStream(ending(said))).toBe(false);
    expect(await store.appendStreams([following([said], 'more')])).toHaveLength(1);
    await store.openStream(opening({ call: 2 }));
    expect(await told(store)).toEqual([
      '1 attempt_started',
      '1 a',
      '1 attempt_ended',
      '1 attempt_started',
    ]);
  });

  test('takes chunks again whose writer never heard that they had arrived', async () => {
    const { store } = await newStore();
    const said = following(await store.openStream(opening()), 'a');
    expect(await store.appendStreams([said])).toEqual([]);
    const again = { ...said, entries: [...said.entries, says('b')] };
    expect(await store.appendStreams([again])).toEqual([]);
    // The reply of the model is in the same transaction as this: it must not be lost with it.
    expect(await store.endStream(ending(again))).toBe(true);
    expect(await told(store)).toEqual(['1 attempt_started', '1 a', '1 b', '1 attempt_ended']);
  });

  test('comes in pages, each of which says whether there is more', async () => {
    const { store } = await newStore();
    const opened = await store.openStream(opening());
    const first = following(opened, 'a');
    const many = Array.from({ length: 250 }, (_, n) => ({ ...first, first: first.first + n }));
    expect(await store.appendStreams(many)).toEqual([]);
    const page = await store.readStream(RUN, START);
    expect(page).toMatchObject({ more: true, closed: false });
    const { fence, first: last } = page.batches.at(-1)!;
    const rest = await store.readStream(RUN, { fence, index: last + 1 });
    expect(rest).toMatchObject({ more: false, closed: false });
    expect(page.batches.length + rest.batches.length).toBe(opened.length + many.length);
  });

  test('says at its end who streams now, and when the run is over', async () => {
    const { store } = await newStore();
    expect(await store.readStream(RUN, START)).toEqual({
      batches: [],
      more: false,
      closed: false,
    });
    await store.openStream(opening({ call: 7 }));
    expect(await store.readStream(RUN, { fence: 1, index: 1 })).toEqual({
      batches: [],
      open: { call: 7, attempt: 1, messageId: 'm1', fence: 1 },
      more: false,
      closed: false,
    });
    await store.closeStream({ ...RUN, at: 2_000 });
    expect(await store.readStream(RUN, START)).toMatchObject({ closed: false });
    expect(await store.readStream(RUN, { fence: 1, index: 1 })).toMatchObject({ closed: true });
    // A reset in Temporal makes it go on.
    await store.openStream(opening({ call: 7 }));
    expect(await store.readStream(RUN, { fence: 2, index: 2 })).toMatchObject({ closed: false });
  });

  test('is removed after its time, when another stream begins; its numbers go on', async () => {
    const { store } = await newStore();
    await store.openStream(opening({ keepMs: 500 }));
    await store.closeStream({ ...RUN, at: 2_000 });
    await store.openStream(opening({ runId: 'other', at: 2_499 }));
    expect(await told(store)).toHaveLength(1);
    await store.openStream(opening({ runId: 'other', at: 2_500 }));
    expect(await told(store)).toEqual([]);
    const [first] = await store.openStream(opening({ at: 3_000 }));
    expect(first).toMatchObject({ fence: 2, first: 0 });
  });

  test('is removed at once when nothing is to be kept', async () => {
    const { store } = await newStore();
    await store.openStream(opening({ keepMs: 0 }));
    await store.closeStream({ ...RUN, at: 2_000 });
    expect(await store.readStream(RUN, START)).toEqual({
      batches: [],
      open: expect.anything(),
      more: false,
      closed: true,
    });
  });

  test('has a limit: earlier attempts make room', async () => {
    const { store } = await newStore();
    const opened = await store.openStream(opening());
    await store.endStream({ ...ending(following(opened, 'a')), chars: 33 * 1024 * 1024 });
    await store.openStream(opening({ call: 2, attempt: 2 }));
    expect(await told(store)).toEqual(['2 attempt_started']);
  });
});

describe('what is sent', () => {
  test('is in the store in a moment', async () => {
    const { store } = await newStore();
    const opened = await store.openStream(opening());
    const [a, b] = [following(opened, 'a'), following([following(opened, 'a')], 'b')];
    expect([store.live.send(a, 1), store.live.send(b, 1)]).toEqual(['taken', 'taken']);
    await until(async () => (await told(store)).length === 3);
    expect(await told(store)).toEqual(['1 attempt_started', '1 a', '1 b']);
    expect(await store.live.unsent(a)).toEqual([]);
  });

  test('is taken back by the last write of its attempt', async () => {
    const { store } = await newStore();
    const said = following(await store.openStream(opening()), 'a');
    store.live.send(said, 1);
    expect(await store.live.unsent(said)).toEqual([said]);
    await sleep(60);
    expect(await told(store)).toEqual(['1 attempt_started']);
  });

  test('is refused once a newer attempt has begun', async () => {
    const { store } = await newStore();
    const dead = await store.openStream(opening());
    await store.openStream(opening({ attempt: 2 }));
    expect(store.live.send(following(dead, 'a'), 1)).toBe('taken');
    await until(() => store.live.send(following(dead, 'b'), 1) === 'refused');
  });

  onlyOn('sqlite')(
    'waits for nobody: what a locked store cannot take is left out, the rest comes later',
    async () => {
      const { store, place } = await newStore();
      const opened = await store.openStream(opening());
      const other = new Database(place);
      other.exec('begin immediate');
      let batch = following(opened, 'first');
      const half = 600 * 1024;
      const took = performance.now();
      const answers = [half, half, 1].map((chars) => {
        const answer = store.live.send(batch, chars);
        batch = following([batch], 'next');
        return answer;
      });
      expect(answers).toEqual(['taken', 'full', 'taken']);
      await sleep(200);
      // A write that waits for the lock holds up this thread for three seconds.
      expect(performance.now() - took).toBeLessThan(3_000);
      other.exec('rollback');
      other.close();
      const firsts = async () =>
        (await store.readStream(RUN, START)).batches.map((batch) => batch.first);
      await until(async () => (await firsts()).length === 3);
      expect(await firsts()).toEqual([0, 1, 3]);
    },
  );
});

describe('whoever watches', () => {
  test('in this process hears what is sent at once, through any handle of the store', async () => {
    const { store, place } = await newStore();
    const { store: reader } = await newStore(place);
    const said = following(await store.openStream(opening()), 'a');
    const watch = reader.live.watch(RUN);
    store.live.send(said, 1);
    await watch.wait(5_000);
    expect(watch.take()).toEqual([said]);
    watch.stop();
    store.live.send(following([said], 'b'), 1);
    expect(watch.take()).toEqual([]);
  });

  test('hears nothing of other runs', async () => {
    const { store } = await newStore();
    const watch = store.live.watch({ tenant: 't', runId: 'other' });
    store.live.send(following(await store.openStream(opening()), 'a'), 1);
    expect(watch.take()).toEqual([]);
    watch.stop();
  });

  onlyOn('sqlite')('is woken by what another process writes', async () => {
    const { store, place } = await newStore();
    const watch = store.live.watch(RUN);
    // The first look only learns how things are.
    await watch.wait(200);
    await sleep(50);
    await watch.wait(1);
    const other = new Database(place);
    const began = performance.now();
    // Again and again: the first look may come late.
    const writing = setInterval(() => {
      other.exec("insert or replace into blobs values ('t', 'h', 'x')");
    }, 30);
    await watch.wait(60_000);
    clearInterval(writing);
    expect(performance.now() - began).toBeLessThan(45_000);
    watch.stop();
    other.close();
  });

  test('is let go when it stops, and when its signal aborts', async () => {
    const { store } = await newStore();
    const watch = store.live.watch(RUN);
    const stopping = new AbortController();
    setTimeout(() => stopping.abort(), 10);
    await watch.wait(10_000, stopping.signal);
    setTimeout(() => watch.stop(), 10);
    await watch.wait(10_000);
  });
});
