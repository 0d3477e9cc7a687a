/** What a model call passes on while it runs, and what it does not wait for. */
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { join } from 'node:path';
import { z } from 'zod';
import { defineTool } from '../../authoring/index.js';
import type { CallModelInput, CallModelOutput } from '../../core/state/effect.js';
import type { Provider } from '../../providers/provider.js';
import type { ScriptedAnswer } from '../../providers/scripted/script.js';
import {
  attempt,
  effect,
  environmentOf,
  failureFrom,
  modelInput,
  openedHead,
  RUN,
  startBed,
  type Bed,
} from './setup.js';
import { arriving } from './slow-reply.js';
import { until } from '../until.js';

const SLOWLY = { chunks: 6, chunkDelayMs: 20 };
const TEXT = 'One two three four five six.';
const STREAM = { keepMs: 60_000 };
const BEGINNING = { fence: 1, index: 0 };

let bed: Bed;
afterEach(() => bed.end());

async function asking(
  replies: readonly ScriptedAnswer[],
  changes: Partial<CallModelInput> = {},
): Promise<CallModelInput> {
  bed = await startBed({ replies });
  return modelInput(await openedHead(bed), { stream: STREAM, ...changes });
}

async function told(): Promise<readonly string[]> {
  const { batches } = await bed.store.readStream(RUN, BEGINNING);
  return batches.flatMap(({ attempt: number, entries }) =>
    entries.map((entry) => {
      if (entry.kind === 'delta') return entry.delta.text;
      const reason = entry.kind === 'attempt_reset' ? ` ${entry.reason}` : '';
      return `[${number} ${entry.kind}${reason}]`;
    }),
  );
}

test('a reply is in the stream when it is in the store: every piece once, with its beginning and end', async () => {
  const input = await asking([{ text: TEXT, ...SLOWLY }]);
  await attempt(bed.activities().call_model, input);
  const entries = await told();
  expect(entries).toHaveLength(8);
  expect(entries.join('')).toBe(`[1 attempt_started]${TEXT}[1 attempt_ended]`);
});

test('nothing is kept of a call that nobody asked to stream', async () => {
  const { stream: _, ...input } = await asking([{ text: TEXT, ...SLOWLY }]);
  await attempt(bed.activities().call_model, input);
  expect(await bed.store.readStream(RUN, BEGINNING)).toEqual({
    batches: [],
    more: false,
    closed: false,
  });
});

test('readers in this process hear of a piece before the reply is there', async () => {
  const input = await asking([{ text: TEXT, ...SLOWLY }]);
  const watch = bed.store.live.watch(RUN);
  const asked = attempt(bed.activities().call_model, input);
  await watch.wait(5_000);
  const heard = [...watch.take()];
  expect(heard[0]?.entries).toEqual([{ kind: 'attempt_started', eventsBefore: 0 }]);
  await watch.wait(5_000);
  const now = Promise.resolve('still asking');
  expect(await Promise.race([asked, now])).toBe('still asking');
  await asked;
  heard.push(...watch.take());
  expect(heard.at(-1)?.entries).toEqual([{ kind: 'attempt_ended' }]);
  watch.stop();
});

test('an attempt that fails is reset with its reason, and the next begins anew', async () => {
  const cut = { text: TEXT, ...SLOWLY, cutAfterChunks: 4 };
  const input = await asking([[cut, { text: TEXT, ...SLOWLY }]]);
  const info = effect();
  await failureFrom(attempt(bed.activities().call_model, input, info));
  await attempt(bed.activities().call_model, input, info);
  const story = (await told()).join('');
  expect(story).toMatch(
    /^\[1 attempt_started\]One .+\[1 attempt_reset NetworkTimeout\]\[2 attempt_started\]/,
  );
  expect(story.endsWith(`${TEXT}[2 attempt_ended]`)).toBe(true);
});

test('a reply that was kept is not streamed again', async () => {
  const input = await asking([{ text: TEXT, ...SLOWLY }]);
  await attempt(bed.activities().call_model, input);
  const before = await told();
  await attempt(bed.activities().call_model, input);
  expect(await told()).toEqual(before);
  expect(bed.model.requests()).toHaveLength(1);
});

test('an interrupted reply ends with what had arrived', async () => {
  const input = await asking([{ text: TEXT, chunks: 6, chunkDelayMs: 200 }]);
  const environment = environmentOf(effect());
  const asked = environment.run<
    [CallModelInput],
    CallModelOutput,
    (input: CallModelInput) => Promise<CallModelOutput>
  >(bed.activities().call_model, input);
  await arriving(bed);
  environment.cancel('CANCELLED', { cancelRequested: true } as never);
  const output = await asked;
  const { batches } = await bed.store.readStream(RUN, BEGINNING);
  const last = batches.at(-1)?.entries.at(-1);
  expect(output.reply.partial).toBe(true);
  expect(last).toEqual({ kind: 'attempt_ended', partial: true });
});

