import type { RunHandle } from '../../client/runs/run-handle.js';
import { replayRuns } from '../../testing/replay.js';
import { APPROVER } from './support/agents.js';
import {
  call,
  failedTasks,
  ofType,
  openAsk,
  pay,
  read,
  say,
  startWorld,
  until,
  warnings,
  type World,
} from './support/world.js';

/** Temporal suggests to continue as new from this many events on: five turns or so. */
const EVENTS_PER_SEGMENT = 60;
const TURNS = 30;
const SIGNALS_MAX = 200;

let world: World;
beforeAll(async () => {
  const dynamicConfig = [`limit.historyCount.suggestContinueAsNew=${EVENTS_PER_SEGMENT}`];
  world = await startWorld({ dynamicConfig });
});
afterAll(() => world.stop());

/** Signals that mean nothing fill the history until the run has begun another segment. */
async function fillSegment(run: RunHandle): Promise<void> {
  const before = (await run.state()).segment;
  const handle = world.raw.workflow.getHandle(run.runId);
  for (let sent = 0; sent < SIGNALS_MAX; sent += 1) {
    await handle.signal('noise');
    if (sent % 10 === 9 && (await run.state()).segment > before) return;
  }
  throw new Error(`${SIGNALS_MAX} signals filled no segment`);
}

interface Message {
  readonly role: string;
  readonly content: string | readonly { readonly type: string; readonly text?: string }[];
}

function lastMessages(runId: string): readonly Message[] {
  const body = world.requests(runId).at(-1)?.body;
  return (JSON.parse(body!) as { messages: readonly Message[] }).messages;
}

describe('a run that is longer than a history', () => {
  test('goes on over several segments with its counters, its events and its conversation', async () => {
    const run = await world.start({
      runId: 'long',
      budget: { maxTurns: 100, maxToolCalls: 'unlimited' },
      replies: ({ assistantMessages: n }) => (n < TURNS ? read(`item-${n}`) : say('Finished.')),
    });
    const { result, events } = await world.ended(run);
    expect(result).toMatchObject({
      completed: true,
      counters: { modelCalls: TURNS + 1, toolCalls: TURNS, turnCount: TURNS + 1, step: TURNS },
    });
    const crossings = ofType(events, 'transition').filter(
      ({ reason }) => reason === 'continued_as_new',
    ).length;
    expect(crossings).toBeGreaterThanOrEqual(4);
    expect((await run.state()).segment).toBe(crossings);
    const keys = world.service.visits('long', 'read').map(({ key }) => key);
    expect(keys).toEqual(keys.map((_, step) => `long:${step}`));
    const messages = lastMessages('long');
    expect(messages).toHaveLength(1 + 2 * TURNS);
    const text = JSON.stringify(messages);
    const places = keys.map((_, n) => text.indexOf(`"item":"item-${n}"`));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
  });

  test('leaves the histories of its closed segments in the store, and all of them replay', async () => {
    const run = world.client.handle('long');
    await run.result();
    const { segment } = await run.state();
    const archived = await world.store.readHistories('default', 'long');
    expect(archived.map((one) => one.segment)).toEqual(
      new Array(segment).fill(0).map((_, index) => index),
    );
    let previous: string | undefined;
    for (const { execution, history } of archived) {
      const events = JSON.parse(Buffer.from(history).toString()).events;
      const started = events[0].workflowExecutionStartedEventAttributes;
      expect(started.continuedExecutionRunId || undefined).toBe(previous);
      expect(events.at(-1)).toHaveProperty('workflowExecutionContinuedAsNewEventAttributes');
      expect(failedTasks(await world.history('long', execution))).toEqual([]);
      previous = execution;
    }
    const replayed = await replayRuns(world.place, ['long']);
    expect([...replayed]).toEqual([]);
  });
});

