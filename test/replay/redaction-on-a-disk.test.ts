/** A redaction whose run lies on a disk gives the bytes of one that is held, and those that releases before it gave. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUNDLE_BYTES_MAX, bundleText, type Bundle } from '../../replay/bundle.js';
import { redactBundle, redactRecorded } from '../../replay/redaction/redact-bundle.js';
import {
  bundleOf,
  recordedOf,
  type Recorded,
  type RecordedRun,
  type Shelf,
} from '../../replay/redaction/recorded.js';
import { parseRules } from '../../replay/redaction/rules.js';
import { openSpooledShelf } from '../../replay/stream/spooled-shelf.js';
import { keptTree, stored } from './setup.js';

const SALT = 'salt';
const RULES = parseRules(
  {
    rules: [
      { name: 'goal', pointer: '/task/goal' },
      { name: 'words', regex: 'Two left\\.' },
      { name: 'order', regex: 'O-[0-9]{2,}' },
      { name: 'who', key: 'customer' },
      { name: 'mail', regex: '[\\w.]+@[\\w.]+\\w' },
      { name: 'account', pointer: '/call/args/iban' },
    ],
  },
  'rules.json',
);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-shelves-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function runOnto<Run extends RecordedRun>(run: Run, shelf: Shelf): Promise<Run> {
  const segments: Run['segments'][number][] = [];
  for (const one of run.segments) {
    segments.push({ ...one, events: await shelf.list(one.events) });
  }
  return { ...run, segments, events: await shelf.list(run.events) };
}

async function onto(recorded: Recorded, shelf: Shelf): Promise<Recorded> {
  const members: NonNullable<Recorded['members']>[number][] = [];
  for (const one of recorded.members ?? []) members.push(await runOnto(one, shelf));
  return {
    ...(await runOnto(recorded, shelf)),
    nodes: await shelf.keyed(recorded.nodes),
    blobs: await shelf.keyed(recorded.blobs),
    ...(recorded.members !== undefined && { members }),
  };
}

/** Redacted with everything on a disk. */
async function redactedOnDisk(bundle: Bundle): Promise<Bundle> {
  const shelves: Shelf[] = [];
  const openShelf = async (): Promise<Shelf> => {
    const shelf = await openSpooledShelf(folder);
    shelves.push(shelf);
    return shelf;
  };
  try {
    const options = { salt: SALT, allowUnmatched: true, openShelf };
    const recorded = await onto(recordedOf(bundle), await openShelf());
    return await bundleOf(await redactRecorded(recorded, RULES, options));
  } finally {
    for (const shelf of shelves) await shelf.close();
  }
}

const digestOf = (bundle: Bundle): string =>
  createHash('sha256').update(bundleText(bundle)).digest('hex');

const BUNDLES: readonly (readonly [string, () => Promise<Bundle>, string])[] = [
  [
    'a run',
    () => stored('long-text'),
    'c1f7d4c8e82884c5f1f420d77ac684bf7c7764f06b9ca15bb9dacb9306be1b92',
  ],
  [
    'a run of several segments',
    () => stored('continue-as-new'),
    '53679c6f64f51c89440b93ad3aecb590a17fd613ce3a4f12e825b8d8b7ae3721',
  ],
  [
    'a goal with its cycle',
    () => keptTree('goal-rules-proven'),
    '9960c41e4ddcd4dc4e5190fe6e4da8b3d39167f8dcced21cb2e996598e740a77',
  ],
];

test.each(BUNDLES)(
  'Of %s a redaction writes the bytes that it always wrote, in memory and on a disk.',
  async (_what, read, digest) => {
    const bundle = await read();
    const options = { salt: SALT, allowUnmatched: true };
    const held = await redactBundle(bundle, RULES, options);
    expect(held.redactions.some(({ count }) => count > 0)).toBe(true);
    expect(digestOf(held)).toBe(digest);
    expect(bundleText(await redactedOnDisk(bundle))).toBe(bundleText(held));
    expect(readdirSync(folder)).toEqual([]);
  },
);

test('Values come back from a disk as they were put there, as often as they are read, whatever letters they have.', async () => {
  const shelf = await openSpooledShelf(folder);
  try {
    const values = [{ b: 'line\nline', a: '\ud800 \u2028' }, null, 'x'.repeat(600_000), [], 0.1];
    const list = await shelf.list(values);
    const keyed = await shelf.keyed([
      ['2', 'second'],
      ['1', 'first'],
      ['2', 'second'],
    ] as const);
    for (const _ of [1, 2]) {
      const read: unknown[] = [];
      for await (const value of list) read.push(value);
      expect(read).toEqual(values);
      expect(JSON.stringify(read)).toBe(JSON.stringify(values));
    }
    expect(keyed.names).toEqual(['2', '1']);
    expect(await keyed.get('1')).toBe('first');
  } finally {
    await shelf.close();
  }
});

test('A shelf takes no more than a bundle holds.', async () => {
  const shelf = await openSpooledShelf(folder);
  const chunk = 'x'.repeat(8 * 1024 * 1024);
  try {
    const chunks = Array.from({ length: BUNDLE_BYTES_MAX / chunk.length + 1 }, () => chunk);
    await expect(shelf.list(chunks)).rejects.toMatchObject({ code: 'InvalidBundle' });
  } finally {
    await shelf.close();
  }
});
