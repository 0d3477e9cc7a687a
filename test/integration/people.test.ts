import type { RunHandle } from '../../client/runs/run-handle.js';
import type { AskView } from '../../core/state/ask-view.js';
import { replayRuns } from '../../testing/replay.js';
import { APPROVER } from './support/agents.js';
import {
  call,
  ofType,
  openAsk,
  pay,
  read,
  say,
  startWorld,
  until,
  type StartIn,
  type World,
} from './support/world.js';

const LESS = { order: 'A1', amountCents: 400 };

describe('what people say besides yes and no', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(async () => {
    const runIds = ['modified', 'invalid', 'replaced', 'stopped', 'asked', 'mode', 'budget'];
    expect([...(await replayRuns(world.place, runIds))]).toEqual([]);
    await world.stop();
  });

  async function park(
    runId: string,
    over: Partial<StartIn> = {},
  ): Promise<{ readonly run: RunHandle; readonly ask: AskView }> {
    const run = await world.start({ runId, replies: [pay('pay.asked'), say('Done.')], ...over });
    return { run, ask: await openAsk(run) };
  }

  test.concurrent(
    'a correction is answered once it was checked, and runs as corrected',
    async () => {
      const { run, ask } = await park('modified');
      const delivery = await run.modify(ask.askId, LESS, APPROVER);
      expect(delivery).toEqual({
        delivered: 'update',
        verdict: { accepted: true, outcome: 'modified' },
      });
      const { result, events } = await world.ended(run);
      expect(result).toMatchObject({ completed: true, counters: { toolCalls: 1 } });
      expect(ofType(events, 'tool_started')).toMatchObject([{ args: LESS, key: 'modified:0:r1' }]);
      expect(world.service.visits('modified', 'effect')).toMatchObject([{ key: 'modified:0:r1' }]);
      expect(world.requests('modified').at(-1)?.body).toContain(
        'User modified this call: executed',
      );
    },
  );

  test.concurrent('one that does not fit the schema is refused to its sender', async () => {
    const { run, ask } = await park('invalid');
    const wrong = run.modify(ask.askId, { ...LESS, amountCents: -1 }, APPROVER);
    await expect(wrong).rejects.toMatchObject({
      code: 'DecisionRejected',
      details: { reason: 'correction_refused' },
    });
    expect(await run.pendingApprovals()).toMatchObject([{ askId: ask.askId }]);
    await run.approve(ask.askId, APPROVER);
    const { result } = await world.ended(run);
    expect(result.completed).toBe(true);
    expect(world.service.visits('invalid', 'effect')).toHaveLength(1);
  });

  test.concurrent('a call can be replaced by another one', async () => {
    const { run, ask } = await park('replaced');
    await run.replace(ask.askId, { tool: 'notes.write', args: { item: 'lamp' } }, APPROVER);
    const { events } = await world.ended(run);
    expect(ofType(events, 'tool_started')).toMatchObject([{ tool: 'notes.write' }]);
    expect(world.requests('replaced').at(-1)?.body).toContain('User replaced this call');
  });

  test.concurrent('a person who stops the run ends a correction that is looked at', async () => {
    const { run, ask } = await park('stopped');
    const [delivery] = await Promise.all([
      run.modify(ask.askId, LESS, APPROVER).catch((error: unknown) => error),
      run.interrupt(),
    ]);
    expect(delivery).toBeDefined();
    const { result } = await world.ended(run);
    expect(['interrupted', 'completed']).toContain(result.stopReason);
  });

  test.concurrent('a question of the model waits for its answer', async () => {
    const asks = call('ask_person', { question: 'Which colour?' });
    const { run, ask } = await park('asked', { replies: [asks, say('Blue it is.')] });
    expect(ask).toMatchObject({ kind: 'input', question: 'Which colour?' });
    await run.answer(ask.askId, { kind: 'text', value: 'blue' }, { by: 'cora' });
    const { result, events } = await world.ended(run);
    expect(result.counters).toMatchObject({ inputRequests: 1, toolCalls: 0 });
    expect(ofType(events, 'input_provided')).toMatchObject([{ outcome: 'answered', by: ['cora'] }]);
    expect(world.requests('asked').at(-1)?.body).toContain('blue');
  });

  test.concurrent('another permission mode withdraws what may not run any more', async () => {
    const { run } = await park('mode');
    await run.setPermissionMode('plan');
    const { result, events } = await world.ended(run);
    expect(result.counters.deniedCalls).toBe(1);
    expect(ofType(events, 'approval_withdrawn')).toHaveLength(1);
    expect(world.service.visits('mode', 'before')).toEqual([]);
  });

  test.concurrent('more of a budget is asked for, and used', async () => {
    const { run, ask } = await park('budget', {
      replies: [read('a'), read('b'), say('Done.')],
      budget: { maxTurns: 1 },
      settings: { onBudget: 'ask' },
    });
    expect(ask).toMatchObject({ kind: 'budget', args: { budget: 'maxTurns', limit: 1 } });
    await run.approve(ask.askId, APPROVER, { amount: 5 });
    const { result } = await world.ended(run);
    expect(result).toMatchObject({ completed: true, counters: { modelCalls: 3 } });
    const row = await until('the run to be shown', () => world.store.getRun('default', 'budget'));
    expect(row.status).toBe('completed');
  });

  test.concurrent('bypassPermissions needs its unlock', async () => {
    const start = park('bypass', { settings: { permissionMode: 'bypassPermissions' } });
    await expect(start).rejects.toMatchObject({ code: 'InvalidTask' });
  });
});
