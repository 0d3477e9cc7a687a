import { ActivityCancellationDetails } from '@temporalio/common';
import { z } from 'zod';
import { MACHINE_TIMERS, type Timers } from '../../activities/timers.js';
import { defineTool, type ToolContext } from '../../authoring/index.js';
import type { ReconcileToolOutput, RecordOutcomeInput } from '../../core/state/effect.js';
import type { OnLost } from '../../core/state/tool.js';
import {
  attempt,
  callOf,
  effect,
  environmentOf,
  executeInput,
  failureFrom,
  openedHead,
  RUN,
  sessionEvent,
  startBed,
  type Bed,
} from './setup.js';

const call = callOf('pay', { a: 1 });
const target = { tenant: 'default', key: call.key, argsDigest: call.digest, attempt: 1 };
const subject = { runId: RUN.runId, callKey: '1', tool: 'pay' };

let bed: Bed;
afterEach(() => bed.end());

async function withProbe(
  probe?: (input: object, ctx: ToolContext) => unknown,
  output?: z.ZodType,
  more: { readonly onLost?: OnLost } = {},
): Promise<void> {
  const pay = defineTool({
    name: 'pay',
    version: '1',
    effect: 'financial',
    idempotency: 'keyed',
    input: z.looseObject({}),
    run: () => 'paid',
    ...(probe && { probe }),
    ...(output && { output }),
    ...more,
  });
  bed = await startBed({ tools: [pay] });
}

const claim = (claimedUntil: number) =>
  bed.store.claim({ ...target, ...subject, claimedUntil, sameKeyRetry: false });

const input = {
  v: 1,
  run: RUN,
  call,
  inlineBytesMax: 4_096,
  timeoutMs: 500,
  events: [sessionEvent()],
} as const;

const findingOf = async () => (await attempt(bed.activities().reconcile_tool, input)).finding;

const CLAIMED_MS = 60_000;

/** A claim lasts until `onWait` ends it, which is told that it is waited for. */
function whileClaimed(onWait: (end: () => void) => void): Timers {
  return {
    after(ms, then) {
      if (ms < CLAIMED_MS / 2) return MACHINE_TIMERS.after(ms, then);
      setImmediate(onWait, then);
      return () => undefined;
    },
  };
}

