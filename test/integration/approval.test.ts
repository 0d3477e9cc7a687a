import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowFailedError } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import type { RunHandle } from '../../client/runs/run-handle.js';
import type { Decision } from '../../core/state/ask.js';
import type { AskView } from '../../core/state/ask-view.js';
import { APPROVER } from './support/agents.js';
import {
  ofType,
  openAsk,
  pay,
  read,
  say,
  startWorld,
  until,
  warnings,
  type StartIn,
  type World,
} from './support/world.js';

function decisionOn(ask: AskView, over: Partial<Decision> = {}): Decision {
  const { askId, argsHash } = ask;
  return {
    v: 1,
    askId,
    argsHash,
    decision: 'approve',
    decidedAt: Date.now(),
    ...APPROVER,
    ...over,
  };
}

interface Parked {
  readonly run: RunHandle;
  readonly ask: AskView;
}

async function park(world: World, runId: string, over: Partial<StartIn> = {}): Promise<Parked> {
  const replies = [pay('pay.asked'), say('Finished.')];
  const run = await world.start({ runId, replies, ...over });
  return { run, ask: await openAsk(run) };
}

describe('a question that waits for a person', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.stop());

  const verdictOn = async (run: RunHandle, decision: Decision) => {
    const delivery = await run.decide(decision);
    return delivery.delivered === 'update' ? delivery.verdict : delivery;
  };

  test.concurrent('a decision that meets a cancellation is told that the run ends', async () => {
    const { run, ask } = await park(world, 'meets-cancel');
    await run.cancel();
    const refusal = await run.approve(ask.askId, APPROVER).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: 'DecisionRejected',
      details: { reason: 'run_closing' },
      hint: expect.stringContaining('The run is ending or has ended') as string,
    });
  });

  test.concurrent('an approval starts the one call it names, and nothing before it', async () => {
    const { run, ask } = await park(world, 'approved');
    expect(world.service.visits('approved', 'before')).toEqual([]);
    expect(await verdictOn(run, decisionOn(ask))).toEqual({ accepted: true, outcome: 'approved' });
    const { result, events } = await world.ended(run);
    expect(result).toMatchObject({ completed: true, counters: { toolCalls: 1 } });
    expect(world.service.visits('approved', 'effect')).toHaveLength(1);
    expect(ofType(events, 'approval_resolved')).toMatchObject([
      { askId: ask.askId, outcome: 'approved', by: [APPROVER.by] },
    ]);
    expect(result.counters.waitingMs).toBeGreaterThan(0);
  });

  test.concurrent(
    'a rejection is told to the model with its reason, and the tool never runs',
    async () => {
      const { run, ask } = await park(world, 'rejected');
      await run.reject(ask.askId, { ...APPROVER, reason: 'too expensive' });
      const { result, events } = await world.ended(run);
      expect(result).toMatchObject({ completed: true, counters: { deniedCalls: 1, toolCalls: 0 } });
      expect(ofType(events, 'tool_finished')).toMatchObject([
        { code: 'approval_rejected', started: false },
      ]);
      expect(world.service.visits('rejected', 'before')).toEqual([]);
      expect(world.requests('rejected').at(-1)?.body).toContain('too expensive');
    },
  );

  test.concurrent(
    'decisions that cannot count are answered with why, and the question stays open',
    async () => {
      const { run, ask } = await park(world, 'verdicts', {
        task: { goal: 'Pay.', caller: 'boss' },
      });
      const says = (over: Partial<Decision>) => verdictOn(run, decisionOn(ask, over));
      expect(await says({ askId: `${ask.askId}x`, by: 'a' })).toMatchObject({
        reason: 'unknown_ask',
      });
      expect(await says({ askId: 'elsewhere:1', by: 'a' })).toMatchObject({
        reason: 'unknown_ask',
      });
      expect(await says({ argsHash: 'f'.repeat(64) })).toMatchObject({ reason: 'mismatched' });
      expect(await says({ argsHash: '' })).toMatchObject({ reason: 'vague' });
      expect(await says({ roles: ['intern'] })).toMatchObject({ reason: 'role_missing' });
      expect(await says({ by: 'boss' })).toMatchObject({ reason: 'own_request' });
      expect(await says({ decision: 'happened' })).toMatchObject({ reason: 'not_applicable' });
      expect(await says({ decidedAt: ask.expiresAt + 1 })).toMatchObject({ reason: 'late' });
      expect((await run.state()).status).toBe('awaiting_approval');
      expect(await says({})).toEqual({ accepted: true, outcome: 'approved' });
      const { events } = await world.ended(run);
      expect(world.service.visits('verdicts', 'effect')).toHaveLength(1);
      expect(warnings(events)).toEqual(
        expect.arrayContaining(['approval_mismatch', 'approval_vague', 'approval_late']),
      );
    },
  );

  test.concurrent(
    'the second decision on a question does not count, whoever makes it',
    async () => {
      const { run, ask } = await park(world, 'second', {
        replies: [pay('pay.asked'), say('Paid.')],
      });
      // Held, so that the run is still there when the second decision arrives.
      const reached = world.service.hold('second', 'before');
      const [first, second] = await Promise.all([
        verdictOn(run, decisionOn(ask)),
        verdictOn(run, decisionOn(ask, { by: 'olga', decision: 'reject' })),
      ]);
      const accepted = [first, second].filter(
        (verdict) => 'accepted' in verdict && verdict.accepted,
      );
      expect(accepted).toHaveLength(1);
      if (accepted[0] === first) {
        await reached;
        const again = await verdictOn(run, decisionOn(ask, { by: 'ines' }));
        expect(again).toMatchObject({ accepted: false });
        world.service.releaseAll();
      }
      await world.ended(run);
      expect(world.service.visits('second', 'effect').length).toBe(accepted[0] === first ? 1 : 0);
    },
  );

  test.concurrent(
    'an expired question stops the run, and a later decision is told that it ended',
    async () => {
      const run = await world.start({
        runId: 'expired',
        replies: [pay('pay.asked')],
        settings: { approvalTimeoutMs: 300 },
      });
      const { result, events } = await world.ended(run);
      const [ask] = ofType(events, 'approval_requested');
      expect(result).toMatchObject({
        stopReason: 'needs_human',
        detail: 'approval_timeout',
        nextSafeAction: expect.stringContaining('pay.asked'),
      });
      expect(ofType(events, 'approval_resolved')).toMatchObject([{ outcome: 'expired' }]);
      expect(await verdictOn(run, decisionOn(ask!))).toMatchObject({ reason: 'run_closing' });
      expect(world.service.visits('expired', 'before')).toEqual([]);
    },
  );

  test.concurrent('an expired question can count as a no, and the run goes on', async () => {
    // A conversation is still there when the late decision comes, however long that takes.
    const run = await world.start({
      runId: 'lapsed',
      agent: 'talker',
      settings: { approvalTimeoutMs: 300, onApprovalTimeout: 'reject' },
      replies: [pay('pay.asked'), say('It was not paid.')],
    });
    await until('the next message to be awaited', async () =>
      (await run.state()).status === 'awaiting_user' ? true : undefined,
    );
    const [ask] = ofType(await world.events('lapsed'), 'approval_requested');
    expect(await verdictOn(run, decisionOn(ask!))).toMatchObject({ reason: 'late' });
    await run.close();
    const { result, events } = await world.ended(run);
    expect(result.stopReason).toBe('completed');
    expect(ofType(events, 'tool_finished').map(({ code }) => code)).toEqual(['approval_expired']);
    expect(world.service.visits('lapsed', 'before')).toEqual([]);
  });

  test.concurrent(
    'an interrupt ends the waiting, withdraws the question and executes nothing',
    async () => {
      const { run, ask } = await park(world, 'interrupted');
      await run.interrupt();
      const { result, events } = await world.ended(run);
      expect(result).toMatchObject({
        status: 'cancelled',
        stopReason: 'interrupted',
        phase: 'before_tools',
      });
      expect(ofType(events, 'approval_withdrawn')).toMatchObject([{ askId: ask.askId }]);
      expect(ofType(events, 'tool_finished')).toMatchObject([
        { code: 'interrupted', synthetic: true, started: false },
      ]);
      expect(world.service.visits('interrupted', 'before')).toEqual([]);
      expect(
        await world.store.listAsks('default', {
          runId: 'interrupted',
          pendingOnly: true,
          limit: 9,
        }),
      ).toEqual([]);
    },
  );

  test.concurrent(
    'a cancel in Temporal is an ordinary end: completed there, aborted here',
    async () => {
      const { run } = await park(world, 'cancelled');
      await world.raw.workflow.getHandle('cancelled').cancel();
      const { result } = await world.ended(run);
      expect(result).toMatchObject({ status: 'cancelled', stopReason: 'aborted' });
      expect(await run.execution()).toMatchObject({ status: 'COMPLETED' });
    },
  );

  test.concurrent('a cancel is Cancelled in Temporal too when the run propagates it', async () => {
    const { run } = await park(world, 'propagated', { settings: { propagateCancellation: true } });
    await run.cancel();
    const failure = await world.raw.workflow
      .getHandle('propagated')
      .result()
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(WorkflowFailedError);
    expect((failure as WorkflowFailedError).cause).toBeInstanceOf(CancelledFailure);
    expect(await run.execution()).toMatchObject({ status: 'CANCELLED' });
    const events = await world.events('propagated');
    expect(events.at(-1)).toMatchObject({ type: 'run_result', result: { stopReason: 'aborted' } });
    await expect(run.result()).rejects.toMatchObject({ code: 'Aborted' });
  });

  test.concurrent(
    'several calls of one reply ask one after the other, each bound to its own arguments',
    async () => {
      const two = { calls: [...pay('pay.asked', 100).calls, ...pay('pay.asked', 200).calls] };
      const { run, ask } = await park(world, 'pair', { replies: [two, read(), say('Finished.')] });
      expect(ask.args).toMatchObject({ amountCents: 100 });
      await verdictOn(run, decisionOn(ask));
      const next = await until('the second question', async () =>
        (await run.pendingApprovals()).find((other) => other.askId !== ask.askId),
      );
      expect(next.args).toMatchObject({ amountCents: 200 });
      expect(await verdictOn(run, decisionOn(next, { argsHash: ask.argsHash }))).toMatchObject({
        reason: 'mismatched',
      });
      await verdictOn(run, decisionOn(next));
      await world.ended(run);
      const keys = world.service.visits('pair', 'effect').map(({ key }) => key);
      expect(keys).toEqual(['pair:0:0', 'pair:0:1']);
    },
  );
});

