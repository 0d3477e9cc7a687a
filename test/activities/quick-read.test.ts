/** A quick read always ends with an outcome, in its time, and writes nothing but what no history takes. */
import { ToolError } from '../../authoring/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { ExecuteToolInput } from '../../core/state/effect.js';
import { effect, RUN, sessionEvent } from './setup.js';
import { bedWith, call, execute, interrupted, type ToolBed } from './tool-bed.js';

const quickFor = (ms: number) => ({ quick: { effectId: 'execute_tool-3', ms } });
/** Long enough for a busy machine. */
const QUICK = quickFor(30_000);

let bed: ToolBed;
afterEach(() => bed.end());

const quickly = (changes: Partial<ExecuteToolInput> = {}) =>
  execute(bed, effect(), { ...QUICK, ...changes });
const never = () => new Promise<never>(() => undefined);

test('its outcome names effect and call, and a digest of all that it was given', async () => {
  bed = await bedWith(() => 'read');
  const events = [sessionEvent()];
  const output = await quickly({ events });
  expect(output).toMatchObject({
    outcome: { kind: 'ok', content: { text: 'read' } },
    attempts: 1,
    eventsUpTo: sessionEvent().stamp.seq,
    quick: {
      effectId: 'execute_tool-3',
      call: { callId: call.callId, tool: 'it', args: call.args },
      input: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  });
  const other = await quickly({ events, timeoutMs: 1_234 });
  expect(other.quick!.input).not.toBe(output.quick!.input);
  expect((await bed.store.readEvents(RUN, { sinceSeq: 0, limit: 9 })).events).toEqual([]);
});

test('a large result is in the store', async () => {
  bed = await bedWith(() => 'x'.repeat(3_000_000));
  const { outcome } = await quickly();
  expect(outcome).toMatchObject({ kind: 'ok', content: { bytes: 3_000_000 } });
});

test('one that does not answer in time is left to an ordinary activity', async () => {
  const MS = 1_000;
  let signal: AbortSignal | undefined;
  bed = await bedWith((_, ctx) => {
    ({ signal } = ctx);
    return never();
  });
  const { outcome, durationMs } = await quickly(quickFor(MS));
  expect(outcome).toEqual({ kind: 'elsewhere', reason: 'timeout' });
  expect(durationMs).toBeGreaterThanOrEqual(MS / 2);
  expect(signal!.aborted).toBe(true);
});

test('a failure that is retried is left to it as long as there are retries', async () => {
  bed = await bedWith(() => {
    throw new Error('connection reset');
  });
  expect((await quickly({ maxRetries: 1 })).outcome).toEqual({
    kind: 'elsewhere',
    reason: 'failed',
  });
  expect((await quickly({ maxRetries: 0 })).outcome).toEqual({
    kind: 'error',
    code: 'execution_error',
    message: 'connection reset',
  });
});

test('the time limit of a tool that is shorter is a failure of the tool', async () => {
  bed = await bedWith(never);
  const late = await quickly({ timeoutMs: 20, maxRetries: 0 });
  expect(late.outcome).toMatchObject({ kind: 'error', code: 'timeout' });
});

test('what a tool says of itself is an answer', async () => {
  bed = await bedWith(() => {
    throw new ToolError('not_found', 'There is no such order.');
  });
  expect((await quickly()).outcome).toMatchObject({ kind: 'error' });
});

test.each([
  ['StoreUnavailable', 'store'],
  ['WrongStore', 'store'],
  ['NotServed', 'unserved'],
] as const)('%s is no answer', async (code, reason) => {
  bed = await bedWith(() => 'read');
  const store = {
    ...bed.store,
    restoreArguments: () => Promise.reject(new HoldfastError(code, 'Not here.')),
  };
  const environment = bed.activities({ store });
  const output = await execute({ ...bed, activities: () => environment }, effect(), QUICK);
  expect(output.outcome).toEqual({ kind: 'elsewhere', reason });
  expect(output.attempts).toBe(0);
});

test('a worker that shuts down leaves it to another one', async () => {
  bed = await bedWith(
    (_, { signal }) =>
      new Promise((_done, fail) => {
        signal.addEventListener('abort', () => fail(new Error('stopped')));
      }),
  );
  const details = { workerShutdown: true } as never;
  const { outcome } = await interrupted(bed, details, QUICK);
  expect(outcome).toEqual({ kind: 'elsewhere', reason: 'stopping' });
});
