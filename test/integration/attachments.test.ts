/** Pictures and PDFs from a file to the model, to the store, into a bundle, and out of it again. */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool, withFiles } from '../../authoring/index.js';
import { transcriptMarkdown } from '../../client/index.js';
import { resolveRoute } from '../../providers/routes.js';
import { bundleText, type Bundle } from '../../replay/bundle.js';
import { exportRun } from '../../replay/export-run.js';
import { parseBundle } from '../../replay/read-bundle.js';
import { redactBundle } from '../../replay/redaction/redact-bundle.js';
import { parseRules } from '../../replay/redaction/rules.js';
import { replayRun } from '../../replay/strict-replay.js';
import { jpeg, pdf, png } from '../attachment-files.js';
import { runCli } from '../../cli/program.js';
import { PATIENT } from './support/patience.js';
import { say, startWorld, until, type World } from './support/world.js';

const EYES = 'scripted/eyes';
const CHART = png(7, 7);

const drawChart = defineTool({
  name: 'draw_chart',
  version: '1',
  effect: 'write',
  idempotency: 'keyed',
  approval: 'never',
  input: z.object({}),
  output: z.object({ points: z.number() }),
  run: () => withFiles({ points: 3 }, [{ data: CHART, name: 'chart.png' }]),
});
const config = defineConfig({
  agents: [
    defineAgent({ name: 'seer', model: EYES, instructions: 'Look.', tools: [drawChart] }),
    defineAgent({ name: 'blind', model: 'scripted/blind', instructions: 'Listen.', tools: [] }),
  ],
  routes: [{ ...resolveRoute(EYES), takes: { image: 1_600, documentPage: 4_600 } }],
});

let world: World;
beforeAll(async () => {
  world = await startWorld({ workerSettings: { config } });
  writeFileSync(join(dirname(world.storePlace), 'report.pdf'), pdf(2));
});
afterAll(() => world.stop());

const base64 = (file: Buffer): string => file.toString('base64');

describe('a run with files', () => {
  let bundle: Bundle;

  test('shows them to its model, and has references alone in its history', async () => {
    const folder = dirname(world.storePlace);
    const run = await world.start({
      runId: 'seen',
      agent: 'seer',
      task: 'What does it say? Call 555-0199.',
      attachments: [{ path: join(folder, 'report.pdf') }, { data: png(), name: 'cat.png' }],
      settings: { afterAnswer: 'await_user' },
      replies: [{ calls: [{ tool: 'draw_chart', input: {} }] }, say('A cat.'), say('Two.')],
    });
    await until('the answer', async () => ((await run.state()).asks.length > 0 ? true : undefined));
    const dog = await world.client.attach({ data: jpeg(), name: 'dog.jpg' });
    await run.sendMessage('And this?', { attachments: [dog] });
    await until('the second answer', async () =>
      world.requests('seen').length === 3 && (await run.state()).asks.length > 0 ? true : undefined,
    );
    await run.close();
    const { result, events, history } = await world.ended(run);
    expect(result).toMatchObject({ stopReason: 'completed', answer: { text: 'Two.' } });
    const last = world.requests('seen').at(-1)?.body ?? '';
    for (const file of [pdf(2), png(), jpeg(), CHART]) expect(last).toContain(base64(file));
    const told = JSON.stringify([history, events], withBytesAsText);
    expect(told).toContain('cat.png');
    for (const file of [pdf(2), png(), jpeg(), CHART]) expect(told).not.toContain(base64(file));
    expect(events.find(({ type }) => type === 'tool_finished')).toMatchObject({
      attachments: [{ mediaType: 'image/png', name: 'chart.png' }],
    });
  });

  test('names them in its transcript and on the terminal', async () => {
    const transcript = await world.client.transcript('seen');
    expect(transcript.messages[0]).toMatchObject({
      attachments: [{ name: 'report.pdf', pages: 2 }, { name: 'cat.png' }],
    });
    const markdown = transcriptMarkdown(transcript);
    expect(markdown).toMatch(/^Attached: report\.pdf, application\/pdf, \d+ bytes/m);
    expect(await watched('seen')).toContain('with report.pdf (application/pdf), cat.png');
  });

  test('has their bytes in its bundle, which replays', async () => {
    bundle = await exportRun(
      { ...world.place, store: world.store },
      { tenant: 'default', runId: 'seen' },
    );
    const again = parseBundle(bundleText(bundle), 'seen.json');
    expect(Object.values(again.blobs)).toEqual(
      expect.arrayContaining([pdf(2), png(), jpeg(), CHART].map(base64)),
    );
    expect(await replayRun(again)).toMatchObject({ equal: true });
  });

  test('loses all of their bytes to any redaction, and replays all the same', async () => {
    const rules = parseRules({ rules: [{ name: 'phone', regex: '555-0199' }] }, 'rules.json');
    const redacted = parseBundle(bundleText(await redactBundle(bundle, rules)), 'redacted.json');
    const text = bundleText(redacted);
    for (const file of [pdf(2), png(), jpeg(), CHART]) expect(text).not.toContain(base64(file));
    expect(redacted.redactions.at(-1)).toMatchObject({ rule: 'files', count: 4 });
    expect(text).toContain('report.pdf');
    expect(await replayRun(redacted)).toMatchObject({ equal: true });
  });
});

test('a model that reads no pictures is asked nothing: the start is an error that says so', async () => {
  await expect(
    world.start({ runId: 'blind', agent: 'blind', attachments: [{ data: png() }], replies: [] }),
  ).rejects.toMatchObject({
    code: 'UnsupportedContent',
    message: expect.stringContaining('scripted/blind does not read image/png'),
  });
  await expect(world.client.attach({ data: 'aGVsbG8=' })).rejects.toMatchObject({
    code: 'UnsupportedContent',
  });
});

function withBytesAsText(_: string, value: unknown): unknown {
  const { type, data } = (value ?? {}) as { readonly type?: unknown; readonly data?: unknown };
  return type === 'Buffer' ? Buffer.from(data as readonly number[]).toString('utf8') : value;
}

async function watched(runId: string): Promise<string> {
  let out = '';
  const { address, namespace } = world.place;
  const place = ['--address', address, '--namespace', namespace, '--store', world.storePlace];
  const environment = { variables: {}, folder: '/', colour: false, interactive: false, ...PATIENT };
  const streams = { out: (text: string) => (out += text), err: () => undefined };
  await runCli(['watch', runId, ...place], { environment, streams });
  return out;
}
