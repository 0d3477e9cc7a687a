/** Files are read in pieces where exports wrote them: what passes so passes whole, and whatever else comes is read whole. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { canonicalJson, type Json } from '../../core/json/json.js';
import { bundleText, type Bundle } from '../../replay/bundle.js';
import { parseBundle, readBundle } from '../../replay/read-bundle.js';
import { replayTree } from '../../replay/replay-tree.js';
import { sha256OfText } from '../../replay/sha256.js';
import { replayableFile } from '../../replay/stream/bundle-file.js';
import { collected } from '../../replay/stream/collect.js';
import { jsonPieces, NotCanonical } from '../../replay/stream/json-pieces.js';
import { treeOfFile } from '../../replay/stream/run-tree.js';
import { readKept } from '../../lab/seal/kept-histories.js';
import { drawn } from '../draw.js';
import { SEED, saySeed } from '../seed.js';
import { keptBundles } from './recordings.js';
import { keptTree, stored } from './setup.js';

const DRAWN = 6;
const CUTS = 40;
saySeed(`${DRAWN} kept bundles are read in pieces, ${CUTS} places of one are changed`);

const folder = mkdtempSync(join(tmpdir(), 'holdfast-pieces-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
function fileWith(content: string | Buffer): string {
  const file = join(folder, `${(count += 1)}.json`);
  writeFileSync(file, content);
  return file;
}

/** As an export writes it, with the digest that belongs to it. */
function written(document: object): string {
  const form = canonicalJson(document as Json);
  return `${form.slice(0, -1)},"digest":"${sha256OfText(form)}"}\n`;
}

/** Of a run that went on in new histories. */
const MANY_SEGMENTS = { rules: 10, file: 'rules-10/named-changes-of-10-segments.json.gz' };

function documentOf(bundle: Bundle): { readonly [key: string]: Json } {
  const { digest: _, ...content } = JSON.parse(bundleText(bundle)) as { [key: string]: Json };
  return content;
}

test('A bundle that is read in pieces is the one that is read whole, packed or not.', async () => {
  const some = await Promise.all(drawn(keptBundles(), DRAWN, SEED).map(readBundle));
  for (const bundle of [...some, await keptTree()]) {
    const text = written(documentOf(bundle));
    expect(await collected(fileWith(text))).toEqual(bundle);
    expect(await collected(fileWith(gzipSync(text)))).toEqual(bundle);
  }
});

test('A segment that has been heard is let go before the next one is read.', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const kept = readKept(MANY_SEGMENTS);
  // Longer than a chunk: what a WeakRef has named lives on until the file has been waited for.
  const segments = kept.segments.map(({ events: [first, ...rest], ...segment }) => ({
    ...segment,
    events: [{ ...first!, unknown: 'x'.repeat(600_000) }, ...rest],
  }));
  const bundle = { ...kept, segments };
  const held: boolean[] = [];
  const hearer = {
    segment(segment: object) {
      const heard = new WeakRef(segment);
      setImmediate(() => {
        collect();
        held.push(heard.deref() !== undefined);
      });
    },
  };
  const tree = await treeOfFile(fileWith(written(documentOf(bundle))), () => hearer);
  await tree.again(hearer);
  await setTimeout(0);
  expect(held).toEqual([...segments, ...segments].map(() => false));
  expect(held.length).toBeGreaterThan(2);
});

test('A file of an older release has another order, and is read whole.', async () => {
  const bundle = await stored('long-text');
  const file = fileWith(bundleText(bundle));
  expect(await collected(file)).toBeUndefined();
  expect(await readBundle(file)).toEqual(bundle);
});

test('What the reader of whole files refuses never passes in pieces, wherever a character is changed or the file is cut.', async () => {
  const text = written(documentOf(await keptTree()));
  const places = drawn(
    Array.from({ length: text.length }, (_, index) => index),
    CUTS,
    SEED,
  );
  for (const at of places) {
    const other = text[at] === '1' ? '2' : '1';
    for (const wrong of [`${text.slice(0, at)}${other}${text.slice(at + 1)}`, text.slice(0, at)]) {
      expect(await collected(fileWith(wrong))).toBeUndefined();
      expect(() => parseBundle(wrong, 'run.json')).toThrow();
    }
  }
});

