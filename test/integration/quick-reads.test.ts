/** Reads that are declared quick, on a real server: within the task that decides, else as ordinary activities. */
import { follows, RULES_VERSION } from '../../core/step/changes.js';
import { capture } from '../../evaluation/capture/capture.js';
import { foldOf } from '../../recording/fold.js';
import { timeOf, typeOf, type HistoryEvent } from '../../recording/history.js';
import { localEndOf } from '../../recording/markers.js';
import { bundleText, type Bundle } from '../../replay/bundle.js';
import { parseBundle } from '../../replay/read-bundle.js';
import { redactBundle } from '../../replay/redaction/redact-bundle.js';
import { replayRun } from '../../replay/strict-replay.js';
import type { WorkerProcess } from '../../testing/worker-process.js';
import { documentValues } from '../replay/setup.js';
import { config } from './support/quick-agents.js';
import { bundleOf, eventsOf, expectReplays } from './support/replayed-run.js';
import { call, ofType, say, startWorld, type History, type World } from './support/world.js';

const CONFIG_MODULE = require.resolve('./support/quick-agents.ts');
/** Whoever reaches for a run waits for a quick read at most 1.2 s; the rest is for a busy machine. */
const SERVED_WITHIN_MS = 8_000;

/** Recordings of older rules decide otherwise. */
const rules = Number(process.env['HOLDFAST_RULES'] ?? RULES_VERSION);
const isSeen = follows({ rules }, 'quickInTime');
/** What a task comes to whose first worker died. */
const secondTry = isSeen ? { within: [], ordinary: 1 } : { within: ['ok'], ordinary: 0 };

const read = (item = 'apple') => call('facts.quick', { item });

let world: World;
beforeAll(async () => void (world = await startWorld({ worker: false })));
afterAll(() => world.stop());

const own = () => ({ config: config({ serviceUrl: world.service.url }) });

/** What was tried within tasks, but the opening. */
function readsIn(events: readonly HistoryEvent[]) {
  const ends = events.flatMap((event) => localEndOf(event) ?? []);
  return ends.filter(({ type }) => type === 'execute_tool');
}

/** What quick attempts came to, and how many ordinary calls of tools there were. */
function triedIn(history: History) {
  const events = eventsOf(history);
  const within = readsIn(events);
  const ordinary = (history.events ?? []).filter(
    ({ activityTaskScheduledEventAttributes: one }) => one?.activityType?.name === 'execute_tool',
  );
  return {
    within: within.map(({ output }) => {
      // One whose time Temporal has ended first, on a busy machine, has no output.
      const outcome = output?.outcome as
        { readonly kind: string; readonly reason?: string } | undefined;
      return outcome === undefined ? 'timeout' : (outcome.reason ?? outcome.kind);
    }),
    ordinary: ordinary.length,
  };
}

/** The bundle of a run, which replays strictly and is folded to its end. */
async function exported(runId: string): Promise<Bundle> {
  const bundle = await bundleOf(world, runId);
  const again = parseBundle(bundleText(bundle), `${runId}.json`);
  await expectReplays(again);
  const fold = foldOf(again);
  expect(fold.at(fold.steps.length).after).toMatchObject({ final: { kind: 'result' } });
  return again;
}

