/** What the deliveries of one activity leave for the next: refusals are no attempts, work adds up. */
import { HoldfastError } from '../../core/state/errors.js';
import type {
  CallModelOutput,
  ExecuteToolInput,
  ExecuteToolOutput,
} from '../../core/state/effect.js';
import type { ScriptedAnswer } from '../../providers/scripted/script.js';
import type { Store } from '../../store/store.js';
import {
  effect,
  environmentOf,
  executeInput,
  failureFrom,
  modelInput,
  openedHead,
  startBed,
  type Bed,
  type EffectInfo,
} from './setup.js';
import { bedWith, call, FINANCIAL, KEYED_WRITE } from './tool-bed.js';

let bed: Bed;
afterEach(() => bed.end());

const AWAY = new HoldfastError('StoreUnavailable', 'The database cannot be reached.');

/** A store whose transactions fail as long as `isAway` says so. */
function shakyStore(store: Store, isAway: () => boolean): Store {
  const together: Store['together'] = (work, step) =>
    isAway() ? Promise.reject(AWAY) : store.together(work, step);
  return { ...store, together };
}

interface Delivery {
  readonly info?: EffectInfo;
  readonly attempt?: number;
  readonly heartbeatDetails?: unknown;
}

/** One delivery, with every heartbeat that it sent. */
function deliver<I, O>(
  activity: (input: I) => Promise<O>,
  input: I,
  { info = effect(), ...more }: Delivery = {},
) {
  const environment = environmentOf({ ...info, ...more });
  const beats: unknown[] = [];
  environment.on('heartbeat', (details) => beats.push(details));
  const done = environment.run<[I], O, (input: I) => Promise<O>>(activity, input);
  return { done, beats };
}

const started = (timeoutMs = 5_000): ExecuteToolInput => executeInput(call, { timeoutMs });

describe('a delivery that is refused before it reaches anything', () => {
  test('comes again later, claims nothing, and is no attempt', async () => {
    let runs = 0;
    bed = await bedWith(() => (runs += 1), FINANCIAL);
    let away = true;
    const { execute_tool } = bed.activities({ store: shakyStore(bed.store, () => away) });
    const info = effect();
    const first = deliver(execute_tool, started(), { info });
    const failure = await failureFrom(first.done);
    expect(failure).toMatchObject({ type: 'StoreUnavailable', nonRetryable: false });
    expect(failure.nextRetryDelay).toBeGreaterThan(0);
    expect(failure.details?.[0]).toMatchObject({ waitingSince: expect.any(Number) });
    const left = first.beats.at(-1);
    expect(left).toMatchObject({ workedMs: 0, refused: 1, waitingSince: expect.any(Number) });

    away = false;
    const again = deliver(execute_tool, started(), { info, attempt: 2, heartbeatDetails: left });
    expect((await again.done) as ExecuteToolOutput).toMatchObject({
      outcome: { kind: 'ok' },
      attempts: 1,
    });
    expect(runs).toBe(1);
  });

  test('waits longer the longer it has waited, up to a minute', async () => {
    bed = await bedWith(() => 'done', FINANCIAL);
    const { execute_tool } = bed.activities({ store: shakyStore(bed.store, () => true) });
    const delays: number[] = [];
    for (const waited of [0, 8_000, 3_600_000]) {
      const heartbeatDetails = {
        workedMs: 0,
        refused: 1,
        left: true,
        waitingSince: Date.now() - waited,
      };
      const { done } = deliver(execute_tool, started(), { attempt: 2, heartbeatDetails });
      delays.push(Number((await failureFrom(done)).nextRetryDelay));
    }
    const [soon, later, last] = delays;
    expect(soon).toBe(1_000);
    expect(later).toBeGreaterThanOrEqual(2_000);
    expect(later).toBeLessThan(60_000);
    expect(last).toBe(60_000);
  });

  test('leaves what it was told before untouched by anything that is no count', async () => {
    bed = await bedWith(() => 'done', FINANCIAL);
    const heartbeatDetails = { workedMs: 'x', refused: -3, claimed: 1.5, waitingSince: {} };
    const { execute_tool } = bed.activities();
    const { done } = deliver(execute_tool, started(), { attempt: 2, heartbeatDetails });
    expect((await done) as ExecuteToolOutput).toMatchObject({ outcome: { kind: 'ok' } });
  });
});

