/** Bundles are written in pieces: the same bundle, by the same digest, whole or not there. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { streamNewFile } from '../../cli/new-file.js';
import { canonicalJson, type Json } from '../../core/json/json.js';
import { bundleText, type Bundle } from '../../replay/bundle.js';
import { parseBundle, readBundle } from '../../replay/read-bundle.js';
import { bundlePieces } from '../../replay/stream/bundle-pieces.js';
import { sourceOf } from '../../replay/stream/bundle-source.js';
import { openSpool } from '../../replay/stream/spool.js';
import { drawn } from '../draw.js';
import { SEED, saySeed } from '../seed.js';
import { keptBundles } from './recordings.js';
import { keptTree } from './setup.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-written-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function textOf(bundle: Bundle): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of bundlePieces(sourceOf(bundle))) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

const DRAWN = 6;
saySeed(`${DRAWN} kept bundles are written`);

const WHAT = { what: 'bundle', packed: false } as const;

test('A bundle written in pieces is the one that is written whole, by its content and by its digest.', async () => {
  const some = await Promise.all(drawn(keptBundles(), DRAWN, SEED).map(readBundle));
  for (const bundle of [...some, await keptTree()]) {
    const text = await textOf(bundle);
    const [whole, pieces] = [bundleText(bundle), text].map((one) => JSON.parse(one) as Json);
    expect(pieces).toEqual(whole);
    expect(parseBundle(text, 'run.json')).toEqual(bundle);
  }
});

test('The keys of a written file stand in the order of the canonical form, and its digest comes last.', async () => {
  const text = await textOf(await keptTree());
  const { digest, ...content } = JSON.parse(text) as { readonly [key: string]: Json };
  expect(text).toBe(`${canonicalJson(content).slice(0, -1)},"digest":${JSON.stringify(digest)}}\n`);
});

test('A file is whole or not there: what breaks while it is written leaves nothing behind.', async () => {
  const inside = mkdtempSync(join(folder, 'broken-'));
  async function* breaking() {
    yield Buffer.from('{"half":');
    throw new Error('the store is away');
  }
  for (const packed of [false, true]) {
    const file = join(inside, 'run.json');
    await expect(streamNewFile(breaking(), { ...WHAT, file, packed })).rejects.toMatchObject({
      hint: 'the store is away',
    });
  }
  expect(readdirSync(inside)).toEqual([]);
});

test('A file that came to be while a bundle was written is kept, and the bundle is not.', async () => {
  const inside = mkdtempSync(join(folder, 'taken-'));
  const file = join(inside, 'run.json');
  async function* slow() {
    yield Buffer.from('ours');
    writeFileSync(file, 'theirs');
  }
  await expect(streamNewFile(slow(), { ...WHAT, file })).rejects.toMatchObject({ code: 'Usage' });
  expect(readFileSync(file, 'utf8')).toBe('theirs');
  expect(readdirSync(inside)).toEqual(['run.json']);
});

test('A written file is its owner’s alone, and its bytes are those that are told.', async () => {
  const file = join(folder, 'packed.json.gz');
  const bundle = await keptTree();
  const bytes = await streamNewFile(bundlePieces(sourceOf(bundle)), {
    ...WHAT,
    file,
    packed: true,
  });
  const { size, mode } = statSync(file);
  expect({ bytes, mode: mode & 0o777 }).toEqual({ bytes: size, mode: 0o600 });
  expect(await readBundle(file)).toEqual(bundle);
});

test('A spool gives each text back as it was put, and its file has no name.', async () => {
  const inside = mkdtempSync(join(folder, 'spool-'));
  const spool = await openSpool(inside);
  try {
    expect(readdirSync(inside)).toEqual([]);
    const texts = ['é'.repeat(300_000), '', 'short', '{"a":1}'.repeat(70_000)];
    const stretches = [];
    for (const text of texts) stretches.push(await spool.put([text.slice(0, 7), text.slice(7)]));
    for (const [index, text] of texts.entries()) {
      const read: Buffer[] = [];
      for await (const piece of spool.read(stretches[index]!)) read.push(piece);
      expect(Buffer.concat(read).toString('utf8')).toBe(text);
    }
  } finally {
    await spool.close();
  }
});
