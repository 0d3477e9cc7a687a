import { ActivityCancellationDetails } from '@temporalio/common';
import { z } from 'zod';
import { defineTool } from '../../authoring/index.js';
import type { Timers } from '../../activities/timers.js';
import { callDigest } from '../../core/json/json.js';
import type { CallModelOutput } from '../../core/state/effect.js';
import { HoldfastError } from '../../core/state/errors.js';
import { NO_USAGE } from '../../core/state/model.js';
import type { ModelReply, Provider } from '../../providers/provider.js';
import type { ScriptedAnswer } from '../../providers/scripted/script.js';
import type { Store } from '../../store/store.js';
import {
  attempt,
  effect,
  environmentOf,
  failureFrom,
  modelInput,
  openedHead,
  RUN,
  sessionEvent,
  startBed,
  startUnheardAttempt,
  type Bed,
} from './setup.js';
import { arriving, SLOW, STREAMED } from './slow-reply.js';
import { until } from '../until.js';

const readOrder = defineTool({
  name: 'orders.read',
  version: '1',
  effect: 'read',
  input: z.object({ orderId: z.string(), count: z.number().default(1) }),
  run: () => ({}),
});
const store = defineTool({
  name: 'notes.store',
  version: '1',
  effect: 'write',
  input: z.looseObject({}),
  run: () => 'stored',
});

const OK: ScriptedAnswer = { text: 'Done.', usage: { input: 100, output: 10 } };

/** As a provider gives it. */
const REPLY = {
  blocks: [{ type: 'text', text: 'Done.' }],
  raw: [],
  stop: 'end_turn',
  usage: { ...NO_USAGE, input: 1, output: 1 },
  usageSource: 'reported',
  model: 'm',
  incompleteCalls: 0,
};
const CALL = { type: 'tool_use', id: 'c1', tool: 'look', args: {} };