const forged: readonly (readonly [string, (bundle: Bundle) => object])[] = [
  ['an unknown key', (one) => ({ ...documentOf(one), extra: 1 })],
  ['no events', (one) => ({ ...documentOf(one), events: undefined })],
  ['no nodes', (one) => ({ ...documentOf(one), nodes: undefined })],
  ['empty nodes', (one) => documentOf({ ...one, nodes: {} })],
  ['empty blobs', (one) => documentOf({ ...one, blobs: {} })],
  ['no segments', (one) => documentOf({ ...one, segments: [] })],
  ['a gap in a history', (one) => withEvents(one, (events) => events.toSpliced(3, 1))],
  ['a history cut off', (one) => withEvents(one, (events) => events.slice(0, 0))],
  ['an event left out', (one) => documentOf({ ...one, events: one.events.toSpliced(3, 1) })],
  ['events in another order', (one) => documentOf({ ...one, events: one.events.toReversed() })],
  ['an event of another run', (one) => documentOf({ ...one, events: swapped(one.events) })],
  ['another run id', (one) => documentOf({ ...one, run: { ...one.run, runId: 'other' } })],
  ['another tenant', (one) => documentOf({ ...one, run: { ...one.run, tenant: 'other' } })],
  ['a member twice', (one) => withMembers(one, ([first]) => [first!, first!])],
  [
    'a member of another parent',
    (one) => withMembers(one, ([first]) => [{ ...first!, parent: 'x' }]),
  ],
  ['members under version 1', (one) => ({ ...documentOf(one), v: 1 })],
  ['version 3', (one) => ({ ...documentOf(one), v: 3 })],
  ['another format', (one) => ({ ...documentOf(one), format: 'other' })],
];

function withEvents(
  bundle: Bundle,
  change: (events: Bundle['segments'][number]['events']) => Bundle['segments'][number]['events'],
): object {
  const [first, ...rest] = bundle.segments;
  return documentOf({
    ...bundle,
    segments: [{ ...first!, events: change(first!.events) }, ...rest],
  });
}

function withMembers(
  bundle: Bundle,
  change: (members: NonNullable<Bundle['members']>) => NonNullable<Bundle['members']>,
): object {
  return documentOf({ ...bundle, members: change(bundle.members ?? []) });
}

/** The third event under the number of the fourth. */
function swapped(events: Bundle['events']): Bundle['events'] {
  return events.with(3, { ...events[2]!, stamp: events[3]!.stamp });
}

test.each(forged)(
  'A file with %s that was sealed again passes neither in pieces nor whole.',
  async (_what, forge) => {
    const text = written(forge(await keptTree()));
    expect(await collected(fileWith(text))).toBeUndefined();
    expect(() => parseBundle(text, 'run.json')).toThrow(
      expect.objectContaining({ code: 'InvalidBundle' }),
    );
  },
);

test('A name that is there twice, deep values, numbers without end and a name of JavaScript pass neither way.', async () => {
  const text = written(documentOf(await stored('long-text')));
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  for (const wrong of [
    text.replace('"blobs":{', '"blobs":{"__proto__":"x",'),
    text.replace('{"blobs"', '{"__proto__":{},"blobs"'),
    text.replace('"exportedAt":', '"exportedAt":1,"exportedAt":'),
    text.replace('"events":[{', `"events":[{"a":${deep},`),
    text.replace('"events":[{', '"events":[{"a":1e400,'),
  ]) {
    expect(wrong).not.toBe(text);
    const file = fileWith(wrong);
    expect(await collected(file)).toBeUndefined();
    await expect(readBundle(file)).rejects.toMatchObject({ code: 'InvalidBundle' });
  }
});

test('A file is replayed history by history, as the bundle is.', async () => {
  const bundle = await keptTree();
  for (const text of [written(documentOf(bundle)), bundleText(bundle)]) {
    const report = await replayTree(await replayableFile(fileWith(text)));
    expect(report).toEqual(await replayTree(bundle));
    expect(report).toMatchObject({ equal: true, runId: bundle.run.runId });
  }
});

