/** Sources of replies, from a vendor that cites to everybody who reads the run. */
import { tmpdir } from 'node:os';
import { runCli } from '../../cli/program.js';
import { defineAgent, defineConfig } from '../../authoring/index.js';
import type { SDKMessage } from '../../pure/sdk/message.js';
import { foldOf } from '../../recording/fold.js';
import { bundleText } from '../../replay/bundle.js';
import { exportRun } from '../../replay/export-run.js';
import { parseBundle } from '../../replay/read-bundle.js';
import { replayRun } from '../../replay/strict-replay.js';
import { toldMoment } from '../../replay/told-moment.js';
import { momentLines } from '../../cli/render/moment.js';
import { PLAIN } from '../../cli/render/index.js';
import { ChatScreen } from '../../cli/chat/chat-screen.js';
import { readEnvironment } from '../../worker/config.js';
import { providersOf } from '../../worker/providers.js';
import { startMessagesVendor, type MessagesVendor } from '../testing/support/messages-vendor.js';
import { AGENT } from './support/agents.js';
import { all, follow } from './support/queries.js';
import { redactedBothWays } from './support/redacted-export.js';
import { startWorld, type World } from './support/world.js';

const QUOTE = 'Petra Quitzow waits since Monday.';
const URL = 'https://carrier.example/O-17?of=Quitzow';
const CITED = {
  type: 'web_search_result_location',
  url: URL,
  title: 'Parcel \u001b[31mO-17',
  cited_text: QUOTE,
  encrypted_index: 'b3BhcXVl',
};
const SOURCE = { kind: 'url', url: URL, title: CITED.title, passages: [{ text: QUOTE }] };

let world: World;
let vendor: MessagesVendor;
beforeAll(async () => {
  vendor = await startMessagesVendor({
    content: [{ type: 'text', text: 'On Monday.', citations: [CITED] }],
  });
  world = await startWorld({ worker: false });
  const model = 'anthropic/claude-sonnet-5-5';
  const config = defineConfig({
    agents: [defineAgent({ name: AGENT, model, instructions: 'Serve.', tools: [] })],
  });
  const variables = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: vendor.baseUrl };
  const providers = providersOf(readEnvironment(variables), config);
  await world.serve({ config, providers });
  await world.ended(await world.start({ runId: 'cited', replies: [] }));
});
afterAll(() => Promise.all([world.stop(), vendor.stop()]));

const exported = () =>
  exportRun({ ...world.place, store: world.store }, { tenant: 'default', runId: 'cited' });

const reply = async (): Promise<SDKMessage & { readonly type: 'assistant' }> => {
  const messages = await all(follow(world, 'cited'));
  return messages.find((message) => message.type === 'assistant')!;
};

async function told(...argv: readonly string[]): Promise<string> {
  let out = '';
  const { address, namespace } = world.place;
  const place = ['--store', world.storePlace, '--address', address, '--namespace', namespace];
  const code = await runCli([...argv, ...place], {
    environment: { variables: {}, folder: tmpdir(), colour: false, interactive: false },
    streams: { out: (text) => void (out += text), err: () => undefined },
  });
  expect(code).toBe(0);
  expect(out).not.toContain('\u001b');
  return out;
}

test('a program reads them in the conversation and among the messages of a query', async () => {
  const { messages } = await world.client.transcript('cited');
  expect(messages.at(-1)).toMatchObject({ text: 'On Monday.', sources: [SOURCE] });
  expect(await reply()).toMatchObject({ sources: [SOURCE] });
});

test('a terminal shows them, with nothing of theirs that it would obey', async () => {
  expect(await told('show', 'cited')).toContain(`[1] ${URL} · Parcel O-17 · “${QUOTE}”`);
  expect(JSON.parse(await told('show', 'cited', '--json'))).toMatchObject({
    events: expect.arrayContaining([expect.objectContaining({ sources: [SOURCE] })]),
  });
  expect(await told('transcript', 'cited')).toContain(`${URL}\n${QUOTE}`);
  let out = '';
  const line = (text: string): void => void (out += `${text}\n`);
  const piece = (text: string): void => void (out += text);
  new ChatScreen({ line, piece, paint: PLAIN } as never).show(await reply());
  expect(out).toBe(`│ On Monday.\n│ [1] ${URL} · Parcel O-17 · “${QUOTE}”\n`);
});

test('a recorded moment has them as well, and its run replays exactly', async () => {
  const bundle = parseBundle(bundleText(await exported()), 'cited.json');
  expect(await replayRun(bundle)).toMatchObject({ equal: true });
  const fold = foldOf(bundle);
  const record = { fold, source: 'file', redactions: [], referred: async () => bundle } as const;
  const moments = await Promise.all(fold.steps.map(({ step }) => toldMoment(record, step)));
  const answered = moments.find((moment) => moment.reply !== undefined)!;
  expect(answered.reply).toMatchObject({ text: 'On Monday.', sources: [SOURCE] });
  expect(momentLines(answered, PLAIN).join('\n')).toContain(`source    [1] ${URL}`);
});

test('what a rule hides is hidden in them, wherever a bundle has them', async () => {
  const rules = [{ name: 'customer', pattern: /Quitzow/g }];
  const { streamed, held, places } = await redactedBothWays(world, await exported(), rules);
  expect(places).toBeGreaterThan(1);
  expect(held).toBe(streamed);
  expect(held).toContain('carrier.example');
  expect(held).not.toContain('Quitzow');
});
