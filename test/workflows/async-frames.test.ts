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

const FRAMES: { readonly [name: string]: readonly string[] } = {
  'frames-00': [],
  'frames-04': [join(__dirname, 'async-frames', 'four-frames.ts')],
  'frames-10': [join(__dirname, 'async-frames', 'ten-frames.ts')],
};

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

/** While nothing decides, a read comes back and the call beside it is approved: the next activation has both. */
async function approvedAsTheOtherReturns(name: string): Promise<Ended> {
  const workflowInterceptors = FRAMES[name]!;
  const deciding = await world.serve({ serves: 'workflows', workflowInterceptors });
  const held = world.service.hold(name, 'read');
  const run = await world.start({
    runId: name,
    replies: [{ calls: [...read().calls, ...pay('pay.asked').calls] }, say('Paid.')],
    settings: { toolExecution: 'dataflow' },
  });
  await held;
  const [ask] = await until('the question', () => asksOf(run));
  const { askId, argsHash } = ask!;
  await drained(deciding);
  const before = await completedActivities(name);
  const decision = { askId, argsHash, decision: 'approve', ...APPROVER, decidedAt: Date.now() };
  await world.raw.workflow.getHandle(name).signal('resolveApproval', decision);
  world.service.releaseAll();
  const isBack = async () => (await completedActivities(name)) > before || undefined;
  await until('the read in history', isBack);
  const back = await world.serve({ serves: 'workflows', workflowInterceptors });
  const ended = await world.ended(run);
  await drained(back);
  return ended;
}

function decisions({ events, result }: Ended): readonly unknown[] {
  const types = events.map(({ type, stamp }) => [type, stamp.rule]);
  const { activeMs: _, waitingMs: __, ...counters } = result.counters;
  return [...types, result.stopReason, result.phase, counters];
}

test('a run that hears of a result and of a decision at once decides the same with 0, 4 and 10 frames', async () => {
  const ended: Ended[] = [];
  for (const name of Object.keys(FRAMES)) ended.push(await approvedAsTheOtherReturns(name));
  const [plain, ...framed] = ended;
  expect(plain!.result).toMatchObject({ stopReason: 'completed' });
  for (const other of framed) expect(decisions(other)).toEqual(decisions(plain!));
  expect(await replayRuns(world.server, Object.keys(FRAMES))).toEqual(new Map());
});

/** While nobody decides, a reply comes back and the run is interrupted: the interrupt finds all of the reply. */
async function interruptedAsTheModelAnswers(frames: string): Promise<Ended> {
  const name = `interrupted-${frames}`;
  const workflowInterceptors = FRAMES[frames]!;
  const deciding = await world.serve({ serves: 'workflows', workflowInterceptors });
  const reply = { ...read(), text: 'Let me look.', delayMs: 2_000 };
  const run = await world.start({ runId: name, replies: [reply, say('Done.')], wait: false });
  await until('the request', () => world.requests(name)[0]);
  await drained(deciding);
  const before = await completedActivities(name);
  await world.raw.workflow.getHandle(name).signal('interrupt');
  const isBack = async () => (await completedActivities(name)) > before || undefined;
  await until('the reply in history', isBack);
  const back = await world.serve({ serves: 'workflows', workflowInterceptors });
  const ended = await world.ended(run);
  await drained(back);
  return ended;
}

test('an interrupt and the reply of one activation are received before either is decided on', async () => {
  for (const frames of Object.keys(FRAMES)) {
    const { result, events } = await interruptedAsTheModelAnswers(frames);
    expect(result).toMatchObject({ stopReason: 'interrupted', phase: 'before_tools' });
    expect(events.map(({ type }) => type)).toContain('model_response');
  }
});