describe('a worker of both parts', () => {
  let retire: () => Promise<void>;
  beforeAll(async () => {
    const worker = await world.serve(own());
    retire = () => world.retire(worker);
  });
  afterAll(() => retire());

  test('a quick read is one event of a history that replays, and that can be looked into and captured', async () => {
    const run = await world.start({
      runId: 'quick',
      replies: [read(), read('pear'), say('Done.')],
    });
    const { result, events, history } = await world.ended(run);
    expect(result.status).toBe('completed');
    expect(triedIn(history)).toEqual({ within: ['ok', 'ok'], ordinary: 0 });
    expect(ofType(events, 'tool_finished').map(({ content }) => content)).toEqual([
      { text: 'the apple' },
      { text: 'the pear' },
    ]);
    const bundle = await exported('quick');
    const { tools } = capture(bundle);
    expect(tools).toMatchObject({
      'facts.quick': {
        quick: true,
        recorded: [
          { input: { item: 'apple' }, results: [{ ok: 'the apple' }] },
          { input: { item: 'pear' }, results: [{ ok: 'the pear' }] },
        ],
      },
    });
    const hidden = await redactBundle(bundle, [{ name: 'fruit', pattern: /apple/g }]);
    expect(JSON.stringify(await documentValues(bundle))).toContain('apple');
    expect(JSON.stringify(await documentValues(hidden))).not.toContain('apple');
  });

  test('a step of which the history says something else is found by the strict replay', async () => {
    const bundle = await exported('quick');
    const [segment] = bundle.segments;
    const events = segment!.events.map((event) => {
      const end = localEndOf(event);
      if (end?.type !== 'execute_tool') return event;
      const output = { ...end.output, quick: { ...(end.output!.quick as object), input: 'other' } };
      const data = Buffer.from(JSON.stringify(output)).toString('base64');
      const text = JSON.stringify(event);
      const was = (JSON.parse(text) as typeof MARKER).markerRecordedEventAttributes.details.result
        .payloads[0]!.data;
      return JSON.parse(text.replace(was, data)) as HistoryEvent;
    });
    const other = { ...bundle, segments: [{ ...segment!, events }] };
    const { equal, differences } = await replayRun(other);
    expect(equal).toBe(false);
    expect(differences[0]).toMatchObject({
      kind: 'local_activity',
      tool: 'facts.quick',
      path: 'input',
    });
  });

  test('a result that no history takes lies in the store', async () => {
    const run = await world.start({ runId: 'large', replies: [read('large'), say('Done.')] });
    const { events, history } = await world.ended(run);
    expect(triedIn(history)).toEqual({ within: ['ok'], ordinary: 0 });
    expect(ofType(events, 'tool_finished')).toMatchObject([{ content: { bytes: 3_000_000 } }]);
    await exported('large');
  });

  test('one that hangs goes on as an ordinary call, and after two of them its tool is an ordinary one', async () => {
    void world.service.hold('hangs', 'read');
    const run = await world.start({
      runId: 'hangs',
      replies: ({ assistantMessages: n }) => {
        if (n === 1) void world.service.hold('hangs', 'read');
        return n < 3 ? read() : say('Done.');
      },
    });
    const { result, events, history } = await world.ended(run);
    expect(result.status).toBe('completed');
    expect(triedIn(history)).toEqual({ within: ['timeout', 'timeout'], ordinary: 3 });
    expect(ofType(events, 'tool_started')).toHaveLength(3);
    expect(ofType(events, 'tool_finished').map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
    const [tool] = Object.values(capture(await exported('hangs')).tools as object) as [
      { readonly recorded: readonly { readonly results: readonly object[] }[] },
    ];
    const { results } = tool.recorded[0]!;
    expect(results.at(-1)).toEqual({ ok: 'the apple' });
    // Of an attempt that Temporal has ended first, on a busy machine, nothing is known.
    const told = readsIn(eventsOf(history)).flatMap(({ output }) => output ?? []);
    if (told.length === 2) expect(results).toEqual([{ hang: true }, { ok: 'the apple' }]);
  });

  test('an interrupt in the middle of one is served when its second is over', async () => {
    const held = world.service.hold('stopped', 'read');
    const replies = [read(), say('Never.')];
    const run = await world.start({ runId: 'stopped', replies, wait: false });
    await held;
    await run.interrupt();
    const { result, history } = await world.ended(run);
    expect(result.stopReason).toBe('interrupted');
    const events = eventsOf(history);
    const signal = events.findIndex((event) => typeOf(event) === 'WORKFLOW_EXECUTION_SIGNALED');
    const heard = events.slice(signal).find((event) => typeOf(event) === 'WORKFLOW_TASK_STARTED');
    expect(timeOf(heard) - timeOf(events[signal])).toBeLessThan(SERVED_WITHIN_MS);
    await exported('stopped');
  });
});

test('workers that only decide leave quick reads to those that have the code', async () => {
  const decider = await world.serve({ ...own(), serves: 'workflows' });
  const other = await world.serve({ ...own(), serves: 'activities' });
  const run = await world.start({ runId: 'decided', replies: [read(), say('Done.')] });
  const { result, history } = await world.ended(run);
  expect(result.status).toBe('completed');
  expect(triedIn(history)).toEqual({ within: ['unserved'], ordinary: 1 });
  await exported('decided');
  await Promise.all([decider, other].map((worker) => world.retire(worker)));
});

/** Worker processes of one test; the next one begins without them. */
const spawned: WorkerProcess[] = [];
async function spawn(): Promise<WorkerProcess> {
  const worker = await world.spawn({ configModule: CONFIG_MODULE });
  spawned.push(worker);
  return worker;
}
afterEach(async () => {
  await Promise.all(spawned.splice(0).map((worker) => worker.kill()));
});

test('a worker that dies with one is followed by another, which makes an ordinary call', async () => {
  const first = await spawn();
  const held = world.service.hold('killed', 'read');
  const replies = [read(), say('Done.')];
  const run = await world.start({ runId: 'killed', replies, wait: false });
  await held;
  await first.kill();
  await spawn();
  const { result, events, history } = await world.ended(run);
  expect(result.status).toBe('completed');
  expect(triedIn(history)).toEqual(secondTry);
  expect(ofType(events, 'tool_finished')).toMatchObject([{ status: 'ok' }]);
  expect(world.service.visits('killed', 'read')).toHaveLength(2);
  await exported('killed');
});

test('one that takes down each worker counts its attempts from the second worker on', async () => {
  const deaths = 2;
  const replies = [call('facts.deadly', { deaths }), say('Done.')];
  const run = await world.start({ runId: 'deadly', replies, wait: false });
  for (let dead = 0; dead < deaths; dead += 1) {
    const worker = await spawn();
    await worker.exited;
  }
  await spawn();
  const { result, events, history } = await world.ended(run);
  expect(result.status).toBe('completed');
  expect(triedIn(history)).toEqual(secondTry);
  expect(ofType(events, 'tool_finished')).toMatchObject([
    { status: 'ok', attempts: isSeen ? deaths : 1, content: { text: 'survived' } },
  ]);
  await exported('deadly');
});

declare const MARKER: {
  readonly markerRecordedEventAttributes: {
    readonly details: {
      readonly result: { readonly payloads: readonly { readonly data: string }[] };
    };
  };
};
