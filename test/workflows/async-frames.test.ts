/** However many async frames interceptors add, a signal and a result of one activation are decided on together. */
import { join } from 'node:path';
import type { RunHandle } from '../../client/runs/run-handle.js';
import type { OpenAsk } from '../../core/state/view.js';
import { replayRuns } from '../../testing/replay.js';
import type { RunningWorker } from '../../worker/index.js';
import { APPROVER } from '../integration/support/agents.js';
import {
  pay,
  read,
  say,
  startWorld,
  until,
  type Ended,
  type World,
} from '../integration/support/world.js';

/** The interceptors add as many frames as the id of a run ends with. */
const FRAMES = ['00', '04', '10'] as const;
const INTERCEPTED = {
  serves: 'workflows',
  workflowInterceptors: [join(__dirname, 'async-frames', 'by-run.ts')],
} as const;

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: false });
  await world.serve({ serves: 'activities' });
});
afterAll(() => world.stop());

async function drained(worker: RunningWorker): Promise<void> {
  worker.shutdown();
  await worker.run();
}

async function completedActivities(runId: string): Promise<number> {
  const { events } = await world.history(runId);
  const types = (events ?? []).flatMap(
    ({ activityTaskCompletedEventAttributes: done }) => done ?? [],
  );
  return types.length;
}

async function asksOf(run: RunHandle): Promise<readonly OpenAsk[] | undefined> {
  const asks = await run.pendingApprovals();
  return asks.length === 0 ? undefined : asks;
}

interface Waiting {
  readonly run: RunHandle;
  /** What a person says to it, beside what comes back. */
  readonly say: () => Promise<unknown>;
}

/** Starts a run for each count of frames; a word and a result then come to each while no worker decides. */
async function toldTogether(
  start: (frames: string) => Promise<Waiting>,
): Promise<readonly Ended[]> {
  const deciding = await world.serve(INTERCEPTED);
  const waiting = await Promise.all(FRAMES.map(start));
  await drained(deciding);
  const before = await Promise.all(waiting.map(({ run }) => completedActivities(run.runId)));
  for (const { say: word } of waiting) await word();
  world.service.releaseAll();
  await until('a result of each in history', async () => {
    const now = await Promise.all(waiting.map(({ run }) => completedActivities(run.runId)));
    return now.every((count, index) => count > before[index]!) || undefined;
  });
  const back = await world.serve(INTERCEPTED);
  const ended = await Promise.all(waiting.map(({ run }) => world.ended(run)));
  await drained(back);
  return ended;
}

/** A read comes back and the call beside it is approved. */
async function approvedAsTheOtherReturns(frames: string): Promise<Waiting> {
  const runId = `frames-${frames}`;
  const held = world.service.hold(runId, 'read');
  const run = await world.start({
    runId,
    replies: [{ calls: [...read().calls, ...pay('pay.asked').calls] }, say('Paid.')],
    settings: { toolExecution: 'dataflow' },
  });
  await held;
  const [ask] = await until('the question', () => asksOf(run));
  const { askId, argsHash } = ask!;
  const decision = { askId, argsHash, decision: 'approve', ...APPROVER, decidedAt: Date.now() };
  return {
    run,
    say: () => world.raw.workflow.getHandle(runId).signal('resolveApproval', decision),
  };
}

function decisions({ events, result }: Ended): readonly unknown[] {
  const types = events.map(({ type, stamp }) => [type, stamp.rule]);
  const { activeMs: _, waitingMs: __, ...counters } = result.counters;
  return [...types, result.stopReason, result.phase, counters];
}

test('a run that hears of a result and of a decision at once decides the same with 0, 4 and 10 frames', async () => {
  const [plain, ...framed] = await toldTogether(approvedAsTheOtherReturns);
  expect(plain!.result).toMatchObject({ stopReason: 'completed' });
  for (const other of framed) expect(decisions(other)).toEqual(decisions(plain!));
  const runIds = FRAMES.map((frames) => `frames-${frames}`);
  expect(await replayRuns(world.place, runIds)).toEqual(new Map());
});

/** A reply comes back and the run is interrupted: the interrupt finds all of the reply. */
async function interruptedAsTheModelAnswers(frames: string): Promise<Waiting> {
  const runId = `interrupted-${frames}`;
  const reply = { ...read(), text: 'Let me look.', delayMs: 3_000 };
  const run = await world.start({ runId, replies: [reply, say('Done.')], wait: false });
  await until('the request', () => world.requests(runId)[0]);
  return { run, say: () => world.raw.workflow.getHandle(runId).signal('interrupt') };
}

test('an interrupt and the reply of one activation are received before either is decided on', async () => {
  for (const { result, events } of await toldTogether(interruptedAsTheModelAnswers)) {
    expect(result).toMatchObject({ stopReason: 'interrupted', phase: 'before_tools' });
    expect(events.map(({ type }) => type)).toContain('model_response');
  }
});

test('an Update is answered behind what it has the run begin, with 0, 4 and 10 frames before that', async () => {
  const deciding = await world.serve(INTERCEPTED);
  for (const frames of FRAMES) {
    const run = await world.start({
      runId: `before-${frames}`,
      replies: [pay('pay.asked'), say('Paid.')],
    });
    const [ask] = await until('the question', () => asksOf(run));
    await run.decide({ ...ask!, v: 1, decision: 'approve', ...APPROVER, decidedAt: Date.now() });
    const { history } = await world.ended(run);
    const events = history.events ?? [];
    const accepted = events.findIndex((one) => one.workflowExecutionUpdateAcceptedEventAttributes);
    const types = events.slice(accepted).map((one) => {
      if (one.workflowExecutionUpdateCompletedEventAttributes) return 'answered';
      return one.activityTaskScheduledEventAttributes ? 'begun' : '';
    });
    expect(types.filter((type) => type !== '').slice(0, 2)).toEqual(['begun', 'answered']);
  }
  await drained(deciding);
});

test('an effect that fails while it is begun is heard of in the same activation, with 0, 4 and 10 frames before that', async () => {
  const deciding = await world.serve(INTERCEPTED);
  for (const frames of FRAMES) {
    const run = await world.start({ runId: `refused-${frames}`, replies: [read(), say('Done.')] });
    const { result, events, history } = await world.ended(run);
    expect(result.stopReason).toBe('completed');
    expect(events.find(({ type }) => type === 'tool_finished')).toMatchObject({ status: 'error' });
    const begun = (history.events ?? []).flatMap(
      (one) => one.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
    );
    expect(begun).not.toContain('execute_tool');
  }
  await drained(deciding);
});
