/** Chunks that another process wrote, as readers on SQLite get them: by one query for all. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamEntry } from '../../pure/stream.js';
import { change, type OpenDatabase } from '../../store/database.js';
import { chunkTail, type ChunkTail } from '../../store/sqlite/chunk-tail.js';
import { openSqlite } from '../../store/sqlite/sqlite-database.js';
import { streamBus } from '../../store/stream-bus.js';
import { streams } from '../../store/streams.js';
import { type StreamBatch } from '../../store/changes.js';

const TENANT = 't';
let folder: string;
let writer: OpenDatabase;
let reader: OpenDatabase;
let tail: ChunkTail;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-tail-'));
  const options = { file: join(folder, 'store.db') };
  writer = await openSqlite(options);
  reader = await openSqlite(options);
  tail = chunkTail(reader.db);
  await tail.next(true);
});

afterEach(async () => {
  await Promise.all([writer.close(), reader.close()]);
  await rm(folder, { recursive: true, force: true });
});

async function begin(runId: string): Promise<StreamBatch> {
  const attempt = { call: 1, attempt: 1, messageId: 'm1' };
  const opening = { tenant: TENANT, runId, ...attempt, eventsBefore: 0, keepMs: 1_000, at: 1 };
  return (await streams(writer.db).openStream(opening)).at(-1)!;
}

async function say(opened: StreamBatch, ...texts: readonly string[]): Promise<void> {
  const entries = texts.map((text): StreamEntry => ({
    kind: 'delta',
    delta: { type: 'text', block: 0, text },
  }));
  await streams(writer.db).appendStreams([{ ...opened, first: 1, entries }]);
}

async function heard(isWanted = true): Promise<readonly unknown[]> {
  const chunks = await tail.next(isWanted);
  return chunks.map((chunk) => [chunk.runId, chunk.batch()?.entries.length]);
}

describe('the tail of the chunks', () => {
  test('gives what was written since the last look, of all runs, once', async () => {
    const [one, other] = [await begin('one'), await begin('other')];
    expect(await heard()).toEqual([
      ['one', 1],
      ['other', 1],
    ]);
    await say(other, 'a', 'b');
    await say(one, 'c');
    expect(await heard()).toEqual([
      ['other', 2],
      ['one', 1],
    ]);
    expect(await heard()).toEqual([]);
  });

  test('passes over what nobody wanted when it was written', async () => {
    const one = await begin('one');
    expect(await heard(false)).toEqual([]);
    await say(one, 'a');
    expect(await heard()).toEqual([['one', 1]]);
  });

  test('says only that something came where it is long, and nothing of more than it can hold', async () => {
    await say(await begin('long'), 'x'.repeat(70_000));
    expect(await heard()).toEqual([
      ['long', 1],
      ['long', undefined],
    ]);
    const one = await begin('many');
    const many = Array.from({ length: 600 }, (_, n) => ({ ...one, first: one.first + n + 1 }));
    await streams(writer.db).appendStreams(many);
    expect(await heard()).toEqual([]);
    await begin('later');
    expect(await heard()).toEqual([['later', 1]]);
  });

  test('goes on where the rows were all removed and are numbered from the start again', async () => {
    await begin('one');
    await begin('two');
    expect(await heard()).toHaveLength(2);
    await change(writer.db, 'delete from stream_chunks', {});
    await begin('three');
    expect(await heard()).toEqual([]);
    await begin('four');
    expect(await heard()).toEqual([['four', 1]]);
  });
});

describe('readers that share the tail', () => {
  const RUN = { tenant: TENANT, runId: 'one' };

  test('hear of their own run, and are not woken to look into the store while they do', async () => {
    const bus = streamBus();
    const ear = bus.watch(RUN);
    const other = bus.watch({ tenant: TENANT, runId: 'other' });
    const opened = await begin('one');
    await say(opened, 'a');
    for (const chunk of await tail.next(bus.awaitsOthers())) bus.pass(chunk);
    expect(ear.take().map(({ first }) => first)).toEqual([0, 1]);
    expect(other.take()).toEqual([]);
    await ear.wait(0);
    let isWoken = false;
    void ear.wait(10_000).then(() => (isWoken = true));
    bus.wakeAll();
    await new Promise(setImmediate);
    expect(isWoken).toBe(false);
    ear.stop();
    await new Promise(setImmediate);
    expect(isWoken).toBe(true);
    other.stop();
  });

  test('are woken by whatever happens once their attempt has said its last word', async () => {
    const bus = streamBus();
    const ear = bus.watch(RUN);
    const opened = await begin('one');
    bus.pass({ ...RUN, batch: () => ({ ...opened, entries: [{ kind: 'attempt_ended' }] }) });
    await ear.wait(0);
    let isWoken = false;
    void ear.wait(10_000).then(() => (isWoken = true));
    bus.wakeAll();
    await new Promise(setImmediate);
    expect(isWoken).toBe(true);
    ear.stop();
  });

  test('are not told again what a writer in their own process has told them', async () => {
    const bus = streamBus();
    const ear = bus.watch(RUN);
    expect(bus.awaitsOthers()).toBe(true);
    const opened = await begin('one');
    bus.send(opened);
    expect(bus.awaitsOthers()).toBe(false);
    for (const chunk of await tail.next(true)) bus.pass(chunk);
    expect(ear.take()).toHaveLength(1);
    ear.stop();
    expect(bus.awaitsOthers()).toBe(false);
  });
});
