/**
 * The histories that are kept replay exactly, and a strict replay sees what Temporal's own check does not. HOLDFAST_WHOLE=1:
 * all of them, not some that are drawn; HOLDFAST_SEED: of the draw.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { StopReason } from '../../core/state/result.js';
import { bundleText } from '../../replay/bundle.js';
import { argumentsOf, attributesOf, type HistoryEvent } from '../../recording/history.js';
import { parseBundle, readBundle } from '../../replay/read-bundle.js';
import { reportLines } from '../../replay/report-text.js';
import { replayRun, replayRunsOf } from '../../replay/strict-replay.js';
import { keptHistories, readKept } from '../../lab/seal/kept-histories.js';
import { expectReplays } from '../../testing/index.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { CONTINUED, keptBundles, RECORDINGS } from './recordings.js';
import { attributes, changed, payloads, RELEASE, scheduled, stored, withInput } from './setup.js';

const STOP_REASONS: readonly StopReason[] = [
  'completed',
  'empty_response',
  'evidence_missing',
  'invalid_output',
  'refused',
  'needs_human',
  'tool_failure',
  'max_turns',
  'max_tool_calls',
  'timeout',
  'max_cost',
  'max_input_tokens',
  'max_output_tokens',
  'max_tokens',
  'prompt_too_long',
  'stop_hook_prevented',
  'interrupted',
  'aborted',
  'failed',
];

const DRAWN = 12;

/** A goal that cancels its cycle. */
const CANCELLING = /rules-23\/G-6-cancel-a-cycle\.json\.gz$/;

/** What the end of an activity says of the store; 0: nothing. */
function storedUpTo(event: HistoryEvent): number {
  const [output] = argumentsOf(attributesOf(event, 'activityTaskCompleted').result);
  return (output as { readonly eventsUpTo?: number } | undefined)?.eventsUpTo ?? 0;
}

describe('the stored histories', () => {
  test('replay exactly', async () => {
    const all = keptBundles();
    const chosen = WHOLE ? all : drawn(all, DRAWN, SEED);
    saySeed(`${chosen.length} of ${all.length} histories of older releases`);
    const bundles = await Promise.all(chosen.map(readBundle));
    const different: string[] = [];
    for await (const report of replayRunsOf(bundles)) {
      if (!report.equal) different.push(reportLines(report).join('\n'));
    }
    expect(different).toEqual([]);
  });

  test('show every stop reason that a run of this release can reach, and every case that is listed', async () => {
    const files = keptBundles().filter((file) => file.includes(`/${RELEASE}/`));
    expect(files.map((file) => basename(file, '.json')).toSorted()).toEqual(
      Object.keys({ ...RECORDINGS, ...CONTINUED }).toSorted(),
    );
    const reasons = new Set<string>();
    for (const file of files) {
      const last = (await readBundle(file)).events.at(-1);
      if (last?.type === 'run_result') reasons.add(last.result.stopReason);
    }
    expect([...reasons].toSorted()).toEqual(STOP_REASONS.toSorted());
  });

  test('are small, and each names the code that recorded it', async () => {
    for (const file of keptBundles()) {
      const text = readFileSync(file, 'utf8');
      expect(text.length).toBeLessThan(100_000);
      const { versions } = parseBundle(text, file);
      expect(versions.code).toEqual([
        expect.stringMatching(/^holdfast@\d+\.\d+\.\d+\+[0-9a-f]{12}(\.rules\d+)?$/),
      ]);
      expect(versions.rules).toBeGreaterThanOrEqual(1);
    }
  });

  test('can be read as the run was at any moment, with the events that the store had then', async () => {
    let moments = 0;
    for (const file of keptBundles()) {
      const bundle = await readBundle(file);
      const [segment, more] = bundle.segments;
      if (more !== undefined) continue;
      for (const [index, event] of segment!.events.entries()) {
        if (event.eventType !== 'EVENT_TYPE_ACTIVITY_TASK_COMPLETED') continue;
        moments += 1;
        const before = segment!.events.slice(0, index + 1);
        const upTo = Math.max(...before.map(storedUpTo));
        const then = {
          ...bundle,
          segments: [{ ...segment!, events: before }],
          events: bundle.events.filter(({ stamp }) => stamp.seq < upTo),
        };
        expect(() => parseBundle(bundleText(then), `${file} up to ${event.eventId}`)).not.toThrow();
      }
    }
    expect(moments).toBeGreaterThan(100);
  });

  test('continue over several segments in one of them', async () => {
    const { segments } = await stored('continue-as-new');
    expect(segments.length).toBeGreaterThan(1);
    expect(await replayRun(await stored('continue-as-new'))).toMatchObject({ equal: true });
  });
});