describe('call_model', () => {
  let bed: Bed;
  afterEach(() => bed.end());

  async function begin(replies: readonly ScriptedAnswer[]): Promise<string> {
    bed = await startBed({ tools: [readOrder, store], replies });
    return openedHead(bed);
  }

  test('appends, asks, and stores the reply as a node after what it answers', async () => {
    const head = await begin([OK]);
    const output = await attempt(
      bed.activities().call_model,
      modelInput(head, { events: [sessionEvent()] }),
    );
    expect(output).toMatchObject({
      reply: { text: { text: 'Done.' }, calls: [], stop: 'end_turn', usage: { input: 100 } },
      bytes: JSON.stringify([{ type: 'text', text: 'Done.' }]).length,
      attempts: 1,
      eventsUpTo: 1,
    });
    const chain = await bed.store.readChain('default', output.head);
    expect(chain.map((node) => [node.role, node.messageId])).toEqual([
      ['root', 'root'],
      ['user', 'run_1:m0'],
      ['assistant', 'run_1:m1'],
    ]);
    expect(chain[2]?.origin).toEqual({ model: 'test', route: 'scripted/test', call: 1 });
  });

  test('a finished reply is never paid for twice', async () => {
    const head = await begin([OK]);
    const info = effect();
    const first = await attempt(bed.activities().call_model, modelInput(head), info);
    const again = await attempt(bed.activities().call_model, modelInput(head), info);
    const afterReset = await attempt(bed.activities().call_model, modelInput(head));
    expect(again).toEqual(first);
    expect(afterReset.head).toBe(first.head);
    expect(bed.model.requests()).toHaveLength(1);
  });

  test('a finished reply is kept by a store that comes back in time, and not paid for twice', async () => {
    const head = await begin([OK]);
    let failures = 0;
    const unsteady: Store = {
      ...bed.store,
      async together(work, step) {
        if (bed.model.requests().length === 0 || failures === 4) {
          return bed.store.together(work, step);
        }
        failures += 1;
        throw new HoldfastError('StoreUnavailable', 'The database server starts again.');
      },
    };
    const timers: Timers = {
      after(_ms, then) {
        setImmediate(then);
        return () => undefined;
      },
    };
    const activities = bed.activities({ store: unsteady, timers });
    const info = effect();
    const failure = await failureFrom(attempt(activities.call_model, modelInput(head), info));
    expect(failure).toMatchObject({ type: 'StoreUnavailable', nonRetryable: false });
    expect(failures).toBe(4);
    const output = await attempt(activities.call_model, modelInput(head), info);
    expect(output).toMatchObject({ attempts: 1, lostCostMicroUsd: 0 });
    expect(bed.model.requests()).toHaveLength(1);
  });

  test('events are stored even when the call fails', async () => {
    const head = await begin([{ status: 400, message: 'no' }]);
    const input = modelInput(head, { events: [sessionEvent()] });
    const failure = await failureFrom(attempt(bed.activities().call_model, input));
    expect(failure).toMatchObject({ type: 'InvalidRequest', nonRetryable: true });
    const { events } = await bed.store.readEvents(RUN, { sinceSeq: 0, limit: 10 });
    expect(events).toHaveLength(1);
  });

  test('a rate limit is retried when the vendor says, and costs nothing', async () => {
    const head = await begin([[{ status: 429, retryAfterSeconds: 7 }, OK]]);
    const info = effect();
    const input = modelInput(head);
    const failure = await failureFrom(attempt(bed.activities().call_model, input, info));
    expect(failure).toMatchObject({ type: 'RateLimited', nonRetryable: false });
    expect(failure.nextRetryDelay).toBe(7_000);
    const output = await attempt(bed.activities().call_model, input, info);
    expect(output).toMatchObject({ attempts: 2, lostCostMicroUsd: 0 });
  });

  test('server errors are retried as often as their class allows, then fail for good', async () => {
    const head = await begin([{ status: 500 }]);
    const info = effect();
    const input = modelInput(head, { maxRetries: { serverError: 2, other: 6 } });
    const call = () => failureFrom(attempt(bed.activities().call_model, input, info));
    expect(await call()).toMatchObject({ type: 'ServerError', nonRetryable: false });
    expect(await call()).toMatchObject({ nonRetryable: false });
    const last = await call();
    expect(last).toMatchObject({ type: 'ServerError', nonRetryable: true });
    expect(last.details?.[0]).toMatchObject({ attempts: 3 });
    // Redelivered: its worker died before it could tell.
    expect(await call()).toMatchObject({ type: 'ServerError', nonRetryable: true });
    expect(bed.model.requests()).toHaveLength(3);
  });

  test.each([
    [401, 'AuthError'],
    [400, 'InvalidRequest'],
  ] as const)('status %i fails at once as %s', async (status, type) => {
    const head = await begin([{ status }]);
    const failure = await failureFrom(attempt(bed.activities().call_model, modelInput(head)));
    expect(failure).toMatchObject({ type, nonRetryable: true });
  });

  test('a dead worker counts as cost at its bound, not as a failure', async () => {
    const head = await begin([[{ status: 500 }, OK]]);
    const info = effect();
    const input = modelInput(head, { maxRetries: { serverError: 1, other: 0 } });
    await startUnheardAttempt(bed, info);
    const failure = await failureFrom(attempt(bed.activities().call_model, input, info));
    expect(failure.nonRetryable).toBe(false);
    const output = await attempt(bed.activities().call_model, input, info);
    expect(output.attempts).toBe(3);
    expect(output.lostCostMicroUsd).toBeGreaterThanOrEqual(20_000);
    expect(output.lostUsage).toMatchObject({ output: 1_000 });
  });

  test.each([
    ['max_cost', { costMicroUsd: 39_999, inputTokens: null, outputTokens: null }],
    ['max_input_tokens', { costMicroUsd: null, inputTokens: 500, outputTokens: null }],
    ['max_output_tokens', { costMicroUsd: null, inputTokens: null, outputTokens: 1_999 }],
  ])('no attempt leaves that would break %s', async (budget, left) => {
    const head = await begin([OK]);
    const info = effect();
    await startUnheardAttempt(bed, info);
    const input = modelInput(head, { left });
    const failure = await failureFrom(attempt(bed.activities().call_model, input, info));
    expect(failure).toMatchObject({ type: 'BudgetExhausted', nonRetryable: true });
    expect(failure.details?.[0]).toMatchObject({ budget, lostCostMicroUsd: 20_000, attempts: 1 });
    expect(bed.model.requests()).toHaveLength(0);
  });

  test('a cut stream costs its input and what had arrived', async () => {
    const cut: ScriptedAnswer = { text: 'x'.repeat(300), chunks: 10, cutAfterChunks: 6 };
    const head = await begin([[cut, OK]]);
    const info = effect();
    const input = modelInput(head);
    const failure = await failureFrom(attempt(bed.activities().call_model, input, info));
    expect(failure).toMatchObject({ type: 'NetworkTimeout', nonRetryable: false });
    const output = await attempt(bed.activities().call_model, input, info);
    expect(output.lostUsage?.input).toBeGreaterThanOrEqual(500);
    expect(output.lostCostMicroUsd).toBeGreaterThan(0);
  });

  test('calls are checked, renamed, completed by their schema and bound by a digest', async () => {
    const head = await begin([
      { calls: [{ id: 'c1', tool: 'orders.read', input: { orderId: 'o1', extra: true } }] },
    ]);
    const { reply } = await attempt(bed.activities().call_model, modelInput(head));
    const args = { orderId: 'o1', count: 1 };
    expect(reply.calls).toEqual([
      {
        id: 'c1',
        tool: 'orders.read',
        toolVersion: '1',
        args,
        digest: callDigest({ tool: 'orders.read', toolVersion: '1', args }),
        check: { ok: true, leftOut: ['extra'] },
      },
    ]);
  });

  test.each<[string, object, string, RegExp]>([
    ['an unknown tool', { tool: 'rm_rf', input: {} }, 'unknown_tool', /rm_rf.*orders__read/],
    ['a name of a prototype', { tool: 'constructor', input: {} }, 'unknown_tool', /constructor/],
    ['a missing field', { tool: 'orders.read', input: {} }, 'invalid_arguments', /orderId/],
    ['text that is no JSON', { tool: 'orders.read', rawInput: '{bad' }, 'invalid_arguments', /bad/],
    ['a list', { tool: 'notes.store', rawInput: '[1]' }, 'invalid_arguments', /\[1\]/],
    [
      'an integer beyond the safe range',
      { tool: 'notes.store', rawInput: '{"n":9007199254740993}' },
      'invalid_arguments',
      /n is an integer too large/,
    ],
    [
      'a number that is infinite',
      { tool: 'notes.store', rawInput: '{"n":1e999}' },
      'invalid_arguments',
      /a number in them is not finite.*1e999/,
    ],
    [
      'nesting beyond what is read',
      { tool: 'notes.store', rawInput: `{"a":${'['.repeat(150)}${']'.repeat(150)}}` },
      'invalid_arguments',
      /nested deeper than 100 levels/,
    ],
    [
      'nesting of which only the beginning is kept',
      {
        tool: 'notes.store',
        rawInput: `{"a":"]]","b":${'['.repeat(5_000)}"]]"${']'.repeat(5_000)}}`,
      },
      'invalid_arguments',
      /nested deeper than 100 levels/,
    ],
    [
      'brackets in a text',
      { tool: 'notes.store', rawInput: `{"a":"${'['.repeat(200)}` },
      'invalid_arguments',
      /not one JSON object/,
    ],
    [
      'nesting without end',
      { tool: 'notes.store', rawInput: `{"a":${'['.repeat(70)}${']'.repeat(70)}}` },
      'invalid_arguments',
      /levels deep/,
    ],
    [
      'a forged reference to a stored text',
      { tool: 'notes.store', input: { a: { $blob: 'f'.repeat(64), bytes: 5 } } },
      'invalid_arguments',
      /reference/,
    ],
    [
      'arguments too large to be shown',
      {
        tool: 'notes.store',
        input: Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`k${i}`, 'x'.repeat(60)])),
      },
      'invalid_arguments',
      /too large/,
    ],
  ])('%s is a value for the model, not a failure', async (_what, call, code, message) => {
    const head = await begin([{ calls: [{ id: 'c1', ...call } as never] }, OK]);
    const first = await attempt(bed.activities().call_model, modelInput(head));
    expect(first.reply.calls[0]?.check).toMatchObject({ ok: false, code });
    expect(first.reply.calls[0]?.check).toMatchObject({ message: expect.stringMatching(message) });
    // The conversation can go on with it.
    const next = modelInput(first.head, {
      call: 2,
      append: [
        {
          kind: 'results',
          messageId: 'run_1:m2',
          results: [{ callId: 'c1', isError: true, content: { text: 'no' } }],
        },
      ],
      replyMessageId: 'run_1:m3',
    });
    const second = await attempt(bed.activities().call_model, next);
    expect(second.reply.text).toEqual({ text: 'Done.' });
  });

  test('long texts in arguments are spilled before the digest is taken', async () => {
    const text = 'long '.repeat(10_000);
    const head = await begin([{ calls: [{ id: 'c1', tool: 'notes.store', input: { text } }] }]);
    const { reply } = await attempt(bed.activities().call_model, modelInput(head));
    expect(reply.calls[0]?.args).toMatchObject({ text: { bytes: 50_000 } });
    expect(reply.calls[0]?.check).toEqual({ ok: true });
  });

  test('a reply of a hundred large calls still fits one payload', async () => {
    const input = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`key${index}`, 'x'.repeat(100)]),
    );
    const calls = Array.from({ length: 100 }, () => ({ tool: 'notes.store', input }));
    const head = await begin([{ text: 'y'.repeat(100_000), calls }]);
    const output = await attempt(bed.activities().call_model, modelInput(head));
    expect(output.reply.calls).toHaveLength(48);
    expect(output.reply.calls[0]?.check.ok).toBe(true);
    expect(output.reply.calls[47]?.check).toMatchObject({ code: 'invalid_arguments' });
  });

  test('the model sees only the beginning of a large result, with a marker, after what is noted of it', async () => {
    const head = await begin([
      { calls: [{ id: 'c1', tool: 'orders.read', input: { orderId: 'o' } }] },
      OK,
    ]);
    const first = await attempt(bed.activities().call_model, modelInput(head));
    const content = await bed.store.putText('default', 'z'.repeat(10 * 1024 * 1024));
    const output = await attempt(
      bed.activities().call_model,
      modelInput(first.head, {
        call: 2,
        append: [
          {
            kind: 'results',
            messageId: 'run_1:m2',
            results: [{ callId: 'c1', isError: false, content, maxChars: 30_000, note: 'A note.' }],
          },
        ],
        replyMessageId: 'run_1:m3',
      }),
    );
    const node = (await bed.store.readChain('default', output.head)).at(-2);
    expect(node?.blocks[0]).toMatchObject({
      type: 'tool_result',
      originalChars: 10_485_760,
      ref: (content as { readonly $blob: string }).$blob,
    });
    const body = bed.model.requests()[1]?.body ?? '';
    expect(body).toContain('[truncated: 30000 of 10485760 characters shown; ref ');
    expect(body).toContain('A note.\\nzzz');
    expect(body.length).toBeLessThan(40_000);
  });

  test('what changes of the system prompt follows all that stays, and names another request', async () => {
    const head = await begin([OK]);
    const dynamic = ['Budget left: 1 of 9 turns.', 'More.'];
    await attempt(bed.activities().call_model, modelInput(head));
    await attempt(bed.activities().call_model, modelInput(head, { dynamic }));
    const [first, second] = bed.model.requests().map(({ body }) => body ?? '');
    const said = '(The runtime says, for this request alone:\nBudget left: 1 of 9 turns.\n\nMore.)';
    const late = `,${JSON.stringify({ type: 'text', text: said })}`;
    expect(second).toContain(late);
    expect(second?.replace(late, '')).toBe(first);
  });

  test('only the tools that are offered reach the model', async () => {
    const head = await begin([OK]);
    await attempt(bed.activities().call_model, modelInput(head, { offered: ['orders.read'] }));
    expect(bed.model.requests()[0]?.body).toContain('orders__read');
    expect(bed.model.requests()[0]?.body).not.toContain('notes__store');
  });

  test('a model that may call no tool hears of those that it has used, and that it may not', async () => {
    const head = await begin([{ calls: [{ id: 'c1', tool: 'orders__read', input: {} }] }, OK]);
    const first = await attempt(bed.activities().call_model, modelInput(head));
    await attempt(
      bed.activities().call_model,
      modelInput(first.head, {
        call: 2,
        append: [
          {
            kind: 'results',
            messageId: 'run_1:m2',
            results: [{ callId: 'c1', isError: false, content: { text: 'x' } }],
          },
        ],
        replyMessageId: 'run_1:m3',
        offered: [],
      }),
    );
    const body = JSON.parse(bed.model.requests()[1]?.body ?? '{}') as {
      readonly tools: readonly { readonly name: string }[];
      readonly tool_choice: unknown;
    };
    expect(body.tools.map((one) => one.name)).toEqual(['orders__read']);
    expect(body.tool_choice).toEqual({ type: 'none' });
  });

  test('garbage in place of a reply is a typed failure', async () => {
    const head = await begin([{ garbage: '<html>', contentType: 'text/html' }]);
    const failure = await failureFrom(attempt(bed.activities().call_model, modelInput(head)));
    expect(failure.type).toBe('MalformedReply');
  });

  test('an empty reply leaves no empty message behind', async () => {
    const head = await begin([{ text: '' }]);
    const output = await attempt(bed.activities().call_model, modelInput(head));
    const chain = await bed.store.readChain('default', output.head);
    expect(chain.at(-1)?.role).toBe('user');
  });

  test('a missing transcript is waited for, it ends nothing', async () => {
    await begin([OK]);
    const input = modelInput('0'.repeat(64));
    const failure = await failureFrom(attempt(bed.activities().call_model, input));
    expect(failure).toMatchObject({ type: 'TranscriptMissing', nonRetryable: false });
    expect(await bed.store.listAttempts(RUN.tenant, RUN.runId, 'effect')).toEqual([]);
  });

  test('a provider that throws anything at all counts as failed at its bound', async () => {
    const head = await begin([OK]);
    const broken: Provider = { name: 'broken', complete: () => Promise.reject(new TypeError('x')) };
    const { call_model } = bed.activities({ providers: new Map([['anthropic', broken]]) });
    const input = modelInput(head, { maxRetries: { serverError: 0, other: 0 } });
    const failure = await failureFrom(attempt(call_model, input));
    expect(failure).toMatchObject({ type: 'Internal', nonRetryable: true });
    expect(failure.message).toMatch(/^The provider broken threw TypeError: x\./);
    expect(failure.details?.[0]).toMatchObject({
      attempts: 1,
      hint: expect.stringContaining('code of the provider'),
      lostUsage: { input: 500, output: 1_000 },
    });
  });

  test.each<[string, unknown, RegExp]>([
    ['undefined', undefined, /it: /],
    ['a reply without model', { ...REPLY, model: undefined }, /model: /],
    ['a reply without blocks', { ...REPLY, blocks: undefined }, /blocks: /],
    ['a block of no known kind', { ...REPLY, blocks: [{ type: 'picture' }] }, /blocks\.0\.type: /],
    ['a call without arguments', { ...REPLY, blocks: [{ ...CALL, args: undefined }] }, /args: /],
    ['a stop of its own', { ...REPLY, stop: 'done' }, /stop: /],
    ['what is no JSON', { ...REPLY, blocks: [{ ...CALL, args: { n: 1n } }] }, /no JSON/],
  ])('%s as reply of a provider is named, and tried as often as any', async (_, given, defect) => {
    const head = await begin([OK]);
    const complete = () => Promise.resolve(given as ModelReply);
    const providers = new Map([['anthropic', { name: 'house', complete }]]);
    const input = modelInput(head, { maxRetries: { serverError: 0, other: 1 } });
    const info = effect();
    const { call_model } = bed.activities({ providers });
    const first = await failureFrom(attempt(call_model, input, info));
    expect(first).toMatchObject({ type: 'MalformedReply', nonRetryable: false });
    const last = await failureFrom(attempt(call_model, input, info));
    expect(last).toMatchObject({ type: 'MalformedReply', nonRetryable: true });
    expect(last.message).toMatch(/^The provider house gave a reply that cannot be used: /);
    expect(last.message).toMatch(defect);
    expect(last.details?.[0]).toMatchObject({ attempts: 2 });
  });

  test('an interrupted call gives what had arrived as data', async () => {
    const head = await begin([SLOW]);
    const environment = environmentOf(effect());
    const beats: unknown[] = [];
    environment.on('heartbeat', (beat: unknown) => beats.push(beat));
    const { call_model } = bed.activities();
    const running = environment.run(call_model, modelInput(head, STREAMED));
    await arriving(bed);
    await until(() => beats.length >= 3);
    environment.cancel();
    const { reply } = (await running) as CallModelOutput;
    expect(reply.partial).toBe(true);
    expect(JSON.stringify(reply.text)).toContain('word');
  });

  test('a worker that shuts down leaves the call to another one', async () => {
    const head = await begin([[SLOW, OK]]);
    const info = effect();
    const environment = environmentOf(info);
    const running = environment.run(bed.activities().call_model, modelInput(head, STREAMED));
    await arriving(bed);
    const details = new ActivityCancellationDetails({ workerShutdown: true });
    environment.cancel('WORKER_SHUTDOWN', details);
    const failure = await failureFrom(running);
    expect(failure).toMatchObject({ type: 'Aborted', nonRetryable: false });
    const output = await attempt(bed.activities().call_model, modelInput(head), info);
    expect(output.reply).toMatchObject({ text: { text: 'Done.' } });
    expect(output.lostCostMicroUsd).toBeGreaterThan(0);
  });
});