test('an attempt that was replaced says no more; its reply counts all the same', async () => {
  const input = await asking([{ text: TEXT, chunks: 6, chunkDelayMs: 300 }]);
  const asked = attempt(bed.activities().call_model, input);
  await until(async () => (await told()).length >= 2);
  // Another worker has taken it for dead.
  await bed.store.openStream({
    ...RUN,
    call: 1,
    attempt: 2,
    messageId: 'run_1:m1',
    eventsBefore: 0,
    keepMs: 60_000,
    at: 1,
  });
  const before = await told();
  await asked;
  expect(await told()).toEqual(before);
  expect(before.slice(-2)).toEqual(['[1 attempt_reset WorkerLost]', '[2 attempt_started]']);
});

test('tools have the names that the run knows them by', async () => {
  const look = defineTool({
    name: 'orders.look',
    version: '1',
    effect: 'read',
    input: z.object({ order: z.number() }),
    run: () => 'there',
  });
  const calls = [{ tool: 'orders.look', input: { order: 1 } }];
  bed = await startBed({ tools: [look], replies: [{ calls, chunks: 2 }] });
  const input = modelInput(await openedHead(bed), { stream: STREAM });
  await attempt(bed.activities().call_model, input);
  const { batches } = await bed.store.readStream(RUN, BEGINNING);
  const tools = batches.flatMap(({ entries }) =>
    entries.flatMap((entry) =>
      entry.kind === 'delta' && 'tool' in entry.delta ? [entry.delta.tool] : [],
    ),
  );
  expect(tools).toEqual(['orders.look']);
});

test('a provider that shows nothing while it works has its reply shown whole', async () => {
  const input = await asking([]);
  const silent: Provider = {
    name: 'anthropic',
    complete: () =>
      Promise.resolve({
        blocks: [
          { type: 'text', text: TEXT },
          { type: 'tool_use', id: 'c1', tool: 'look', args: { order: 1 } },
        ],
        raw: [],
        stop: 'tool_use',
        usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
        usageSource: 'reported',
        model: 'm',
        incompleteCalls: 0,
      }),
  };
  const providers = new Map([['anthropic', silent]]);
  await attempt(bed.activities({ providers }).call_model, input);
  expect(await told()).toEqual(['[1 attempt_started]', TEXT, '{"order":1}', '[1 attempt_ended]']);
});

test('what is no piece of a reply is dropped, and disturbs no provider', async () => {
  const input = await asking([]);
  const odd = [
    null,
    undefined,
    'text',
    {},
    { type: 'picture', block: 0, text: '' },
    { type: 'text' },
  ];
  const careless: Provider = {
    name: 'anthropic',
    async complete(_request, { onDelta }) {
      for (const delta of odd) onDelta?.(delta as never);
      onDelta?.({ type: 'tool_use', block: 0, text: '', id: 7 } as never);
      onDelta?.({ type: 'text', block: 0, text: TEXT });
      return {
        blocks: [{ type: 'text', text: TEXT }],
        raw: [],
        stop: 'end_turn',
        usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
        usageSource: 'reported',
        model: 'm',
        incompleteCalls: 0,
      };
    },
  };
  const providers = new Map([['anthropic', careless]]);
  await attempt(bed.activities({ providers }).call_model, input);
  expect(await told()).toEqual(['[1 attempt_started]', TEXT, '[1 attempt_ended]']);
});

test('the model is not held up by a store that nobody can write to', async () => {
  const pieces = 40;
  const input = await asking([]);
  const gaps: number[] = [];
  let locked: Database.Database | undefined;
  const steady: Provider = {
    name: 'anthropic',
    async complete(_request, { onDelta }) {
      locked = new Database(join(bed.folder, 'store.db'));
      locked.exec('begin immediate');
      for (let piece = 0; piece < pieces; piece += 1) {
        const began = performance.now();
        onDelta?.({ type: 'text', block: 0, text: `${piece} ` });
        gaps.push(performance.now() - began);
        await sleep(5);
      }
      locked.exec('rollback');
      locked.close();
      return {
        blocks: [{ type: 'text', text: 'counted' }],
        raw: [],
        stop: 'end_turn',
        usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
        usageSource: 'reported',
        model: 'm',
        incompleteCalls: 0,
      };
    },
  };
  const providers = new Map([['anthropic', steady]]);
  await attempt(bed.activities({ providers }).call_model, input);
  // A write that waits for the lock holds up this thread for three seconds.
  expect(Math.max(...gaps)).toBeLessThan(2_500);
  expect(await told()).toHaveLength(pieces + 2);
});
