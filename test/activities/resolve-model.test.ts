/** A model that a person names while the run goes on. */
import { MockLanguageModelV4 } from 'ai-v7/test';
import { defineAgent, defineConfig } from '../../authoring/index.js';
import type { ResolveModelInput } from '../../core/state/effect.js';
import { createAiSdkProvider } from '../../providers/ai-sdk.js';
import { attempt, RUN, startBed, type Bed } from './setup.js';

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.end());

const model = new MockLanguageModelV4({ modelId: 'm' });
const agents = [defineAgent({ name: 'helper', model: 'fast', instructions: 'Help.', tools: [] })];
const config = defineConfig({ agents, models: { fast: model } });
const providers = new Map([['fast:m', createAiSdkProvider({ name: 'fast:m', model })]]);

async function resolved(money?: 'unlimited') {
  const input: ResolveModelInput = {
    v: 1,
    run: RUN,
    model: 'fast',
    events: [],
    ...(money !== undefined && { money }),
  };
  const activities = bed.activities({ config, providers });
  return (await attempt(activities.resolve_model, input)).resolved;
}

test('without prices it is refused where money is limited', async () => {
  expect(await resolved()).toEqual({
    ok: false,
    reason: expect.stringContaining('does not say the context window, output limit, prices'),
  });
});

test('without prices it is taken where money is unlimited', async () => {
  expect(await resolved('unlimited')).toMatchObject({
    ok: true,
    route: { provider: 'fast:m', prices: { input: 0, output: 0 } },
  });
});
