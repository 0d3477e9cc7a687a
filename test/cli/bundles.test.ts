/** `holdfast bundles FOLDER`: offline, all of them, with a summary. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runCli } from '../../cli/program.js';
import { BUNDLE_BYTES_MAX, bundleText } from '../../replay/bundle.js';
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
  const good = await holdfast('bundles', 'kept');
  expect(good).toEqual({
    code: 0,
    out: '5 bundles: 5 replay exactly, 0 differ, 0 cannot be read.\n',
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
  const { code, out } = await holdfast('bundles', 'kept', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    bundles: 8,
    equal: 5,
    differing: [{ file: 'altered.json', report: { runId: 'S39', equal: false } }],
    unreadable: [
      { file: 'cut.json.gz', problem: expect.stringContaining('cannot be unpacked') as string },
      { file: 'no-bundle.json' },
    ],
  });
});

test('a folder without bundles, or that is not there, is refused', async () => {
  expect(await holdfast('bundles', '.')).toMatchObject({ code: 2 });
  expect(await holdfast('bundles', 'nowhere')).toMatchObject({ code: 2 });
});

test('a packed bundle that unpacks to more than a bundle may have is refused before it fills the memory', async () => {
  const bomb = gzipSync(Buffer.alloc(BUNDLE_BYTES_MAX + 1), { level: 9 });
  writeFileSync(join(folder, 'bomb.json.gz'), bomb);
  expect(bomb.length).toBeLessThan(1_000_000);
  const { code, err } = await holdfast('inspect', 'bomb.json.gz');
  expect(code).toBe(1);
  expect(err).toContain(`unpacks to more than ${BUNDLE_BYTES_MAX} bytes`);
});