describe('a tool that changes something', () => {
  test('is called when the heartbeat says that it is claimed, not before', async () => {
    let seen: unknown;
    const beats: unknown[] = [];
    bed = await bedWith(() => (seen = beats.at(-1)), FINANCIAL);
    const environment = environmentOf(effect());
    environment.on('heartbeat', (details) => beats.push(details));
    await environment.run(bed.activities().execute_tool, started());
    expect(seen).toMatchObject({ claimed: 1 });
  });

  test('is not delivered again when the store fails behind the claim', async () => {
    let runs = 0;
    let away = false;
    bed = await bedWith(() => {
      runs += 1;
      away = true;
      throw new Error('the answer was lost');
    }, FINANCIAL);
    const { execute_tool } = bed.activities({ store: shakyStore(bed.store, () => away) });
    const { done } = deliver(execute_tool, started());
    const ended = await Promise.resolve(done).catch((error: unknown) => error);
    // Either the doubt is told as an outcome, or as a failure that nothing repeats.
    expect(ended).toMatchObject(
      ended instanceof Error ? { nonRetryable: true } : { outcome: { kind: 'ambiguous' } },
    );
    expect(runs).toBe(1);
  });

  test('under its own key is not started when its attempts have used up the time of the run', async () => {
    let runs = 0;
    bed = await bedWith(() => (runs += 1), KEYED_WRITE);
    const { execute_tool } = bed.activities();
    const input = { ...started(), workMs: 3_000 };
    const heartbeatDetails = { workedMs: 3_000, refused: 0, claimed: 1 };
    const { done } = deliver(execute_tool, input, { attempt: 2, heartbeatDetails });
    const failure = await failureFrom(done);
    expect(failure).toMatchObject({ nonRetryable: true });
    expect(failure.details?.[0]).toMatchObject({ timedOut: true, workedMs: expect.any(Number) });
    expect(runs).toBe(0);
  });
});

describe('work that takes its worker down', () => {
  test.each([
    ['before any of its heartbeats', undefined, 21],
    ['while it is at work', { workedMs: 0, refused: 0, tries: 19, workingAt: 1 }, 21],
    ['behind its claim', { workedMs: 0, refused: 0, tries: 19, claimed: 1 }, 21],
  ])('%s is given up after twenty times', async (_when, heartbeatDetails, attempt) => {
    let runs = 0;
    bed = await bedWith(() => (runs += 1), KEYED_WRITE);
    const { execute_tool } = bed.activities();
    const { done } = deliver(execute_tool, started(), { attempt, heartbeatDetails });
    const failure = await failureFrom(done);
    expect(failure).toMatchObject({ nonRetryable: true });
    expect(failure.message).toMatch('was lost with its worker, 20 times');
    expect(runs).toBe(0);
  });

  test('is tried on while it only waits for the store, however often', async () => {
    bed = await bedWith(() => 'done', KEYED_WRITE);
    const heartbeatDetails = { workedMs: 0, refused: 400, tries: 3, idleMs: 5_000 };
    const { execute_tool } = bed.activities();
    const { done } = deliver(execute_tool, started(), { attempt: 405, heartbeatDetails });
    expect((await done) as ExecuteToolOutput).toMatchObject({ outcome: { kind: 'ok' } });
  });
});

describe('a model call', () => {
  async function model(replies: readonly ScriptedAnswer[]) {
    bed = await startBed({ tools: [], replies });
    return openedHead(bed);
  }

  test('says how long it worked', async () => {
    const head = await model([{ text: 'Done.' }]);
    const { done } = deliver(bed.activities().call_model, modelInput(head));
    const { workedMs } = (await done) as CallModelOutput;
    expect(workedMs).toBeGreaterThan(0);
  });

  test('adds what attempts before it worked', async () => {
    const head = await model([{ text: 'Done.' }]);
    const heartbeatDetails = { workedMs: 7_000, refused: 2 };
    const { done } = deliver(bed.activities().call_model, modelInput(head), {
      attempt: 4,
      heartbeatDetails,
    });
    expect(((await done) as CallModelOutput).workedMs).toBeGreaterThanOrEqual(7_000);
  });

  test('is refused for good when its attempts have used up its time, and no request leaves', async () => {
    const head = await model([{ text: 'Done.' }]);
    const input = modelInput(head, { workMs: 5_000 });
    const heartbeatDetails = { workedMs: 5_000, refused: 0 };
    const { done } = deliver(bed.activities().call_model, input, { attempt: 2, heartbeatDetails });
    const failure = await failureFrom(done);
    expect(failure).toMatchObject({ type: 'NetworkTimeout', nonRetryable: true });
    expect(failure.details?.[0]).toMatchObject({ timedOut: true, lostCostMicroUsd: 0 });
    expect(bed.model.requests()).toEqual([]);
  });

  test('counts the pause that its vendor asks for as work', async () => {
    const head = await model([{ status: 429, headers: { 'retry-after': '5' } }]);
    const { done, beats } = deliver(bed.activities().call_model, modelInput(head));
    const failure = await failureFrom(done);
    expect(failure).toMatchObject({ nonRetryable: false, nextRetryDelay: 5_000 });
    expect((beats.at(-1) as { workedMs: number }).workedMs).toBeGreaterThanOrEqual(5_000);
  });

  test('ends at once when the pause that its vendor asks for is longer than what it has left', async () => {
    const head = await model([{ status: 429, headers: { 'retry-after': '5' } }]);
    const input = modelInput(head, { workMs: 4_000 });
    const failure = await failureFrom(deliver(bed.activities().call_model, input).done);
    expect(failure).toMatchObject({ type: 'RateLimited', nonRetryable: true });
    expect(failure.details?.[0]).toMatchObject({ timedOut: true });
  });
});
