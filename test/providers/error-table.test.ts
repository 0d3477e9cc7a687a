/**
 * What a run does about every failure of a model API, whoever the vendor is: its class, how often it is tried
 * again and after how long, whether another model takes over, which stop it is otherwise, and what was paid.
 * Of each failure the seed draws the vendor whose run has another model. HOLDFAST_WHOLE=1: all of them.
 */
import { defineAgent, defineConfig } from '../../authoring/index.js';
import type { ModelRoute } from '../../core/state/model.js';
import { createAnthropicProvider } from '../../providers/anthropic.js';
import { createOpenAiChatProvider } from '../../providers/openai-chat.js';
import { createOpenAiResponsesProvider } from '../../providers/openai-responses.js';
import type { Provider } from '../../providers/provider.js';
import { resolveRoute } from '../../providers/routes.js';
import type { ScriptedReply } from '../../providers/scripted/script.js';
import { startScriptedModel } from '../../providers/scripted/server.js';
import { openMemoryStore } from '../../store/store.js';
import { SIMULATION_START, startSimulation, virtualClock } from '../../testing/simulation/index.js';
import { saySeed, SEED, WHOLE } from '../seed.js';

const VENDORS: readonly (readonly [string, (baseUrl: string) => Provider])[] = [
  ['anthropic', (baseUrl) => createAnthropicProvider({ apiKey: 'k', baseUrl })],
  ['openai', (url) => createOpenAiChatProvider({ apiKey: 'k', baseUrl: `${url}/v1` })],
  [
    'openai-responses',
    (url) => createOpenAiResponsesProvider({ apiKey: 'k', baseUrl: `${url}/v1` }),
  ],
];

interface Expected {
  readonly class: string;
  readonly attempts: number;
  /** Another model takes over where there is one. */
  readonly fallback?: boolean;
  /** Wait before the second attempt; default: the backoff's first. */
  readonly waitMs?: number;
  /** Where there is no other model. */
  readonly stop?: readonly [string, string?];
  /** The vendor may bill what it began. */
  readonly paid?: boolean;
}

const BACKOFF_MS = 500;
/** The first attempt and six more; of server errors three more. */
const ALL = 7;
const SERVER = 4;
const MESSAGE = { text: 'x'.repeat(300), chunks: 6 } as const;

const TABLE: readonly (readonly [ScriptedReply, Expected])[] = [
  [{ status: 429 }, { class: 'RateLimited', attempts: ALL, fallback: true }],
  [
    { status: 429, retryAfterSeconds: 7 },
    { class: 'RateLimited', attempts: ALL, fallback: true, waitMs: 7_000 },
  ],
  [
    { status: 429, headers: { 'retry-after-ms': '1234' } },
    { class: 'RateLimited', attempts: ALL, fallback: true, waitMs: 1_234 },
  ],
  [
    { status: 429, shouldRetry: false },
    { class: 'RateLimited', attempts: 1, fallback: true },
  ],
  [
    { status: 429, message: 'Your credit balance is used up' },
    { class: 'RateLimited', attempts: 1, fallback: true },
  ],
  [{ status: 529 }, { class: 'Overloaded', attempts: ALL, fallback: true }],
  [
    { status: 529, retryAfterSeconds: 3 },
    { class: 'Overloaded', attempts: ALL, fallback: true, waitMs: 3_000 },
  ],
  [{ status: 500 }, { class: 'ServerError', attempts: SERVER, fallback: true }],
  [
    { status: 500, shouldRetry: false },
    { class: 'ServerError', attempts: 1, fallback: true },
  ],
  [
    { status: 502, errorType: 'bad_gateway' },
    { class: 'ServerError', attempts: SERVER, fallback: true, paid: true },
  ],
  [{ status: 503 }, { class: 'ServerError', attempts: SERVER, fallback: true }],
  [
    { status: 504, errorType: 'gateway_timeout' },
    { class: 'ServerError', attempts: SERVER, fallback: true, paid: true },
  ],
  [
    { status: 408, errorType: 'gateway_timeout' },
    { class: 'NetworkTimeout', attempts: ALL, paid: true },
  ],
  [
    { ...MESSAGE, cutAfterChunks: 4 },
    { class: 'NetworkTimeout', attempts: ALL, paid: true },
  ],
  [
    { ...MESSAGE, endAfterChunks: 4 },
    { class: 'NetworkTimeout', attempts: ALL, paid: true },
  ],
  [
    { ...MESSAGE, errorEventAfterChunks: 4 },
    { class: 'Overloaded', attempts: ALL, fallback: true, paid: true },
  ],
  [
    { garbage: '<html>busy</html>', contentType: 'text/html' },
    { class: 'MalformedReply', attempts: ALL, paid: true },
  ],
  [{ status: 400 }, { class: 'InvalidRequest', attempts: 1 }],
  [{ status: 401 }, { class: 'AuthError', attempts: 1 }],
  [{ status: 402 }, { class: 'AuthError', attempts: 1 }],
  [{ status: 403 }, { class: 'AuthError', attempts: 1 }],
  [{ status: 404 }, { class: 'InvalidRequest', attempts: 1 }],
  [{ status: 422 }, { class: 'InvalidRequest', attempts: 1 }],
  [
    { status: 413, message: 'image exceeds 5 MB' },
    { class: 'InvalidRequest', attempts: 1 },
  ],
  [{ status: 413 }, { class: 'PromptTooLong', attempts: 1, stop: ['prompt_too_long'] }],
  [
    { status: 400, message: 'This exceeds the maximum context length of the model' },
    { class: 'PromptTooLong', attempts: 1, stop: ['prompt_too_long'] },
  ],
  [
    { status: 400, message: 'blocked by the content filtering policy' },
    { class: 'ContentRefused', attempts: 1, stop: ['refused', 'model_refusal'] },
  ],
];

