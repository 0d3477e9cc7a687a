/** `holdfast replay FILE`: offline, with an exit code and words that say where. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';
import { bundleText } from '../../replay/bundle.js';
import { changed, scheduled, stored, withInput } from './setup.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-replay-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function holdfast(...argv: readonly string[]) {
  let [out, err] = ['', ''];
  const code = await runCli(argv, {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

test('exits with 0 where everything is equal', async () => {
  writeFileSync(join(folder, 'approved.json'), bundleText(await stored('approved')));
  const plain = await holdfast('replay', 'approved.json');
  expect(plain).toEqual({
    code: 0,
    out: 'S39 replays exactly: 14 steps in 1 segment equal to the history.\n',
    err: '',
  });
  const json = await holdfast('replay', 'approved.json', '--json');
  expect(JSON.parse(json.out)).toMatchObject({ runId: 'S39', equal: true, differences: [] });
});

test('exits with 1 at a difference, and shows the step, both values and the recording code', async () => {
  const hostile = '\u001b[2Jpaid';
  const altered = changed(
    await stored('approved'),
    scheduled('execute_tool', (given) =>
      withInput(given, (input) => ({
        ...input,
        call: { ...(input.call as object), tool: hostile },
      })),
    ),
  );
  writeFileSync(join(folder, 'altered.json'), bundleText(altered));
  const { code, out } = await holdfast('replay', 'altered.json');
  expect(code).toBe(1);
  expect(out).not.toContain('\u001b');
  expect(out).toMatch(/Segment 0, event \d+, activity execute_tool-5/);
  expect(out).toContain('  at        input[0].call.tool\n');
  expect(out).toContain('  replayed  "issue_refund"\n');
  expect(out).toMatch(/ {2}recorded by holdfast@0\.1\.0\+[0-9a-f]{12}, rules 1\n/);
});

test('a bundle that is cut off is an error that says so', async () => {
  writeFileSync(join(folder, 'cut.json'), bundleText(await stored('completed')).slice(0, 1_000));
  const { code, out, err } = await holdfast('replay', 'cut.json');
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toContain('cut off');
  const json = await holdfast('replay', 'cut.json', '--json');
  expect(JSON.parse(json.out)).toMatchObject({ error: { code: 'InvalidBundle' } });
});

test('a folder in place of a bundle names the command for folders', async () => {
  const { code, err } = await holdfast('replay', '.');
  expect(code).toBe(1);
  expect(err).toContain('it is no file.\nReplay a folder with `holdfast bundles`.');
});

test('a history that no server has written is refused before it is replayed', async () => {
  const bundle = await stored('approved');
  const headless = changed(bundle, (event) =>
    event.eventId === '1'
      ? { ...event, workflowExecutionStartedEventAttributes: undefined as never }
      : event,
  );
  writeFileSync(join(folder, 'headless.json'), bundleText(headless));
  const { code, out } = await holdfast('replay', 'headless.json', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    error: { code: 'InvalidBundle', message: expect.stringContaining('segment 0, event 1:') },
  });
});
