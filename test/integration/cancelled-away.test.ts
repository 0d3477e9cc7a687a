/** People stop runs while the store is away: the run stops at once and says so, and its record comes with the store. */
import { HoldfastError } from '../../core/state/errors.js';
import type { RunHandle } from '../../client/runs/run-handle.js';
import { postgresBinaries } from '../postgres-server.js';
import { startAwayWorld, type AwayWorld } from './support/store-away.js';
import { ofType, pay, read, say, until } from './support/world.js';

const onPostgres = postgresBinaries() === undefined ? describe.skip : describe;

/** A stop that waits for an attempt that waits for the store would take longer. */
const AT_ONCE_MS = 20_000;

onPostgres.each(['refuses', 'is silent'] as const)('while the store %s', (how) => {
  let away: AwayWorld;
  beforeAll(async () => {
    away = await startAwayWorld();
  });
  afterEach(() => away?.bringBack());
  afterAll(() => away?.stop());

  const leave = (): void => (how === 'refuses' ? away.takeAway() : away.silence());

  /** A worker with much to do may be unable to say it just now. */
  async function stateNow(run: RunHandle): ReturnType<RunHandle['state']> {
    for (;;) {
      try {
        return await run.state();
      } catch (error) {
        if (!(error instanceof HoldfastError) || error.code !== 'ServerUnavailable') throw error;
      }
    }
  }

  /** Waits with this effect for the store. */
  async function waitsFor(run: RunHandle, kind: string): Promise<void> {
    await until(`${kind} in flight`, async () => {
      const { inFlight } = await stateNow(run);
      return inFlight.some((one) => one.kind === kind) ? true : undefined;
    });
  }

  /** It says that it is over, although its record is not stored. */
  async function stopped(run: RunHandle, reason: string): Promise<void> {
    const began = performance.now();
    await until('the stop', async () => (await stateNow(run)).stop);
    expect(performance.now() - began).toBeLessThan(AT_ONCE_MS);
    await until('nothing under way but the record', async () => {
      const { inFlight } = await stateNow(run);
      const owed = ['account_call', 'flush', 'close_run'];
      return inFlight.every(({ kind }) => owed.includes(kind)) ? true : undefined;
    });
    expect(performance.now() - began).toBeLessThan(AT_ONCE_MS);
    expect(await stateNow(run)).toMatchObject({
      status: 'closing',
      stop: { reason, status: 'cancelled' },
    });
    await until('the status in the list', async () => {
      const listed = await away.holdfast('list', '--status', 'cancelled', '--json');
      const { runs } = JSON.parse(listed.out) as { runs: { runId: string; closing?: true }[] };
      return runs.find(({ runId, closing }) => runId === run.runId && closing);
    });
  }

  async function recorded(run: RunHandle, reason: string) {
    away.bringBack();
    const result = await run.result({ timeoutMs: 90_000 });
    expect(result).toMatchObject({ stopReason: reason, status: 'cancelled' });
    const { events } = await away.world.ended(run);
    expect(ofType(events, 'run_result')).toHaveLength(1);
    expect(await away.world.store.getRun('default', run.runId)).toMatchObject({
      status: 'cancelled',
    });
    return { result, events };
  }

  test('a cancel ends a call of the model that waits for the store', async () => {
    const runId = 'asks-a-model';
    const held = away.world.service.hold(runId, 'read');
    const run = await away.world.start({ runId, replies: [read(), say('Finished.')] });
    await held;
    leave();
    away.world.service.releaseAll();
    await waitsFor(run, 'call_model');
    const told = await away.holdfast('cancel', runId);
    expect(told).toMatchObject({ code: 0, err: '' });
    await stopped(run, 'aborted');
    const shown = await until('the wait', async () => {
      const { out } = await away.holdfast('show', runId);
      return out.includes('waits for the store') ? out : undefined;
    });
    expect(shown).toContain('cancelled (aborted); its last record is not stored yet');
    await recorded(run, 'aborted');
  }, 180_000);

  test('an interrupt ends a payment that has not begun', async () => {
    const runId = 'would-pay';
    const { run, ask } = await away.scene.asked(runId, { settings: { requireProof: false } });
    await away.quiet(run);
    leave();
    await run.decide({
      v: 1,
      askId: ask.askId,
      argsHash: ask.argsHash,
      decision: 'approve',
      by: 'maria',
      roles: ['manager'],
      decidedAt: Date.now(),
    });
    await waitsFor(run, 'execute_tool');
    await run.interrupt();
    await stopped(run, 'interrupted');
    await recorded(run, 'interrupted');
    expect(away.scene.effects(runId)).toEqual([]);
  }, 180_000);

  test('a run that waits for a person is cancelled as well', async () => {
    const run = await away.world.start({ runId: 'only-asks', replies: [pay('pay.asked')] });
    await run.outcome();
    await away.quiet(run);
    leave();
    await run.cancel();
    await stopped(run, 'aborted');
    const { events } = await recorded(run, 'aborted');
    expect(ofType(events, 'approval_withdrawn')).toHaveLength(1);
  }, 180_000);
});