interface Setup {
  readonly vendor: string;
  readonly connect: (baseUrl: string) => Provider;
  readonly reply: ScriptedReply;
  readonly withFallback: boolean;
}

/** A run whose model always fails like this; another one would answer. */
async function runWith({ vendor, connect, reply, withFallback }: Setup) {
  const script = ({ model }: { readonly model: string }) =>
    model === 'other' ? { text: 'Fine.', usage: { input: 0, output: 0 } } : reply;
  const model = await startScriptedModel({ script });
  const store = await openMemoryStore();
  const times: number[] = [];
  const { provider, clock } = heldBy(connect(model.baseUrl), times);
  const routes = ['main', 'other'].map((name) => routeOf(vendor, name));
  const agent = defineAgent({
    name: 'helper',
    model: `${vendor}/main`,
    instructions: 'Help.',
    tools: [],
    settings: withFallback ? { fallbackModel: `${vendor}/other` } : {},
  });
  try {
    const simulation = startSimulation({
      store,
      config: defineConfig({ agents: [agent], routes }),
      providers: new Map([[vendor, provider]]),
      start: { v: 1, agent: 'helper', task: { goal: 'Do it.', taskId: 'task' } },
      runId: 'run_1',
      clock,
    });
    const final = await simulation.finish();
    expect(simulation.violations).toEqual([]);
    if (final.kind !== 'result') throw new Error('the run was refused');
    return { result: final.result, events: simulation.events, times };
  } finally {
    await store.close();
    await model.stop();
  }
}

function routeOf(provider: string, model: string): ModelRoute {
  return { ...resolveRoute('scripted/m'), name: `${provider}/${model}`, provider, model };
}

/** Requests here take real time: until they are answered, virtual time stands still. */
function heldBy(provider: Provider, times: number[]) {
  const clock = virtualClock(SIMULATION_START);
  let open = 0;
  const held: Provider = {
    name: provider.name,
    complete: (request, progress) => {
      open += 1;
      times.push(clock.now());
      return provider.complete(request, progress).finally(() => void (open -= 1));
    },
  };
  return { provider: held, clock: { ...clock, fireNext: () => open > 0 || clock.fireNext() } };
}

beforeAll(() => saySeed('the vendor of each failure that another model takes over'));

describe.each(VENDORS)('a failure of %s', (vendor, connect) => {
  const place = VENDORS.findIndex(([name]) => name === vendor);
  const withFallback = TABLE.filter(
    (_, index) => WHOLE || (index + SEED) % VENDORS.length === place,
  );

  test.each(TABLE)('%j is told apart and dealt with', async (reply, expected) => {
    const { result, events, times } = await runWith({
      vendor,
      connect,
      reply,
      withFallback: false,
    });
    const errors = events.filter((event) => event.type === 'model_error');
    expect(errors).toMatchObject([{ class: expected.class, attempts: expected.attempts }]);
    const [stopReason, detail] = expected.stop ?? ['failed', `model_error:${expected.class}`];
    expect(result.stopReason).toBe(stopReason);
    expect(result.detail).toBe(detail);
    const [first = 0, second = first + BACKOFF_MS] = times;
    if (expected.attempts > 1) expect(second - first).toBe(expected.waitMs ?? BACKOFF_MS);
    expect(result.costMicroUsd > 0).toBe(expected.paid === true);
    expect(events.some((event) => event.type === 'tool_started')).toBe(false);
  });

  test.each(withFallback)(
    '%j is left to another model where that may help',
    async (reply, expected) => {
      const { result, events } = await runWith({ vendor, connect, reply, withFallback: true });
      const took = events.some(
        (event) => event.type === 'transition' && event.reason === 'model_fallback',
      );
      expect(took).toBe(expected.fallback === true);
      expect(result.stopReason === 'completed').toBe(expected.fallback === true);
      if (took) expect(result.answer).toEqual({ text: 'Fine.' });
    },
  );
});