describe('the end of a segment', () => {
  test.concurrent(
    'keeps an open question as it was: the approval given after it counts',
    async () => {
      const run = await world.start({
        runId: 'asked',
        replies: [pay('pay.asked'), say('Finished.')],
      });
      const ask = await openAsk(run);
      await fillSegment(run);
      expect(await run.pendingApprovals()).toEqual([ask]);
      await run.approve(ask.askId, APPROVER);
      const { result, events } = await world.ended(run);
      expect(result.completed).toBe(true);
      expect(ofType(events, 'approval_requested')).toHaveLength(1);
      expect(world.service.visits('asked', 'effect')).toHaveLength(1);
      expect(warnings(events)).toContain('rejected_signal');
    },
  );

  test.concurrent('keeps the time of a question: it expires when it would have', async () => {
    const run = await world.start({
      runId: 'expiring',
      settings: { approvalTimeoutMs: 12_000 },
      replies: [pay('pay.asked'), say('Finished.')],
    });
    const ask = await openAsk(run);
    await fillSegment(run);
    expect((await run.pendingApprovals())[0]?.expiresAt).toBe(ask.expiresAt);
    const { result, events } = await world.ended(run);
    expect(result).toMatchObject({ stopReason: 'needs_human', detail: 'approval_timeout' });
    const [resolved] = ofType(events, 'approval_resolved');
    expect(resolved!.stamp.at).toBeGreaterThanOrEqual(ask.expiresAt);
  });

  test.concurrent('takes along the messages that wait, in their order', async () => {
    const reached = world.service.hold('queued', 'read');
    const run = await world.start({
      runId: 'queued',
      replies: [read(), say('Finished.')],
    });
    await reached;
    // Alone they fill the segment, however few tasks bring them.
    const sent = new Array(EVENTS_PER_SEGMENT).fill('').map((_, n) => `message ${n}`);
    for (const text of sent) await run.sendMessage(text);
    await until('all messages', async () =>
      (await run.state()).queuedMessages === sent.length ? true : undefined,
    );
    world.service.releaseAll();
    const { result, events } = await world.ended(run);
    expect(result.completed).toBe(true);
    expect(ofType(events, 'transition').map(({ reason }) => reason)).toContain('continued_as_new');
    expect(ofType(events, 'user_message').map(({ text }) => text)).toEqual(
      sent.map((text) => ({ text })),
    );
    const text = JSON.stringify(lastMessages('queued'));
    const places = sent.map((message) => text.indexOf(`"${message}"`));
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  test.concurrent('finds a conversation waiting for its user, and leaves it waiting', async () => {
    const run = await world.start({
      runId: 'talk',
      agent: 'talker',
      replies: [say('Hello.'), say('Still here.')],
    });
    const ask = await openAsk(run);
    await fillSegment(run);
    // The next segment opens first, and then waits as the one before did.
    const waiting = await until('the conversation to wait again', async () => {
      const state = await run.state();
      return state.status === 'awaiting_user' ? state : undefined;
    });
    expect(waiting.asks).toEqual([ask]);
    await run.sendMessage('Are you there?', 'once');
    const next = await until('the next answer', async () =>
      (await run.pendingApprovals()).find(({ askId }) => askId !== ask.askId),
    );
    await fillSegment(run);
    // An id that was seen two segments ago is still known.
    await run.sendMessage('Are you there?', 'once');
    expect(await run.pendingApprovals()).toEqual([next]);
    await run.close();
    const { result } = await world.ended(run);
    expect(result).toMatchObject({ detail: 'closed', answer: { text: 'Still here.' } });
    expect(lastMessages('talk').map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });

  test.concurrent(
    'keeps a question about what became of a payment, and what is said of it',
    async () => {
      const run = await world.start({
        runId: 'doubtful',
        replies: [call('odd.pay', { how: 'throws' }), say('Finished.')],
      });
      const ask = await openAsk(run);
      expect(ask.kind).toBe('outcome');
      await fillSegment(run);
      expect(await run.pendingApprovals()).toEqual([ask]);
      await run.answer(ask.askId, { kind: 'happened' }, { by: 'maria' });
      const { result, events } = await world.ended(run);
      expect(result).toMatchObject({ completed: true, counters: { toolCalls: 1 } });
      expect(ofType(events, 'tool_started')).toHaveLength(1);
    },
  );

  test.concurrent('keeps a question about a budget, and the limit that is raised', async () => {
    const run = await world.start({
      runId: 'spent',
      settings: { onBudget: 'ask' },
      budget: { maxTurns: 1 },
      replies: [read('one'), read('two'), say('Finished.')],
    });
    const ask = await openAsk(run);
    expect(ask.kind).toBe('budget');
    await fillSegment(run);
    await run.approve(ask.askId, { by: 'maria' }, { amount: 2 });
    const { result } = await world.ended(run);
    expect(result).toMatchObject({ completed: true, counters: { modelCalls: 3 } });
  });

  test.concurrent('keeps standing grants: later calls ask nobody', async () => {
    const run = await world.start({
      runId: 'granted',
      settings: { allowStandingGrants: true },
      replies: [pay('pay.asked', 100), read(), pay('pay.asked', 200), say('Finished.')],
    });
    const ask = await openAsk(run);
    const reached = world.service.hold('granted', 'read');
    const matcher = { tool: 'pay.asked', when: [{ path: 'amountCents', lte: 500 }] };
    await run.approve(ask.askId, APPROVER, { grant: { matcher, uses: 1, expiresInMs: 600_000 } });
    await reached;
    // The segment is full while the tool is at work, and ends after it.
    const handle = world.raw.workflow.getHandle(run.runId);
    for (let sent = 0; sent < EVENTS_PER_SEGMENT; sent += 1) await handle.signal('noise');
    world.service.releaseAll();
    const { result, events } = await world.ended(run);
    expect(result.completed).toBe(true);
    expect(ofType(events, 'approval_requested')).toHaveLength(1);
    expect(ofType(events, 'transition').map(({ reason }) => reason)).toContain('continued_as_new');
    expect(world.service.visits('granted', 'effect')).toHaveLength(2);
  });

  test.concurrent('leaves one line of the run in lists, also when it is terminated', async () => {
    const run = await world.start({ runId: 'listed', replies: [pay('pay.asked')] });
    await openAsk(run);
    await fillSegment(run);
    const lines = async () => {
      const { rows } = await world.client.joinedRuns({ limit: 100 });
      return rows.filter(({ runId }) => runId === 'listed').map(({ status }) => status);
    };
    await until(
      'the question',
      async () => (await lines())[0] === 'awaiting_approval' || undefined,
    );
    expect(await lines()).toEqual(['awaiting_approval']);
    await world.raw.workflow.getHandle('listed').terminate('the operator');
    await until('the end', async () => (await lines())[0] === 'terminated' || undefined);
    expect(await lines()).toEqual(['terminated']);
    const ended = await world.client.joinedRuns({ limit: 100, status: 'terminated' });
    expect(ended.rows.map(({ runId }) => runId)).toEqual(['listed']);
  });

  test.concurrent('finds a paused run, which its user then resumes', async () => {
    const run = await world.start({
      runId: 'paused',
      settings: { interruptMode: 'pause' },
      replies: [pay('pay.asked'), say('Finished.')],
    });
    await openAsk(run);
    await run.interrupt();
    await until('the pause', async () =>
      (await run.state()).status === 'awaiting_user' ? true : undefined,
    );
    await fillSegment(run);
    await run.sendMessage('Go on without it.');
    const { result } = await world.ended(run);
    expect(result).toMatchObject({ completed: true, answer: { text: 'Finished.' } });
    expect(world.service.visits('paused', 'effect')).toEqual([]);
  });
});