describe('reconcile_tool', () => {
  test('what nobody claimed did not happen, and never will under this attempt', async () => {
    await withProbe();
    expect(await findingOf()).toEqual({ kind: 'not_happened' });
    const zombie = await attempt(bed.activities().execute_tool, executeInput(call));
    expect(zombie.outcome.kind).toBe('ambiguous');
  });

  test('a recorded result is what happened', async () => {
    await withProbe();
    await attempt(bed.activities().execute_tool, executeInput(call));
    expect(await findingOf()).toEqual({
      kind: 'happened',
      source: 'tool',
      content: { text: 'paid' },
    });
  });

  test('waits for a claimant that may still be running, and takes its result', async () => {
    await withProbe();
    await claim(Date.now() + CLAIMED_MS);
    const timers = whileClaimed((end) => {
      void bed.store.record({ ...target, result: { text: 'slow' }, source: 'tool' }).then(end);
    });
    const { finding } = await attempt(bed.activities({ timers }).reconcile_tool, input);
    expect(finding).toMatchObject({ kind: 'happened', content: { text: 'slow' } });
  });

  test('a result that does not fit its schema is malformed, whoever finds it', async () => {
    await withProbe(() => ({ receipt: 'x' }), z.object({ receipt: z.number() }));
    await claim(1);
    const malformed = {
      kind: 'happened',
      source: 'probe',
      content: { text: '{"receipt":"x"}' },
      malformed: expect.stringMatching(/took effect .* does not fit its output schema/s),
    };
    expect(await findingOf()).toEqual(malformed);
    expect(await findingOf()).toEqual(malformed);
  });

  test('burns the claim before the tool is asked whether it happened', async () => {
    const states: unknown[] = [];
    await withProbe(async (_input, ctx) => {
      states.push((await bed.store.getLedgerRow('default', ctx.idempotencyKey))?.state);
      return { receipt: 7 };
    });
    await claim(1);
    expect(await findingOf()).toEqual({
      kind: 'happened',
      source: 'probe',
      content: { text: '{"receipt":7}' },
    });
    expect(states).toEqual(['void']);
    expect(await bed.store.getLedgerRow('default', call.key)).toMatchObject({
      state: 'recorded',
      source: 'probe',
    });
    expect(await findingOf()).toMatchObject({ kind: 'happened', source: 'probe' });
  });

  test.each([undefined, null])(
    'a probe that gives %s says that nothing happened',
    async (value) => {
      await withProbe(() => value);
      await claim(1);
      expect(await findingOf()).toEqual({ kind: 'not_happened' });
    },
  );

  test.each<[string, (() => unknown) | undefined, RegExp]>([
    ['no probe', undefined, /cannot tell/],
    ['a probe that fails for the third time', () => Promise.reject(new Error('503')), /503/],
    ['a probe that never answers', () => new Promise(() => undefined), /within 500 ms/],
  ])('%s leaves it unknown', async (_what, probe, message) => {
    await withProbe(probe);
    await claim(1);
    const third = { ...effect(), attempt: 3 };
    const { finding } = await attempt(bed.activities().reconcile_tool, input, third);
    expect(finding.kind).toBe('unknown');
    expect((finding as { message: string }).message).toMatch(message);
  });

  test('a key that belongs to other arguments says that nothing was started under these', async () => {
    await withProbe();
    await bed.store.claim({
      ...target,
      ...subject,
      argsDigest: 'other',
      claimedUntil: 1,
      sameKeyRetry: false,
    });
    await bed.store.record({
      ...target,
      argsDigest: 'other',
      result: { text: 'x' },
      source: 'tool',
    });
    expect(await findingOf()).toEqual({ kind: 'not_happened' });
  });

  test('a probe that fails is asked again before a person is', async () => {
    let fails = true;
    await withProbe(() => {
      if (fails) throw new Error('503');
      return 'found';
    });
    await claim(1);
    const failed = await failureFrom(attempt(bed.activities().reconcile_tool, input));
    expect(failed).toMatchObject({ type: 'ToolRetryable', nonRetryable: false });
    fails = false;
    expect(await findingOf()).toMatchObject({ kind: 'happened', source: 'probe' });
  });

  test('a shutdown of the worker leaves the finding out to another one', async () => {
    await withProbe();
    await claim(Date.now() + CLAIMED_MS);
    const environment = environmentOf(effect());
    const shutdown = new ActivityCancellationDetails({ workerShutdown: true });
    const timers = whileClaimed(() => environment.cancel(undefined, shutdown));
    const cutOff = environment.run(bed.activities({ timers }).reconcile_tool, input);
    expect(await failureFrom(cutOff)).toMatchObject({
      type: 'Aborted',
      nonRetryable: false,
    });
  });

  test('a key that another run holds is neither burned nor believed', async () => {
    await withProbe(() => 'found');
    const other = { ...subject, runId: 'run_2' };
    await bed.store.claim({ ...target, ...other, claimedUntil: 1, sameKeyRetry: false });
    expect(await findingOf()).toEqual({ kind: 'not_happened' });
    expect(await bed.store.getLedgerRow('default', call.key)).toMatchObject({
      runId: 'run_2',
      state: 'claimed',
    });
  });

  test('an interrupt ends the waiting without an answer', async () => {
    await withProbe();
    await claim(Date.now() + CLAIMED_MS);
    const environment = environmentOf(effect());
    const timers = whileClaimed(() => environment.cancel());
    const { finding } = (await environment.run(
      bed.activities({ timers }).reconcile_tool,
      input,
    )) as ReconcileToolOutput;
    expect(finding.kind).toBe('unknown');
  });
});

