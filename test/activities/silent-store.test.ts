/** A store that says nothing holds no attempt up: not one that the run wants no more, and none beyond its time. */
import { CancelledFailure } from '@temporalio/common';
import { HoldfastError } from '../../core/state/errors.js';
import { NO_USAGE } from '../../core/state/model.js';
import type { EventBody } from '../../core/state/event.js';
import type { Store } from '../../store/store.js';
import { eventsFrom, RESULT, SESSION_INIT } from '../store/fixtures.js';
import {
  attempt,
  effect,
  environmentOf,
  executeInput,
  failureFrom,
  openedHead,
  RUN,
  startBed,
  type Bed,
} from './setup.js';
import { bedWith, call, FINANCIAL } from './tool-bed.js';
import { until } from '../until.js';

let bed: Bed;
afterEach(() => bed.end());

/** Its transactions wait for `go`. */
function silentStore(store: Store) {
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  let asked = (): void => undefined;
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  const together: Store['together'] = async (work, step) => {
    asked();
    await held;
    return store.together(work, step);
  };
  return { store: { ...store, together }, isAsked, go: () => go() };
}

test('a cancelled attempt ends although the store is silent, and does nothing when the store is back', async () => {
  let runs = 0;
  bed = await bedWith(() => (runs += 1), FINANCIAL);
  const silent = silentStore(bed.store);
  const { execute_tool } = bed.activities({ store: silent.store });
  const environment = environmentOf(effect());
  const done = environment.run(execute_tool, executeInput(call, { timeoutMs: 5_000 }));
  await silent.isAsked;
  environment.cancel();
  await expect(done).rejects.toBeInstanceOf(CancelledFailure);
  silent.go();
  // The claim was given back.
  await until(async () => (await bed.store.getLedgerRow(RUN.tenant, call.key))?.state === 'void');
  expect(runs).toBe(0);
});

test('an attempt is refused before its time runs out, so that the run is told what it waits for', async () => {
  bed = await startBed();
  const silent = silentStore(bed.store);
  const info = { ...effect(), startToCloseTimeoutMs: 400 };
  const head = await openedHead(bed);
  const { close_run } = bed.activities({ store: silent.store });
  const closing = { v: 1, run: RUN, head, append: [], events: [] } as const;
  const failed = await failureFrom(environmentOf(info).run(close_run, closing));
  expect(failed).toMatchObject({ type: 'StoreUnavailable', nonRetryable: false });
  expect(failed.details?.[0]).toMatchObject({ waitingSince: expect.any(Number) });
  silent.go();
});

describe('a conversation that the store has lost', () => {
  const MINUTE = 60_000;
  const closing = (status: 'cancelled' | 'completed') => {
    const result = { ...RESULT, runId: RUN.runId, status, usage: NO_USAGE };
    const ended: EventBody = { type: 'run_result', result };
    return {
      v: 1 as const,
      run: RUN,
      head: 'f'.repeat(64),
      append: [{ kind: 'user' as const, messageId: 'run_1:m1', content: { text: 'bye' } }],
      events: eventsFrom(0, [ended]),
    };
  };
  const since = (ms: number) => ({
    ...effect(),
    attempt: 2,
    heartbeatDetails: {
      workedMs: 0,
      refused: 1,
      tries: 0,
      left: true,
      lacks: 'transcript',
      lacksSince: Date.now() - ms,
    },
  });

  test('is waited for, at first', async () => {
    bed = await startBed();
    const failed = await failureFrom(
      environmentOf(since(9 * MINUTE)).run(bed.activities().close_run, closing('cancelled')),
    );
    expect(failed).toMatchObject({ type: 'TranscriptMissing', nonRetryable: false });
    expect(await bed.store.getRun(RUN.tenant, RUN.runId)).toBeUndefined();
  });

  test.each([
    ['cancelled', 11 * MINUTE],
    ['completed', 25 * 60 * MINUTE],
  ] as const)(
    'keeps a %s run open no longer than that: its events are stored',
    async (status, ms) => {
      bed = await startBed();
      const closed = await attempt(bed.activities().close_run, closing(status), since(ms));
      expect(closed).toEqual({ head: 'f'.repeat(64), eventsUpTo: 1, transcript: 'incomplete' });
      expect(await bed.store.getRun(RUN.tenant, RUN.runId)).toMatchObject({ status });
    },
  );

  test('is not waited for by a cancelled run where an older copy has taken the place of the store', async () => {
    bed = await startBed();
    await bed.store.raiseEpoch({ at: Date.now(), by: 'mia', reason: 'the disk broke' });
    const work = () => bed.activities().close_run;
    const waiting = environmentOf(since(9 * MINUTE)).run(work(), closing('completed'));
    expect(await failureFrom(waiting)).toMatchObject({ type: 'TranscriptMissing' });
    const closed = await attempt(work(), closing('cancelled'));
    expect(closed).toMatchObject({ eventsUpTo: 1, transcript: 'incomplete' });
    expect(await bed.store.getRun(RUN.tenant, RUN.runId)).toMatchObject({ status: 'cancelled' });
  });

  test('is waited for by a cancelled run that began behind that older copy', async () => {
    bed = await startBed();
    await bed.store.raiseEpoch({ at: Date.now() - MINUTE, by: 'mia', reason: 'the disk broke' });
    const source = { tenant: RUN.tenant, runId: RUN.runId, execution: 'e' };
    await bed.store.appendEvents(source, eventsFrom(0, [SESSION_INIT], Date.now()));
    const closing1 = {
      ...closing('cancelled'),
      events: eventsFrom(1, [closing('cancelled').events[0]!]),
    };
    const work = environmentOf(since(9 * MINUTE)).run(bed.activities().close_run, closing1);
    expect(await failureFrom(work)).toMatchObject({ type: 'TranscriptMissing' });
  });

  test('keeps a cancelled run open no longer where its result was brought before its end', async () => {
    bed = await startBed();
    const { events, ...rest } = closing('cancelled');
    const source = { tenant: RUN.tenant, runId: RUN.runId, execution: 'e' };
    await bed.store.appendEvents(source, events);
    const input = { ...rest, events: [] };
    const closed = await attempt(bed.activities().close_run, input, since(11 * MINUTE));
    expect(closed).toMatchObject({ transcript: 'incomplete' });
  });

  test('keeps a run that nobody cancelled open for a day', async () => {
    bed = await startBed();
    const work = environmentOf(since(60 * MINUTE)).run(
      bed.activities().close_run,
      closing('completed'),
    );
    expect(await failureFrom(work)).toMatchObject({ type: 'TranscriptMissing' });
  });
});

test('a store that is away for long is no transcript that is missing for long', async () => {
  bed = await startBed();
  const away = new HoldfastError('StoreUnavailable', 'away');
  const store: Store = { ...bed.store, together: () => Promise.reject(away) };
  const missing = { lacks: 'transcript', lacksSince: 1 };
  const heartbeatDetails = { workedMs: 0, refused: 1, tries: 0, left: true, ...missing };
  const info = { ...effect(), heartbeatDetails };
  const environment = environmentOf(info);
  const beats: unknown[] = [];
  environment.on('heartbeat', (details) => beats.push(details));
  const closing = { v: 1, run: RUN, head: null, append: [], events: [] } as const;
  await failureFrom(environment.run(bed.activities({ store }).close_run, closing));
  expect(beats.at(-1)).not.toHaveProperty('lacks');
});
