/**
 * A worker process is frozen in the middle of two payments, given up, and wakes when others have gone on.
 * Its heartbeats and claims are short here: at the defaults the same takes a minute longer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunHandle } from '../../client/runs/run-handle.js';
import type { WorkerProcess } from '../../testing/index.js';
import {
  ofType,
  openAsk,
  pay,
  read,
  say,
  startWorld,
  until,
  type History,
  type World,
} from './support/world.js';

const settings = { heartbeatMs: { repeatable: 2_000, single: 2_000 } } as const;
/** Long enough for whatever a process that woke up still wants to do. */
const AFTERMATH_MS = 2_000;

let world: World;
let frozen: WorkerProcess;
let deaf: RunHandle;
let blind: RunHandle;

const effects = (runId: string) => world.service.visits(runId, 'effect').map(({ key }) => key);
const rowOf = (runId: string) => world.store.getLedgerRow('default', `${runId}:0`);

beforeAll(async () => {
  world = await startWorld({ worker: false });
  frozen = await world.spawn();
  const points = [world.service.hold('deaf', 'after'), world.service.hold('blind', 'before')];
  const replies = [pay('pay.deaf'), read(), say('Finished.')];
  deaf = await world.start({ runId: 'deaf', replies, settings });
  blind = await world.start({ runId: 'blind', replies: [pay('pay.blind'), say('Ok.')], settings });
  await Promise.all(points);
  process.kill(frozen.pid, 'SIGSTOP');
  const isReading = world.service.hold('deaf', 'read');
  await world.spawn();
  const { askId } = await openAsk(blind);
  await blind.answer(askId, { kind: 'not_happened' }, { by: 'maria' });
  await isReading;
  await world.ended(blind);
});
afterAll(async () => {
  process.kill(frozen.pid, 'SIGCONT');
  await world.stop();
});

function ends(history: History, type: string): readonly string[] {
  const events = history.events ?? [];
  return events.flatMap((event) => {
    const end =
      event.activityTaskCompletedEventAttributes ?? event.activityTaskTimedOutEventAttributes;
    const scheduled = events.find(
      ({ eventId }) => String(eventId) === String(end?.scheduledEventId),
    );
    const name = scheduled?.activityTaskScheduledEventAttributes?.activityType?.name;
    if (name !== type) return [];
    return [event.activityTaskCompletedEventAttributes ? 'completed' : 'timed out'];
  });
}

test('a worker that wakes up after its claims were burned changes nothing and is found out', async () => {
  expect(effects('deaf')).toEqual(['deaf:0']);
  expect(await rowOf('deaf')).toMatchObject({ state: 'recorded', source: 'probe' });
  expect(effects('blind')).toEqual(['blind:0']);

  process.kill(frozen.pid, 'SIGCONT');
  world.service.releaseAll();
  const row = await until('the late word', async () => {
    const found = await rowOf('deaf');
    return found?.late === undefined ? undefined : found;
  });
  await sleep(AFTERMATH_MS);

  // The call that returned too late is kept beside what the probe said.
  expect(row).toMatchObject({
    source: 'probe',
    result: { text: 'seen under deaf:0' },
    late: { attempt: 1, result: { text: 'done under deaf:0' } },
  });
  const { events, history } = await world.ended(deaf);
  const [paid] = ofType(events, 'tool_finished');
  expect(paid).toMatchObject({ tool: 'pay.deaf', content: { text: 'seen under deaf:0' } });
  // Temporal took its heartbeats for dead, and its completion for nothing.
  expect(ends(history, 'execute_tool')).toEqual(['timed out', 'completed']);
  expect(effects('deaf')).toEqual(['deaf:0']);

  // The one that was frozen before its request was told to stop before it could send it.
  expect(effects('blind')).toEqual(['blind:0']);
  expect(await rowOf('blind')).toMatchObject({ state: 'recorded', source: 'tool', attempt: 2 });
});