describe('reconcile_tool tells its steps', () => {
  const stepsOf = async (info = effect()) =>
    (await attempt(bed.activities().reconcile_tool, input, info)).steps;
  const LOST = { step: 'attempt_lost', attempt: 1, claimed: true };
  const BURNED = { step: 'claim_burned', durationMs: expect.any(Number) };

  test('a claim that was taken away, and what the probe said', async () => {
    await withProbe(() => ({ receipt: 7 }));
    await claim(1);
    const told = { step: 'probe_told', answer: 'happened', durationMs: expect.any(Number) };
    expect(await stepsOf()).toEqual([LOST, BURNED, told]);
  });

  test('the same after the worker that took it away has died', async () => {
    await withProbe(() => null);
    await claim(1);
    await stepsOf();
    expect(await stepsOf()).toMatchObject([
      LOST,
      BURNED,
      { step: 'probe_told', answer: 'not_happened' },
    ]);
  });

  test('how long a claim was waited for', async () => {
    await withProbe(() => null);
    await claim(CLAIMED_MS);
    let at = 1;
    const timers = whileClaimed((end) => {
      at = CLAIMED_MS;
      end();
    });
    const { reconcile_tool } = bed.activities({ timers, clock: () => at });
    const { steps } = await attempt(reconcile_tool, input);
    expect(steps![1]).toEqual({ step: 'claim_burned', durationMs: CLAIMED_MS - 1 });
  });

  test('a tool without a probe leaves nobody to tell', async () => {
    await withProbe();
    await claim(1);
    const nobody = { step: 'nobody_told', answer: 'unknown', message: /cannot tell/ };
    expect((await stepsOf())!.at(-1)).toMatchObject({
      ...nobody,
      message: expect.stringMatching(nobody.message),
    });
  });

  test('a probe that fails for good is quoted, and not at length', async () => {
    await withProbe(() => Promise.reject(new Error('503 '.repeat(1_000))));
    await claim(1);
    const last = (await stepsOf({ ...effect(), attempt: 3 }))!.at(-1)!;
    expect(last).toMatchObject({ step: 'probe_told', answer: 'unknown' });
    expect(last.message!.length).toBeLessThanOrEqual(200);
  });

  test('the ledger may know it', async () => {
    await withProbe();
    expect(await stepsOf()).toMatchObject([
      { ...LOST, claimed: false },
      BURNED,
      { step: 'ledger_told', answer: 'not_happened' },
    ]);
    await bed.end();
    await withProbe();
    await attempt(bed.activities().execute_tool, executeInput(call));
    expect(await stepsOf()).toMatchObject([LOST, { step: 'ledger_told', answer: 'happened' }]);
  });

  test('a repetition is named', async () => {
    await withProbe(undefined, undefined, { onLost: 'repeat_with_key' });
    await claim(1);
    expect(await stepsOf()).toMatchObject([LOST, BURNED, { step: 'repetition_due' }]);
  });
});

describe('reconcile_tool of a tool that repeats with its key', () => {
  const REPEATS = { onLost: 'repeat_with_key' } as const;
  const findingFor = async (attemptNumber: number, inDoubt?: true) => {
    const again = { ...call, attempt: attemptNumber, ...(inDoubt && { inDoubt }) };
    return (await attempt(bed.activities().reconcile_tool, { ...input, call: again })).finding;
  };

  test('says so after the attempt is burned, and claims nothing about what happened', async () => {
    await withProbe(undefined, undefined, REPEATS);
    await claim(1);
    expect(await findingFor(1)).toEqual({ kind: 'repeat' });
    expect(await bed.store.getLedgerRow('default', call.key)).toMatchObject({
      state: 'void',
      wasClaimed: true,
    });
    expect(await findingFor(1)).toEqual({ kind: 'repeat' });
  });

  test('waits for a claimant that may still be running', async () => {
    await withProbe(undefined, undefined, REPEATS);
    const claimedUntil = Date.now() + 300;
    await claim(claimedUntil);
    expect(await findingFor(1)).toEqual({ kind: 'repeat' });
    expect(Date.now()).toBeGreaterThanOrEqual(claimedUntil - 50);
  });

  test('an attempt that never began says nothing of the one before it', async () => {
    await withProbe(undefined, undefined, REPEATS);
    await claim(1);
    await findingFor(1);
    expect(await findingFor(2, true)).toEqual({ kind: 'repeat' });
    expect(await findingFor(3)).toEqual({ kind: 'not_happened' });
  });

  test('its probe is not asked', async () => {
    const probe = jest.fn(() => 'found');
    await withProbe(probe, undefined, REPEATS);
    await claim(1);
    expect(await findingFor(1)).toEqual({ kind: 'repeat' });
    expect(probe).not.toHaveBeenCalled();
  });

  test('a tool that says that a person is asked has its probe left alone', async () => {
    const probe = jest.fn(() => 'found');
    await withProbe(probe, undefined, { onLost: 'ask' });
    await claim(1);
    expect(await findingFor(1)).toMatchObject({ kind: 'unknown' });
    expect(probe).not.toHaveBeenCalled();
  });
});