test('A file that another one replaces between two readings is refused, whichever reads it.', async () => {
  const bundle = await keptTree();
  const text = written(documentOf(bundle));
  const [member] = bundle.members ?? [];
  const others = [
    // Only a digest tells it from the first.
    written(documentOf({ ...bundle, exportedAt: bundle.exportedAt + 1 })),
    written(documentOf({ ...bundle, members: [] })),
    written({ ...documentOf(bundle), events: [{ type: 'stop' }], segments: [{ segment: 0 }] }),
    bundleText(bundle),
    text.slice(0, -100),
    written(documentOf({ ...bundle, ...member, members: undefined } as unknown as Bundle)),
  ];
  const refused = {
    code: 'InvalidBundle',
    message: expect.stringContaining('was changed while it was read') as string,
  };
  for (const other of others) {
    const file = fileWith(text);
    const tree = await treeOfFile(file, () => ({}));
    const replayable = await replayableFile(file);
    writeFileSync(file, other);
    await expect(tree.again({ event: () => undefined })).rejects.toMatchObject(refused);
    await expect(tree.again({ segment: () => undefined })).rejects.toMatchObject(refused);
    const failing = () => {
      throw new TypeError('of who hears it');
    };
    await expect(tree.again({ event: failing })).rejects.toMatchObject(refused);
    await expect(replayTree(replayable)).rejects.toMatchObject(refused);
  }
});

test('An error of who hears an unchanged file again stays what it is.', async () => {
  const tree = await treeOfFile(fileWith(written(documentOf(await keptTree()))), () => ({}));
  const failing = () => {
    throw new TypeError('of who hears it');
  };
  await expect(tree.again({ event: failing })).rejects.toThrow(new TypeError('of who hears it'));
  const heard: string[] = [];
  await tree.again({ event: ({ type }) => void heard.push(type) });
  expect(heard).toContain('goal_result');
});

test('An event without its fields is named, with what it lacks.', async () => {
  const bundle = await stored('approved');
  const { stamp } = bundle.events.at(-1)!;
  // Of a run that goes on the store may have more than its history.
  const segments = bundle.segments.map((one) => ({ ...one, events: one.events.slice(0, -1) }));
  const withEvent = (event: object) =>
    written(
      documentOf({
        ...bundle,
        segments,
        events: [...bundle.events, event as Bundle['events'][number]],
      }),
    );
  const next = { ...stamp, seq: stamp.seq + 1 };
  const unknown = withEvent({ type: 'of_a_later_release', stamp: next });
  expect(parseBundle(unknown, 'run.json').events).toHaveLength(bundle.events.length + 1);
  expect(await collected(fileWith(unknown))).toBeDefined();
  for (const [event, lacks] of [
    [{ type: 'model_response', stamp: next }, 'call'],
    [{ type: 'tool_note', callId: 'a', tool: 't', stamp: next }, 'message'],
    [{ type: 'user_message', messageId: 'm', text: 'plain', stamp: next }, 'text'],
    [{ type: 'of_a_later_release', stamp: { seq: next.seq } }, 'stamp.runId'],
  ] as const) {
    const text = withEvent(event);
    expect(await collected(fileWith(text))).toBeUndefined();
    expect(() => parseBundle(text, 'run.json')).toThrow(
      expect.objectContaining({
        code: 'InvalidBundle',
        message: expect.stringContaining(
          `the event ${next.seq} (${event.type}) has no ${lacks} as such an event has it`,
        ) as string,
      }),
    );
  }
});

test('Pieces are the same however their text is cut into chunks.', async () => {
  const text = canonicalJson({
    a: ['x\\"y', '\\', '}', { b: 1.5 }],
    b: {},
    c: [],
    d: 'é"',
    e: null,
  });
  for (let size = 1; size < 9; size += 1) {
    const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    async function* cut() {
      yield* chunks;
    }
    let passed = '';
    const json = jsonPieces(cut(), (one) => void (passed += one));
    const read: Record<string, Json> = {};
    for await (const name of json.names()) {
      if (name === 'c') await json.skip();
      else read[name] = await json.value();
    }
    json.pass();
    expect({ ...read, c: [] }).toEqual(JSON.parse(text));
    expect(passed).toBe(text);
  }
});

test.each(['{"b":1,"a":2}', '{"a":1,"a":1}', '{"a": 1}', '{"a":1', '{"a":01}', '{"a":1}}', '"a'])(
  '%s is not taken.',
  async (text) => {
    async function* whole() {
      yield text;
    }
    const json = jsonPieces(whole(), () => undefined);
    const read = async () => {
      for await (const _ of json.names()) await json.value();
      if ((await json.peek()) !== '') throw new NotCanonical('more');
    };
    await expect(read()).rejects.toBeInstanceOf(NotCanonical);
  },
);
