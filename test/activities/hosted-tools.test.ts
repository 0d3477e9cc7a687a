import { defineHostedTool } from '../../authoring/index.js';
import { NO_USAGE } from '../../core/state/model.js';
import type { HostedUse, ModelReply, ModelRequest, Provider } from '../../providers/provider.js';
import {
  attempt,
  callOf,
  effect,
  executeInput,
  failureFrom,
  modelInput,
  openedHead,
  RUN,
  startBed,
  type Bed,
} from './setup.js';

const search = defineHostedTool({
  name: 'web_search',
  version: '1',
  effect: 'read',
  provider: 'anthropic',
  declaration: { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
  bound: { inputTokens: 1_000, uses: 3, feeMicroUsd: 10_000 },
});
const bound = {
  inputTokens: 500,
  costMicroUsd: 50_000,
  fees: { each: { web_search: 10_000 }, most: 30_000 },
};
const RAW = [{ type: 'server_tool_use', id: 'h', name: 'web_search', input: { query: 'x' } }];

function use(id: string, more: Partial<HostedUse> = {}): HostedUse {
  const args = { query: id };
  return { id, tool: 'web_search', args, isError: false, result: ['found'], ...more };
}

let bed: Bed;
const asked: ModelRequest[] = [];
beforeEach(async () => {
  bed = await startBed({ tools: [search] });
  asked.length = 0;
});
afterEach(() => bed.end());

function answering(hosted: readonly HostedUse[], more: Partial<ModelReply> = {}): Provider {
  return {
    name: 'anthropic',
    complete: async (request) => {
      asked.push(request);
      return {
        blocks: [{ type: 'text', text: 'Found.' }],
        raw: RAW,
        hosted,
        stop: 'end_turn',
        usage: { ...NO_USAGE, input: 100, output: 10 },
        usageSource: 'reported',
        model: 'm',
        incompleteCalls: 0,
        ...more,
      };
    },
  };
}

async function ask(provider: Provider) {
  const providers = new Map([['anthropic', provider]]);
  const head = await openedHead(bed);
  return attempt(bed.activities({ providers }).call_model, modelInput(head, { bound }));
}

test('what the vendor ran is told with its fees, and its own blocks are kept', async () => {
  const { reply, head } = await ask(answering([use('h'), use('i', { isError: true })]));
  expect(reply.calls).toEqual([]);
  expect(reply.hosted).toEqual({
    calls: [
      {
        id: 'h',
        tool: 'web_search',
        args: { text: '{"query":"h"}' },
        isError: false,
        content: { text: '["found"]' },
      },
      expect.objectContaining({ id: 'i', isError: true }),
    ],
    unlisted: 0,
    feesMicroUsd: 10_000,
  });
  const node = (await bed.store.readChain('default', head)).at(-1);
  expect(node?.raw).toEqual(RAW);
  expect(asked[0]?.tools).toMatchObject([{ hosted: { provider: 'anthropic' } }]);
});

test('large results lie in the store, and those that fit no payload are counted', async () => {
  const uses = Array.from({ length: 200 }, (_, index) =>
    use(`h${index}`, { result: 'x'.repeat(5_000), args: { query: 'y'.repeat(2_000) } }),
  );
  const { reply } = await ask(answering(uses));
  expect(reply.hosted?.calls.length).toBeGreaterThan(10);
  expect(reply.hosted?.unlisted).toBe(200 - (reply.hosted?.calls.length ?? 0));
  expect(reply.hosted?.calls[0]?.content).toMatchObject({ bytes: 5_002 });
  expect(reply.hosted?.feesMicroUsd).toBe(2_000_000);
  expect(JSON.stringify(reply).length).toBeLessThan(48 * 1024);
});

test('the row of an attempt has the fees', async () => {
  const info = effect();
  const providers = new Map([['anthropic', answering([use('h')])]]);
  const input = modelInput(await openedHead(bed), { bound });
  await attempt(bed.activities({ providers }).call_model, input, info);
  const rows = await bed.store.listAttempts('default', RUN.runId, `${info.activityId}@exec-1`);
  const tokens = Math.ceil((100 * input.route.prices.input + 10 * input.route.prices.output) / 1e6);
  expect(rows.map(({ end }) => end?.costMicroUsd)).toEqual([tokens + 10_000]);
});

test('another vendor is not told of it', async () => {
  const route = { ...modelInput('').route, provider: 'other' };
  const providers = new Map([['other', answering([])]]);
  const head = await openedHead(bed);
  await attempt(bed.activities({ providers }).call_model, modelInput(head, { route }));
  expect(asked[0]?.tools).toEqual([]);
});

test('nobody here runs it', async () => {
  const input = executeInput(callOf('web_search', {}));
  const failure = await failureFrom(attempt(bed.activities().execute_tool, input));
  expect(failure).toMatchObject({ type: 'GrantInvalid' });
});