describe('record_outcome', () => {
  const told = (changes: Partial<RecordOutcomeInput>): RecordOutcomeInput => ({
    v: 1,
    run: RUN,
    call,
    answer: 'happened',
    by: ['ada'],
    events: [],
    ...changes,
  });
  const record = (changes: Partial<RecordOutcomeInput> = {}) =>
    attempt(bed.activities().record_outcome, told(changes));

  test('what a person gives as the result is held against the output schema of the tool', async () => {
    await withProbe(undefined, z.object({ refund: z.string() }));
    await claim(1);
    const unfit = told({ value: { refund: 7 } });
    const first = await attempt(bed.activities().record_outcome, unfit);
    expect(first.finding).toMatchObject({
      kind: 'happened',
      source: 'person',
      content: { text: '{"refund":7}' },
      malformed: expect.stringMatching(/^The call took effect.*output schema.*refund/s),
    });
    const row = await bed.store.getLedgerRow('default', call.key);
    expect(row).toMatchObject({ state: 'recorded', result: { malformed: expect.any(String) } });
    // Delivered once more it says the same; what fits, and no result at all, needs no finding.
    const second = await attempt(bed.activities().record_outcome, unfit);
    expect(second.finding).toEqual(first.finding);
    for (const fitting of [{ value: { refund: 'r1' } }, {}]) {
      expect(await attempt(bed.activities().record_outcome, told(fitting))).not.toHaveProperty(
        'finding',
      );
    }
  });

  test('"happened" is recorded with its value, however often it is delivered', async () => {
    await withProbe();
    await claim(1);
    await record({ value: { receipt: 7 } });
    await record({ value: { receipt: 7 } });
    expect(await bed.store.getLedgerRow('default', call.key)).toMatchObject({
      state: 'recorded',
      source: 'person',
      result: { text: '{"receipt":7}' },
    });
  });

  test('says whose word it was, and that the attempt is taken away', async () => {
    await withProbe();
    await claim(1);
    const by = ['ada', 'x'.repeat(500), ...Array.from({ length: 50 }, (_, n) => `p${n}`)];
    const { steps } = await record({ by });
    expect(steps).toMatchObject([
      { step: 'person_told', answer: 'happened' },
      { step: 'claim_burned', durationMs: expect.any(Number) },
      { step: 'outcome_recorded', durationMs: expect.any(Number) },
    ]);
    expect(steps![0]!.by!.length).toBeLessThanOrEqual(10);
    expect(steps![0]!.by![0]).toBe('ada');
    expect(steps![0]!.by![1]!.length).toBeLessThanOrEqual(200);
  });

  test('"did not happen" takes the attempt from whoever still wants it', async () => {
    await withProbe();
    await record({ answer: 'not_happened' });
    const zombie = await attempt(bed.activities().execute_tool, executeInput(call));
    expect(zombie.outcome.kind).toBe('ambiguous');
    const next = executeInput({ ...call, attempt: 2 });
    expect((await attempt(bed.activities().execute_tool, next)).outcome.kind).toBe('ok');
  });

  test('an answer for a key of another call is refused', async () => {
    await withProbe();
    await bed.store.burn({ ...target, ...subject, argsDigest: 'other' });
    expect(await failureFrom(record())).toMatchObject({ type: 'KeyConflict', nonRetryable: true });
  });
});

describe('flush and close_run', () => {
  test('flush stores events and says up to where', async () => {
    await withProbe();
    const events = [sessionEvent(0), sessionEvent(1)];
    const flushed = await attempt(bed.activities().flush, { v: 1, run: RUN, events });
    expect(flushed).toEqual({ eventsUpTo: 2 });
  });

  test('close_run appends what was said last', async () => {
    await withProbe();
    const head = await openedHead(bed);
    const closed = await attempt(bed.activities().close_run, {
      v: 1,
      run: RUN,
      head,
      append: [{ kind: 'user', messageId: 'run_1:m9', content: { text: 'bye' }, synthetic: true }],
      events: [],
    });
    const chain = await bed.store.readChain('default', closed.head ?? '');
    expect(chain.at(-1)).toMatchObject({ messageId: 'run_1:m9', flags: ['synthetic'] });
  });

  test('close_run of a run that never opened has no transcript', async () => {
    await withProbe();
    const closed = await attempt(bed.activities().close_run, {
      v: 1,
      run: RUN,
      head: null,
      append: [],
      events: [],
    });
    expect(closed.head).toBeNull();
  });
});