describe('a history that was altered', () => {
  const noise = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  afterAll(() => noise.mockRestore());

  test('in the input of a tool: the step, both values and the recording code are told', async () => {
    const bundle = await stored('approved');
    const altered = changed(
      bundle,
      scheduled('execute_tool', (given) =>
        withInput(given, (input) => ({
          ...input,
          call: { ...(input.call as object), args: { order: 'O-17', amount: 5000 } },
        })),
      ),
    );
    const report = await replayRun(altered);
    expect(report).toMatchObject({ equal: false, runId: bundle.run.runId });
    expect(report.error).toBeUndefined();
    expect(report.differences).toEqual([
      {
        kind: 'activity',
        id: 'execute_tool-5',
        tool: 'issue_refund',
        segment: 0,
        eventId: expect.any(Number),
        code: bundle.versions.code[0],
        rules: 1,
        what: 'value',
        path: 'input[0].call.args.amount',
        recorded: 5000,
        replayed: 50,
      },
    ]);
    const text = reportLines(report).join('\n');
    expect(text).toMatch(/event \d+, activity execute_tool-5 \(issue_refund\)/);
    expect(text).toContain('recorded  5000');
    expect(text).toContain('replayed  50');
    expect(text).toContain(`recorded by ${bundle.versions.code[0]}, rules 1`);
    await expect(expectReplays(altered)).rejects.toMatchObject({ code: 'ReplayDiffers' });
    await expect(expectReplays(bundle)).resolves.toBeUndefined();
  });

  test.each([
    ['the retry policy', 'retryPolicy', { initialInterval: '9s' }, 'retry.initialMs'],
    ['a timeout', 'startToCloseTimeout', '7s', 'timeouts.startToCloseMs'],
    ['the heartbeat timeout', 'heartbeatTimeout', '1s', 'timeouts.heartbeatMs'],
    ['the task queue', 'taskQueue', { name: 'elsewhere' }, 'taskQueue'],
  ])('in an option, %s: it is found', async (_what, name, value, path) => {
    const altered = changed(
      await stored('approved'),
      scheduled('execute_tool', (given) => ({ ...given, [name]: value })),
    );
    const { differences } = await replayRun(altered);
    expect(differences).toMatchObject([{ kind: 'activity', id: 'execute_tool-5', path }]);
  });

  test.each([
    ['a timer', 'approved', 'timerStarted', { startToFireTimeout: '1s' }, { kind: 'timer' }],
    [
      'the answer to an update',
      'approved',
      'workflowExecutionUpdateCompleted',
      { outcome: { success: payloads({ accepted: false }) } },
      { kind: 'update_reply', path: 'value.accepted', recorded: false, replayed: true },
    ],
    [
      'the result',
      'completed',
      'workflowExecutionCompleted',
      { result: payloads({ stopReason: 'refused' }) },
      { kind: 'result', path: 'value.stopReason', recorded: 'refused', replayed: 'completed' },
    ],
    [
      'a search attribute',
      'completed',
      'upsertWorkflowSearchAttributes',
      { searchAttributes: { indexedFields: {} } },
      { kind: 'search_attributes' },
    ],
  ])('in %s: it is found', async (_what, name, kind, change, difference) => {
    const altered = changed(
      await stored(name),
      attributes(kind, (given) => ({ ...given, ...change })),
    );
    const { differences, error } = await replayRun(altered);
    expect(error).toBeUndefined();
    expect(differences[0]).toMatchObject(difference);
  });

  test.each([
    [
      'what a run below shows from its start on',
      'startChildWorkflowExecutionInitiated',
      { searchAttributes: { indexedFields: {} } },
      {
        kind: 'child',
        id: 'G-6-cancel-a-cycle:c1',
        path: expect.stringMatching(/^shows\./) as unknown,
      },
    ],
    [
      'whom it cancels',
      'requestCancelExternalWorkflowExecutionInitiated',
      { workflowExecution: { workflowId: 'another' } },
      { kind: 'cancel', path: 'of', recorded: 'another', replayed: 'G-6-cancel-a-cycle:c1' },
    ],
  ])('in %s: it is found', async (_what, kind, change, difference) => {
    const [kept] = keptHistories().filter(({ file }) => CANCELLING.test(file));
    const bundle = readKept(kept!);
    expect(await replayRun(bundle)).toMatchObject({ equal: true });
    const altered = changed(
      bundle,
      attributes(kind, (given) => ({ ...given, ...change })),
    );
    const { differences } = await replayRun(altered);
    expect(differences[0]).toMatchObject(difference);
  });

  test('in what a segment hands over: the crossing is found on both sides', async () => {
    const bundle = await stored('continue-as-new');
    const altered = changed(
      bundle,
      attributes('workflowExecutionContinuedAsNew', (given) => ({
        ...given,
        input: payloads({ continued: {} }),
      })),
    );
    const { differences } = await replayRun(altered);
    expect(differences).toMatchObject([
      { segment: 0, kind: 'continue_as_new' },
      { segment: 1, kind: 'continue_as_new', eventId: 1, path: expect.stringMatching(/^input/) },
    ]);
  });

  test('in its way: Temporal’s check fails, and the step at which they part is told', async () => {
    const altered = changed(
      await stored('approved'),
      scheduled('execute_tool', (given) => ({ ...given, activityType: { name: 'flush' } })),
    );
    const report = await replayRun(altered);
    expect(report.equal).toBe(false);
    expect(report.error?.message).toMatch(/nondeterminism/i);
    expect(report.differences[0]).toMatchObject({
      id: 'execute_tool-5',
      path: 'type',
      recorded: 'flush',
      replayed: 'execute_tool',
    });
  });
});