describe('a run parked for approval outlives the processes around it', () => {
  let world: World;
  const parked = new Map<string, Parked>();
  let refusal: unknown;
  let roleless: unknown;
  const EXPIRY_MS = 8_000;

  const signal = async (runId: string, over: Partial<Decision> = {}) => {
    const { ask } = parked.get(runId)!;
    await world.raw.workflow.getHandle(runId).signal('resolveApproval', decisionOn(ask, over));
  };

  beforeAll(async () => {
    world = await startWorld({ ownServer: true, worker: false });
    const worker = await world.spawn();
    const short = { settings: { approvalTimeoutMs: EXPIRY_MS } };
    const runs: readonly [string, Partial<StartIn>][] = [
      ['kept', {}],
      ['in-time', short],
      ['in-time-delivered-late', short],
      ['late', short],
      ['refused-late', short],
      ['server-only', {}],
    ];
    const parkOne = async ([runId, over]: (typeof runs)[number]) =>
      parked.set(runId, await park(world, runId, over));
    await Promise.all(runs.map(parkOne));
    await worker.kill();
    await world.server.kill();
    await world.server.restart();
    const asked = parked.get('in-time')!.ask;
    await signal('kept');
    await signal('kept');
    await signal('kept', { by: 'olga', decision: 'reject' });
    await signal('in-time', { decidedAt: Math.min(Date.now(), asked.expiresAt - 1) });
    const intern = { by: 'ines', roles: ['intern'] };
    const late = parked.get('refused-late')!;
    roleless = await late.run.approve(late.ask.askId, intern).catch((error: unknown) => error);
    const { expiresAt } = parked.get('late')!.ask;
    await sleep(Math.max(0, expiresAt - Date.now()) + 500);
    await signal('in-time-delivered-late', {
      decidedAt: parked.get('in-time-delivered-late')!.ask.expiresAt,
    });
    await signal('late', { decidedAt: expiresAt + 1 });
    refusal = await late.run.approve(late.ask.askId, APPROVER).catch((error: unknown) => error);
    await world.spawn();
  });
  afterAll(() => world.stop());

  test('the approval given while nothing was there to take it counts, once', async () => {
    const { result, events } = await world.ended(parked.get('kept')!.run);
    expect(result).toMatchObject({ completed: true, answer: { text: 'Finished.' } });
    expect(world.service.visits('kept', 'effect')).toHaveLength(1);
    expect(ofType(events, 'approval_requested')).toHaveLength(1);
    expect(ofType(events, 'approval_resolved')).toMatchObject([{ outcome: 'approved' }]);
    expect(warnings(events)).toEqual(['approval_duplicate', 'decision_ignored']);
  });

  test.each(['in-time', 'in-time-delivered-late'])(
    'a decision made before the expiry counts although the worker learned of it after: %s',
    async (runId) => {
      const { result, events } = await world.ended(parked.get(runId)!.run);
      expect(result.stopReason).toBe('completed');
      expect(ofType(events, 'approval_resolved')).toMatchObject([{ outcome: 'approved' }]);
      expect(world.service.visits(runId, 'effect')).toHaveLength(1);
    },
  );

  test('a decision made after the expiry does not count', async () => {
    const { result, events } = await world.ended(parked.get('late')!.run);
    expect(result).toMatchObject({ stopReason: 'needs_human', detail: 'approval_timeout' });
    expect(warnings(events)).toEqual(['approval_late']);
    expect(world.service.visits('late', 'before')).toEqual([]);
  });

  test('whoever approves after the expiry is told so, also while no worker is there to say it', async () => {
    const { run, ask } = parked.get('refused-late')!;
    expect(refusal).toMatchObject({
      code: 'DecisionRejected',
      message: expect.stringContaining(new Date(ask.expiresAt).toISOString()),
      details: { reason: 'late', unheard: true, askId: ask.askId, runId: run.runId },
    });
    const { result } = await world.ended(run);
    expect(result).toMatchObject({ stopReason: 'needs_human', detail: 'approval_timeout' });
    expect(world.service.visits('refused-late', 'before')).toEqual([]);
  });

  test('whoever lacks the role is told so, also while no worker is there to say it', () => {
    expect(roleless).toMatchObject({
      message: expect.stringContaining('needs one of the roles manager'),
      hint: expect.stringContaining('--as ines --role manager'),
      details: { reason: 'role_missing' },
    });
  });

  test('a worker that keeps running gets on with its run after the server was killed', async () => {
    const { run, ask } = parked.get('server-only')!;
    await world.server.kill();
    await world.server.restart();
    const delivery = await until('an answer', () =>
      run.approve(ask.askId, APPROVER).catch(() => undefined),
    );
    expect(delivery).toBeDefined();
    const { result } = await world.ended(run);
    expect(result.completed).toBe(true);
    expect(world.service.visits('server-only', 'effect')).toHaveLength(1);
  });
});
