/** `holdfast bundles FOLDER`: offline, all of them, with a summary. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runCli } from '../../cli/program.js';
import { BUNDLE_BYTES_MAX, bundleText } from '../../replay/bundle.js';
import { compiledPath } from '../compiled.js';
import { changed, scheduled, stored, withInput } from '../replay/setup.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-bundles-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function holdfast(...argv: readonly string[]) {
  let [out, err] = ['', ''];
  const code = await runCli(argv, {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

test('bundles that replay exactly are counted; one that differs or cannot be read fails the folder', async () => {
  mkdirSync(join(folder, 'kept', 'deeper'), { recursive: true });
  const names = ['approved', 'completed', 'rejected', 'timeout'];
  for (const name of names) {
    writeFileSync(join(folder, 'kept', 'deeper', `${name}.json`), bundleText(await stored(name)));
  }
  const packed = gzipSync(bundleText(await stored('refused')));
  writeFileSync(join(folder, 'kept', 'packed.json.gz'), packed);
  for (const others of ['node_modules', '.cache']) {
    mkdirSync(join(folder, 'kept', others));
    writeFileSync(join(folder, 'kept', others, 'package.json'), '{}');
  }
  // `holdfast export` packs by any name that ends so; some tools lay out a folder as links.
  writeFileSync(join(folder, 'kept', 'short.gz'), packed);
  symlinkSync(join('deeper', 'approved.json'), join(folder, 'kept', 'link.json'));
  const good = await holdfast('bundles', 'kept');
  expect(good).toEqual({
    code: 0,
    out: '7 bundles: 7 replay exactly, 0 differ, 0 cannot be read.\n',
    err: '',
  });
  const altered = changed(
    await stored('approved'),
    scheduled('execute_tool', (given) =>
      withInput(given, (input) => ({
        ...input,
        call: { ...(input.call as object), tool: 'paid' },
      })),
    ),
  );
  writeFileSync(join(folder, 'kept', 'altered.json'), bundleText(altered));
  writeFileSync(join(folder, 'kept', 'no-bundle.json'), '{"format":"other"}');
  writeFileSync(join(folder, 'kept', 'cut.json.gz'), packed.subarray(0, 500));
  symlinkSync('nowhere', join(folder, 'kept', 'lost.json'));
  const { code, out } = await holdfast('bundles', 'kept', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    bundles: 11,
    equal: 7,
    differing: [{ file: 'altered.json', report: { runId: 'S39', equal: false } }],
    unreadable: [
      { file: 'cut.json.gz', problem: expect.stringContaining('cannot be unpacked') as string },
      { file: 'lost.json', problem: expect.stringContaining('does not exist') as string },
      { file: 'no-bundle.json' },
    ],
  });
});

test('Ctrl-C ends the replays of a folder, and no bundle is said to fail because of the key', async () => {
  const [good, altered] = [bundleText(await stored('approved')), 'altered-first.json'];
  const paid = changed(
    await stored('approved'),
    scheduled('execute_tool', (given) => withInput(given, (input) => ({ ...input, call: null }))),
  );
  writeFileSync(join(folder, altered), bundleText(paid));
  for (let n = 0; n < 200; n += 1) writeFileSync(join(folder, `good-${n}.json`), good);
  const main = compiledPath(join(__dirname, '..', '..', 'cli', 'main.ts'));
  const child = spawn(process.execPath, [main, 'bundles', folder], { cwd: folder });
  let [out, err] = ['', ''];
  child.stdout.on('data', (text: Buffer) => void (out += text.toString()));
  child.stderr.on('data', (text: Buffer) => {
    // The replays are under way: the first file has been told.
    if (err === '') child.kill('SIGINT');
    err += text.toString();
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect({ code, signal, out, err }).toEqual({
    code: null,
    signal: 'SIGINT',
    out: '',
    err: `${altered} does not replay.\n`,
  });
});

test('a folder without bundles, or that is not there, is refused', async () => {
  expect(await holdfast('bundles', '.')).toMatchObject({ code: 2 });
  expect(await holdfast('bundles', 'nowhere')).toMatchObject({ code: 2 });
  expect(await holdfast('bundles', '')).toMatchObject({
    code: 2,
    err: 'Error: The first argument is empty.\nSee --help.\n',
  });
});

test('a packed bundle that unpacks to more than a bundle may have is refused before it fills the memory', async () => {
  const bomb = gzipSync(Buffer.alloc(BUNDLE_BYTES_MAX + 1), { level: 9 });
  writeFileSync(join(folder, 'bomb.json.gz'), bomb);
  expect(bomb.length).toBeLessThan(1_000_000);
  const { code, err } = await holdfast('inspect', 'bomb.json.gz');
  expect(code).toBe(1);
  expect(err).toContain(`unpacks to more than ${BUNDLE_BYTES_MAX} bytes`);
});
