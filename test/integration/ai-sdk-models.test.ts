/** A model, tools and a service that are not of Holdfast's own making, on a real server. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { tool } from 'ai-v7';
import { z } from 'zod';
import {
  defineAgent,
  defineConfig,
  fromAiSdkTool,
  fromOpenAPI,
  type Config,
  type ConfigDefinition,
} from '../../authoring/index.js';
import { readEnvironment } from '../../worker/config.js';
import { providersOf } from '../../worker/providers.js';
import { GOOGLE, startVendor, type VendorServer } from '../providers/vendor-streams.js';
import { AGENT, APPROVER } from './support/agents.js';
import { ofType, openAsk, startWorld, type Ended, type World } from './support/world.js';

const KEY = 'key-of-the-vendor';
const TOKEN = 'token-of-the-service';
const DOCUMENT = {
  openapi: '3.1.0',
  paths: {
    '/orders/{id}': {
      get: {
        operationId: 'readOrder',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      },
    },
  },
};

let world: World;
let vendor: VendorServer;
let service: Server;
let mails: string[];

beforeAll(async () => {
  [world, vendor] = await Promise.all([startWorld({ worker: false }), startVendor(GOOGLE)]);
  service = createServer(({ headers, url }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ url, status: 'late', saw: headers.authorization }));
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  service.close();
  service.closeAllConnections();
  await Promise.all([world.stop(), vendor.stop()]);
});
beforeEach(() => {
  mails = [];
  vendor.asked.length = 0;
});

const gemini = (id: string) =>
  createGoogleGenerativeAI({ apiKey: KEY, baseURL: `${vendor.baseUrl}/v1beta` })(id);

function configWith(models: Pick<ConfigDefinition, 'models' | 'retiredModels'>): Config {
  const mail = tool({
    description: 'Writes to a customer.',
    inputSchema: z.object({ text: z.string() }),
    execute: ({ text }) => {
      mails.push(text);
      return { sent: true };
    },
  });
  const { port } = service.address() as AddressInfo;
  const orders = fromOpenAPI(DOCUMENT, {
    allow: ['readOrder'],
    baseUrl: `http://127.0.0.1:${port}`,
    headers: { authorization: () => `Bearer ${TOKEN}` },
  });
  const tools = [fromAiSdkTool('mail.write', mail), ...orders];
  const instructions = 'Serve the customer.';
  const agents = [defineAgent({ name: AGENT, model: 'fast', instructions, tools })];
  return defineConfig({ agents, ...models });
}

function serve(config: Config) {
  const providers = providersOf(readEnvironment({}, '/p'), config);
  return world.serve({ config, providers });
}

const modelsIn = (events: Ended['events']) =>
  ofType(events, 'model_response').map(({ model }) => model);

const PRICED = {
  contextWindow: 100_000,
  maxOutputTokens: 1_000,
  prices: { input: 1_000_000, output: 2_000_000, cacheRead: 100_000, cacheWrite: 1_000_000 },
};
const READ = { id: 'c1', name: 'readOrder', args: { id: 'O/1' } };
const WRITE = { id: 'c2', name: 'mail__write', args: { text: 'It is late.' } };

test('a run asks, acts once and pays, over a cut stream, and no secret is in what it leaves', async () => {
  const worker = await serve(configWith({ models: { fast: { model: gemini('m'), ...PRICED } } }));
  const thought = { text: 'Let me look.', signature: 'c2lnbmVk' };
  vendor.answers.push({ thought, call: READ }, { call: WRITE, cut: true }, { call: WRITE });
  const run = await world.start({ runId: 'foreign', replies: [] });
  const ask = await openAsk(run);
  expect(ask).toMatchObject({ tool: 'mail.write' });
  expect(mails).toEqual([]);
  vendor.answers.push({ text: 'Done.' });
  await run.approve(ask.askId, APPROVER);
  const { result, events, history } = await world.ended(run);
  expect(result).toMatchObject({ status: 'completed', answer: { text: 'Done.' } });
  expect(mails).toEqual(['It is late.']);
  expect(vendor.asked).toHaveLength(4);
  expect(vendor.asked[1]).toContain('c2lnbmVk');
  expect(vendor.asked[1]).toContain('/orders/O%2F1');
  // Three replies of 7 tokens, 3 from the cache, and 5 of output; the cut one is charged as well.
  expect(result.counters.costMicroUsd).toBeGreaterThanOrEqual(3 * (7 + 0.3 + 10));
  expect(ofType(events, 'tool_finished')).toHaveLength(2);
  const left = JSON.stringify([events, history, result, vendor.asked]);
  for (const secret of [KEY, TOKEN]) expect(left).not.toContain(secret);
  await world.retire(worker);
});

test('a run goes on with the model that it began with when the name has another one', async () => {
  const first = await serve(configWith({ models: { fast: { model: gemini('old'), ...PRICED } } }));
  vendor.answers.push({ call: WRITE });
  const run = await world.start({ runId: 'older', replies: [] });
  const ask = await openAsk(run);
  await world.retire(first);
  const now = { model: gemini('new'), ...PRICED };
  const second = await serve(
    configWith({ models: { fast: now }, retiredModels: { fast: gemini('old') } }),
  );
  vendor.answers.push({ text: 'Done.' });
  await run.approve(ask.askId, APPROVER);
  const { result, events } = await world.ended(run);
  expect(result.status).toBe('completed');
  expect(modelsIn(events)).toEqual(['old', 'old']);
  vendor.answers.push({ text: 'Hello.' });
  const next = await world.start({ runId: 'newer', replies: [] });
  expect(modelsIn((await world.ended(next)).events)).toEqual(['new']);
  await world.retire(second);
});