test('a history over which the replayer breaks is an error of the bundle, with the reason', async () => {
  const bundle = await stored('approved');
  const altered = changed(bundle, (event) => {
    const { activityTaskStartedEventAttributes: _, ...rest } = event;
    return rest as unknown as typeof event;
  });
  await expect(replayRun(altered)).rejects.toMatchObject({
    code: 'InvalidBundle',
    message: expect.stringMatching(/history of S39, execution .*Missing attributes/),
  });
});

describe('a run that goes on', () => {
  test('replays as far as it has come', async () => {
    const bundle = await stored('approved');
    const [segment] = bundle.segments;
    const parked = segment!.events.findIndex(({ eventType }) =>
      eventType.includes('UPDATE_ACCEPTED'),
    );
    const beforeTask = segment!.events
      .slice(0, parked)
      .findLastIndex(
        ({ eventType }) => eventType.endsWith('TASK_SCHEDULED') && eventType.includes('WORKFLOW'),
      );
    const open = {
      ...bundle,
      segments: [{ ...segment!, events: segment!.events.slice(0, beforeTask) }],
    };
    expect(await replayRun(open)).toMatchObject({ equal: true, open: true });
  });

  test('replays when something has come that it has not begun with', async () => {
    const bundle = await stored('approved');
    const [segment] = bundle.segments;
    const types = segment!.events.map(({ eventType }) => eventType);
    const come = types.lastIndexOf('EVENT_TYPE_ACTIVITY_TASK_COMPLETED');
    const scheduled = types.indexOf('EVENT_TYPE_WORKFLOW_TASK_SCHEDULED', come);
    const open = {
      ...bundle,
      segments: [{ ...segment!, events: segment!.events.slice(0, scheduled + 1) }],
    };
    expect(await replayRun(open)).toMatchObject({ equal: true, open: true });
  });
});
