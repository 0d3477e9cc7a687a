/** The steps of a long run are decided by a thread beside the check of its file: the same steps, or none. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import threads from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { showIndex } from '../../cli/commands/inspect-index.js';
import type { Cli } from '../../cli/command.js';
import { runCli } from '../../cli/program.js';
import { createOutput } from '../../cli/terminal/output.js';
import type { Session } from '../../cli/session.js';
import { canonicalJson, type Json } from '../../core/json/json.js';
import { foldOf } from '../../recording/fold.js';
import { unpackedSteps } from '../../recording/packed-steps.js';
import { bundleText, type Bundle } from '../../replay/bundle.js';
import { readBundle } from '../../replay/read-bundle.js';
import { sha256OfText } from '../../replay/sha256.js';
import type * as Beside from '../../replay/stream/index-beside.js';
import { walkBundle } from '../../replay/stream/walk-bundle.js';
import { compiled } from '../compiled.js';
import { drawn } from '../draw.js';
import { SEED, saySeed } from '../seed.js';
import { keptBundles } from './recordings.js';
import { keptTree, stored } from './setup.js';

const DRAWN = 4;
saySeed(`${DRAWN} kept bundles are decided by a thread`);

/** Threads run compiled code alone. */
const { beginEarly, indexBeside } = compiled<typeof Beside>('replay/stream/index-beside.ts');
const ALWAYS = { bytesMin: 0, cores: 2 };

const folder = mkdtempSync(join(tmpdir(), 'holdfast-beside-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
function fileWith(content: string | Buffer, end = 'json'): string {
  const file = join(folder, `${(count += 1)}.${end}`);
  writeFileSync(file, content);
  return file;
}

/** As an export writes it. */
function written(bundle: Bundle): string {
  const { digest: _, ...content } = JSON.parse(bundleText(bundle)) as { [key: string]: Json };
  const form = canonicalJson(content);
  return `${form.slice(0, -1)},"digest":"${sha256OfText(form)}"}\n`;
}

async function decidedOf(file: string, digest?: string) {
  const beside = indexBeside(file, ALWAYS)!;
  try {
    return await beside.of(digest ?? (await walkBundle(file, {})).textDigest);
  } finally {
    await beside.close();
  }
}

test('A thread decides what one that reads the whole file decides, packed or not.', async () => {
  const some = await Promise.all(drawn(keptBundles(), DRAWN, SEED).map(readBundle));
  const segments = await readBundle(
    join(__dirname, '../../histories/rules-10/named-changes-of-10-segments.json.gz'),
  );
  for (const [index, bundle] of [...some, segments, await keptTree()].entries()) {
    const text = written(bundle);
    const { kind, steps, divergences } = foldOf(bundle);
    const file = index % 2 === 0 ? fileWith(text) : fileWith(gzipSync(text), 'json.gz');
    const decided = (await decidedOf(file))!;
    expect(decided).toMatchObject({ kind, divergences });
    expect([...unpackedSteps(decided.steps)]).toEqual(steps);
    expect(decided.steps.count).toBe(steps.length);
  }
});

test('A thread that was begun early is the one that the file is decided by, and once.', async () => {
  const bundle = await keptTree();
  const file = fileWith(written(bundle));
  // Far too short for a thread that is begun when it is asked for.
  expect(indexBeside(file)).toBeUndefined();
  beginEarly(file, ALWAYS);
  const beside = indexBeside(file)!;
  const decided = await beside.of((await walkBundle(file, {})).textDigest);
  await beside.close();
  expect([...unpackedSteps(decided!.steps)]).toEqual(foldOf(bundle).steps);
  expect(indexBeside(file)).toBeUndefined();
});

test('What a thread has read of another text, or of no bundle, does not count.', async () => {
  const text = written(await stored('approved'));
  const file = fileWith(text);
  const { textDigest } = await walkBundle(file, {});
  writeFileSync(file, text.replace('"exportedAt":1', '"exportedAt":2'));
  expect(await decidedOf(file, textDigest)).toBeUndefined();
  for (const wrong of ['', '{', '[]', text.slice(0, -200), text.replace(/"segments":\[/, '$&7,')]) {
    expect(await decidedOf(fileWith(wrong), textDigest)).toBeUndefined();
  }
  expect(await decidedOf(join(folder, 'none.json'), textDigest)).toBeUndefined();
});

test('A thread that is ended has nothing to say, and nobody waits for it.', async () => {
  const beside = indexBeside(fileWith(written(await stored('approved'))), ALWAYS)!;
  await beside.close();
  expect(await beside.of('0'.repeat(64))).toBeUndefined();
});

test('Without a second core, and for a short file, there is no thread.', async () => {
  const file = fileWith(written(await stored('approved')));
  expect(indexBeside(file, { bytesMin: 0, cores: 1 })).toBeUndefined();
  expect(indexBeside(file, { cores: 2 })).toBeUndefined();
  expect(indexBeside(join(folder, 'none.json'), { cores: 2 })).toBeUndefined();
});

const io = { environment: { variables: {}, folder, colour: false, interactive: false } };

async function shown(file: string, beside: Beside.IndexBeside | undefined): Promise<string> {
  let out = '';
  const streams = { out: (text: string) => void (out += text), err: () => undefined };
  const cli: Cli = { ...io, streams, exitCode: 0 };
  const asked = { session: {} as Session, subject: file, member: undefined, kind: undefined };
  const output = createOutput(streams, { json: false, colour: false });
  await showIndex(cli, { ...asked, beside }, output);
  return out;
}

test('The index is the same with a thread, without one, and with one that fails.', async () => {
  const file = fileWith(written(await stored('approved')));
  const alone = await shown(file, undefined);
  expect(alone).toContain('issue_refund');
  const beside = indexBeside(file, ALWAYS)!;
  const asked = jest.spyOn(beside, 'of');
  expect(await shown(file, beside)).toBe(alone);
  expect(await asked.mock.results[0]?.value).toBeDefined();
  await beside.close();
  const failing = { of: async () => Promise.resolve(undefined), close: async () => undefined };
  expect(await shown(file, failing)).toBe(alone);
  // What an older release has written is held whole, and no thread can vouch for it.
  const older = fileWith(bundleText(await stored('approved')));
  const other = indexBeside(older, ALWAYS)!;
  expect(await shown(older, other)).toBe(alone);
  await other.close();
});

test('The command has a thread for the index of a long file, which says what that of a short one says.', async () => {
  const bundle = await stored('approved');
  // Nothing refers to this text; it is only long.
  const filler = 'x'.repeat(5 * 1024 * 1024);
  const blobs = { ...bundle.blobs, [sha256OfText(filler)]: filler };
  const [short, long] = [fileWith(written(bundle)), fileWith(written({ ...bundle, blobs }))];
  const { Worker } = threads;
  const begun = jest
    .spyOn(threads, 'Worker')
    .mockImplementation((...of: ConstructorParameters<typeof Worker>) => new Worker(...of));
  const said = async (...argv: readonly string[]): Promise<string> => {
    let [out, err] = ['', ''];
    const streams = {
      out: (text: string) => void (out += text),
      err: (text: string) => void (err += text),
    };
    const code = await runCli(['inspect', ...argv], { ...io, streams });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return out;
  };
  const alone = await said(short, '--json');
  await said(long, '--at', 'last');
  expect(begun).not.toHaveBeenCalled();
  expect(await said(long, '--json')).toBe(alone);
  expect(begun).toHaveBeenCalledTimes(availableParallelism() > 1 ? 1 : 0);
});
