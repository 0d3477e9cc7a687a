import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { Worker } from '@temporalio/worker';
import { connect, type HoldfastClient } from '../../client/index.js';
import type { StopReason } from '../../core/state/result.js';
import { replayRuns } from '../../testing/replay.js';
import { PAYLOAD_CONVERTER_PATH, workflowBundle } from '../../worker/workflow-code.js';
import { AGENT, APPROVER } from '../integration/support/agents.js';
import {
  call,
  openAsk,
  pay,
  read,
  say,
  startWorld,
  type Ended,
  type History,
  type StartIn,
  type World,
} from '../integration/support/world.js';

type RunHandle = Awaited<ReturnType<HoldfastClient['start']>>;

interface Kind {
  readonly reason: StopReason;
  readonly detail?: string;
  readonly start: Omit<StartIn, 'runId'>;
  readonly then?: (run: RunHandle) => Promise<unknown>;
}

const KINDS: { readonly [name: string]: Kind } = {
  completed: { reason: 'completed', start: { replies: [read(), read('cup'), say('Blue.')] } },
  approved: {
    reason: 'completed',
    start: { replies: [pay('pay.asked'), say('Paid.')] },
    then: async (run) => run.approve((await openAsk(run)).askId, APPROVER),
  },
  several: {
    reason: 'completed',
    start: { replies: [{ calls: [...read().calls, ...read('cup').calls] }, say('Blue.')] },
  },
  corrected: {
    reason: 'completed',
    start: { replies: [call('facts.read', { item: 7 }), call('nothing', {}), say('Done.')] },
  },
  retried: {
    reason: 'completed',
    start: { replies: [[{ status: 529 }, read()], say('Blue.')] },
  },
  compacted: {
    reason: 'completed',
    // Under the shorter conversation the model is asked for its first reply once more.
    start: {
      replies: [[{ ...read(), text: 'Let me see. '.repeat(400) }, say('Blue.')], say('A summary.')],
      budget: { compactionThreshold: 0.005 },
    },
    then: async (run) => {
      const { counters, answer } = await run.result();
      expect(counters.compactions).toEqual({ proactive: 1, reactive: 0 });
      expect(answer).toEqual({ text: 'Blue.' });
    },
  },
  refused: {
    reason: 'refused',
    start: { replies: [{ text: 'I will not.', stopReason: 'refusal' }] },
  },
  expired: {
    reason: 'needs_human',
    detail: 'approval_timeout',
    start: { replies: [pay('pay.asked')], settings: { approvalTimeoutMs: 300 } },
  },
  unknown: {
    reason: 'needs_human',
    detail: 'outcome_unknown',
    start: {
      replies: [call('odd.pay', { how: 'throws' })],
      settings: { onOutcomeUnknown: 'stop' },
    },
  },
  max_turns: {
    reason: 'max_turns',
    start: { replies: [read(), read('cup')], budget: { maxTurns: 1 } },
  },
  max_cost: { reason: 'max_cost', start: { replies: [], budget: { maxCostMicroUsd: 1 } } },
  failed: { reason: 'failed', start: { replies: [{ status: 401 }] } },
  interrupted: {
    reason: 'interrupted',
    start: { replies: [pay('pay.asked')] },
    then: async (run) => {
      await openAsk(run);
      await run.interrupt();
    },
  },
  aborted: {
    reason: 'aborted',
    start: { replies: [pay('pay.asked')] },
    then: async (run) => {
      await openAsk(run);
      await run.cancel();
    },
  },
  conversation: {
    reason: 'completed',
    detail: 'closed',
    start: { agent: 'talker', replies: [say('Hello.'), say('Goodbye.')] },
    then: async (run) => {
      await openAsk(run);
      await run.sendMessage('Bye.');
      await run.close();
    },
  },
};

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

async function perform(client: HoldfastClient, prefix: string, name: string): Promise<Ended> {
  const { start, then, reason, detail } = KINDS[name]!;
  const { replies, ...rest } = start;
  const runId = `${prefix}-${name}`;
  world.script(runId, replies);
  const run = await client.start({ agent: AGENT, task: 'Serve the customer.', ...rest, runId });
  await then?.(run);
  const ended = await world.ended(run);
  // A close that overtakes the last message ends the conversation as a cancel would.
  const reasons = name === 'conversation' ? [reason, 'aborted'] : [reason];
  expect(reasons).toContain(ended.result.stopReason);
  if (detail !== undefined && ended.result.stopReason === reason) {
    expect(ended.result.detail).toBe(detail);
  }
  return ended;
}

const replay = async (history: History): Promise<void> =>
  Worker.runReplayHistory(
    {
      workflowBundle: await workflowBundle(),
      dataConverter: { payloadConverterPath: PAYLOAD_CONVERTER_PATH },
    },
    history,
  );

describe('replay', () => {
  const names = Object.keys(KINDS);

  test('the history of every kind of end replays', async () => {
    const ended = await Promise.all(names.map((name) => perform(world.client, 'kept', name)));
    const runIds = ended.map(({ result }) => result.runId);
    const failures = await replayRuns(world.place, runIds);
    expect([...failures]).toEqual([]);
  });

  test('a history that does not fit the code is found out', async () => {
    const history = await world.history('kept-completed');
    const events = (history.events ?? []).map((event) => {
      const scheduled = event.activityTaskScheduledEventAttributes;
      if (scheduled?.activityType?.name !== 'execute_tool') return event;
      const activityTaskScheduledEventAttributes = {
        ...scheduled,
        activityType: { name: 'flush' },
      };
      return { ...event, activityTaskScheduledEventAttributes };
    });
    await expect(replay({ events })).rejects.toMatchObject({
      name: 'DeterminismViolationError',
    });
    await expect(replay(history)).resolves.toBeUndefined();
  });

  test('a worker that keeps nothing in memory and replays at every step comes to the same ends', async () => {
    await world.serve({ taskQueue: 'forgetful', maxCachedWorkflows: 0 });
    const client = await connect({
      ...world.place,
      store: world.store,
      taskQueue: 'forgetful',
    });
    const some = ['completed', 'approved', 'unknown', 'interrupted', 'max_turns', 'conversation'];
    const ended = await Promise.all(some.map((name) => perform(client, 'forgotten', name)));
    const kept = await world.events('kept-approved');
    const forgotten = await world.events('forgotten-approved');
    expect(forgotten.map(({ type }) => type)).toEqual(kept.map(({ type }) => type));
    const runIds = ended.map(({ result }) => result.runId);
    expect([...(await replayRuns(world.place, runIds))]).toEqual([]);
    await client.close();
  });
});

describe('the history of a turn of one model and one tool call', () => {
  const TURNS = 42;
  /** Numbers get longer; nothing else may. */
  const GROWTH_MAX = 1.05;

  interface Turn {
    readonly events: number;
    readonly bytes: number;
  }

  /** From one scheduled model call to the next. */
  function turnsOf(history: History): readonly Turn[] {
    const turns: { events: number; bytes: number }[] = [];
    for (const event of history.events ?? []) {
      const scheduled = event.activityTaskScheduledEventAttributes;
      if (scheduled?.activityType?.name === 'call_model') turns.push({ events: 0, bytes: 0 });
      const turn = turns.at(-1);
      if (turn === undefined) continue;
      turn.events += 1;
      turn.bytes += historyToJSON({ events: [event] }).length;
    }
    return turns.slice(0, TURNS);
  }

  test('has at most 12 events and a size that does not grow with the conversation', async () => {
    const run = await world.start({
      runId: 'turns',
      budget: { maxTurns: 'unlimited', maxToolCalls: 'unlimited', maxCostMicroUsd: 'unlimited' },
      replies: ({ assistantMessages: n }) =>
        n < TURNS ? read(`item-${String(n).padStart(3, '0')}`) : say('Finished.'),
    });
    const { history } = await world.ended(run);
    const turns = turnsOf(history);
    expect(turns).toHaveLength(TURNS);
    // A task that was split by a busy machine is no turn of its own; most turns are not.
    const sizes = turns.map(({ events }) => events).toSorted((a, b) => a - b);
    expect(sizes[Math.floor(TURNS / 2)]).toBeLessThanOrEqual(12);
    expect(sizes.at(-1)).toBeLessThanOrEqual(16);
    const near = (turn: number) =>
      turns
        .slice(turn - 2, turn + 2)
        .map(({ bytes }) => bytes)
        .toSorted((a, b) => a - b)[1]!;
    expect(near(40) / near(5)).toBeLessThan(GROWTH_MAX);
  });
});
