/** Forks of goals: a new goal goes on from a checkpoint, with what is left, and repeats nothing without a person. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { foldOf, type GoalFold } from '../../recording/fold.js';
import { goalForkAt } from '../../recording/goal-fork.js';
import { bundleText } from '../../replay/bundle.js';
import { exportTree } from '../../replay/export-run.js';
import { replayRun } from '../../replay/strict-replay.js';
import { aloneOf, runsOf } from '../../replay/tree.js';
import { AGENT, APPROVER } from './support/agents.js';
import { forked, holdfast, type Decision } from './support/forking.js';
import { ANY_RUN, ofType, pay, say, startWorld, until, type World } from './support/world.js';

const PARENT = 'paid';
const CYCLES = 2;
const LIMITS = { timeoutMs: 150_000 };
const DEFINITION = {
  objective: 'Two payments are made.',
  agent: AGENT,
  done: { all: [{ state: 'paid', equals: true }] },
  budget: {
    maxCostMicroUsd: 5_000_000,
    maxCycles: CYCLES,
    maxToolCalls: 50,
    deadlineMs: 86_400_000,
  },
  cycle: { maxCostMicroUsd: 500_000 },
} as const;

let world: World;
let folder: string;
let fold: GoalFold;
let parent: Awaited<ReturnType<typeof wholeTree>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-fork-goals-'));
  world = await startWorld();
  // Each cycle pays its own sum: the first 100, the second 200.
  world.script(ANY_RUN, ({ runId, assistantMessages }) => {
    const n = Number(/:c(\d+)$/.exec(runId)?.[1]);
    const paid = runId.startsWith(PARENT) ? n : n + begunBehind;
    return assistantMessages === 0 ? pay('pay.keyed', 100 * paid) : say('Paid.');
  });
  await world.client.startGoal({ goalId: PARENT, definition: DEFINITION });
  await world.client.goal(PARENT).result(LIMITS);
  await until(
    'the end of the workflow',
    async () =>
      (await world.raw.workflow.getHandle(PARENT).describe()).status.name === 'COMPLETED' ||
      undefined,
  );
  parent = await wholeTree(PARENT);
  const folded = foldOf(parent);
  if (folded.kind !== 'goal') throw new Error('not a goal');
  fold = folded;
});
afterAll(async () => {
  await world?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Cycles that the parent had closed where the fork at hand begins. */
let begunBehind = 0;

function wholeTree(runId: string) {
  return exportTree({ ...world.place, store: world.store }, { tenant: 'default', runId });
}

/** The first step of a checkpoint behind so many cycles: the next cycle has begun with it. */
function behind(closed: number): number {
  return fold.steps.find(({ step }) => {
    const { checkpoint, pass, cycles, cycle } = fold.at(step).after;
    return checkpoint !== undefined && pass === undefined && cycles === closed + 1 && cycle;
  })!.step;
}

/** A fork to its end, with one answer to each question of its cycles; gives the sums that were asked about and paid. */
async function decided(goalId: string, decision: Decision) {
  const asked = new Set<string>();
  await until(`the end of ${goalId}`, async () => {
    const { cycles } = await world.client
      .goal(goalId)
      .state()
      .catch(() => ({ cycles: CYCLES }));
    for (let n = 1; n <= cycles; n += 1) {
      const runId = `${goalId}:c${n}`;
      for (const one of await world.store.listAsks('default', {
        runId,
        pendingOnly: true,
        limit: 5,
      })) {
        if (asked.has(one.askId)) continue;
        asked.add(one.askId);
        expect(one.repeats?.earlier.map((earlier) => earlier.runId)).toContain(
          `${PARENT}:c${n + begunBehind}`,
        );
        const { askId, argsHash } = one;
        const word = {
          v: 1,
          ...APPROVER,
          askId,
          argsHash,
          decision,
          decidedAt: Date.now(),
        } as const;
        await world.client.handle(runId).decide(word);
      }
    }
    return (await world.store.getRun('default', goalId))?.result;
  });
  const { members = [] } = await wholeTree(goalId);
  const effects = members.flatMap(({ run }) => world.service.visits(run.runId, 'effect'));
  return { asked: asked.size, effects: effects.length };
}

test('a fork of a goal goes on behind each of its cycles with what is left, asks before a cycle pays again, and leaves its parent as it was', async () => {
  for (const closed of [0, 1]) {
    for (const decision of ['reject', 'approve'] as const) {
      const step = behind(closed);
      begunBehind = closed;
      const goalId = await forked(world, PARENT, '--at', `${step}`, '--message', 'Look twice.');
      const left = CYCLES - closed;
      expect(await decided(goalId, decision)).toEqual({
        asked: left,
        effects: decision === 'approve' ? left : 0,
      });
      const [started] = ofType(await world.events(goalId), 'goal_started');
      const { money } = fold.at(step).after;
      expect(started).toMatchObject({
        maxCostMicroUsd: DEFINITION.budget.maxCostMicroUsd - money.spentMicroUsd,
      });
      expect((await world.store.getRun('default', goalId))?.result).toMatchObject({
        stopReason: 'max_turns',
        goal: { cycles: left },
      });
      const own = await wholeTree(goalId);
      for (const run of runsOf(own))
        expect(await replayRun(aloneOf(own, run))).toMatchObject({ equal: true });
    }
  }
  const { exportedAt: _, ...after } = await wholeTree(PARENT);
  const { exportedAt: __, ...was } = parent;
  expect(after).toEqual(was);
  const forks = await world.store.forksOf('default', PARENT, 9);
  expect(forks.map(({ parent: of }) => of)).toEqual(Array(4).fill(PARENT));
});

test('a plan says from where a fork of a goal would go on, what is left, and what its cycles would ask about', async () => {
  const plan = async (...words: readonly string[]) => {
    const { code, out } = await holdfast(world, 'fork', ...words, '--plan');
    return { code, out, data: JSON.parse(out) as Record<string, unknown> };
  };
  const { data } = await plan(PARENT, '--at', `${behind(1)}`);
  expect(data).toMatchObject({
    runId: PARENT,
    cycles: 1,
    budget: { maxCycles: 1, maxToolCalls: 49 },
    notExecuted: [{ n: 2, runId: `${PARENT}:c2` }],
    handedOver: [
      { runId: `${PARENT}:c1`, tool: 'pay.keyed' },
      { runId: `${PARENT}:c2`, tool: 'pay.keyed' },
    ],
  });
  const within = fold.steps.findLast(({ step }) => fold.at(step).after.cycle?.n === 2)!.step;
  expect((await plan(PARENT, '--at', `${within}`)).data).toMatchObject({
    checkpoint: data['checkpoint'],
    notExecuted: [{ n: 2, runId: `${PARENT}:c2` }],
  });
  const more = await plan(PARENT, '--at', `${behind(1)}`, '--budget', 'maxCycles=9');
  expect(more.data).toMatchObject({ budget: { maxCycles: 8 } });
});

test('what cannot be right is refused, and says what can', async () => {
  const at = `${behind(1)}`;
  const file = join(folder, 'goal.json');
  writeFileSync(file, bundleText(parent));
  const hidden = join(folder, 'hidden.json');
  const redactions = [{ rule: 'r', markers: ['x'], places: ['/events'], count: 1 }];
  writeFileSync(hidden, bundleText({ ...parent, redactions }));
  const last = `${fold.steps.length}`;
  const refusals = [
    [[PARENT, '--at', at], `${PARENT}:c1 --at STEP`],
    [[PARENT, '--at', at, '--live', '--model', 'm'], '--model changes a run'],
    [[PARENT, '--at', '1', '--live'], 'not open at this step'],
    [[PARENT, '--at', '2', '--live'], 'Name step'],
    [[PARENT, '--at', last, '--live'], 'ending at this step'],
    [[PARENT, '--at', at, '--live', '--budget', 'maxCycles=1'], 'nothing was left'],
    [[hidden, '--at', at, '--live'], 'redacted'],
  ] as const;
  for (const [words, said] of refusals) {
    const { code, out, err } = await holdfast(world, 'fork', ...words);
    expect([said, code === 0, out + err]).toEqual([said, false, expect.stringContaining(said)]);
  }
  const elsewhere = await startWorld({ worker: false });
  try {
    const { out } = await holdfast(elsewhere, 'fork', file, '--at', at, '--live');
    expect(out).toContain('nothing of the goal');
  } finally {
    await elsewhere.stop();
  }
  // The id and the state of a fork of a goal begin no run.
  const row = await world.store.putFork({
    tenant: 'default',
    runId: 'of-a-goal',
    parent: PARENT,
    step: 1,
    body: '{"goal":"paid"}',
    at: 1,
  });
  const start = await world.raw.workflow.start('agentRun', {
    workflowId: 'of-a-goal',
    taskQueue: 'holdfast',
    args: [
      { v: 1, agent: AGENT, task: { goal: 'Pay.' }, fork: { id: PARENT, step: 1, digest: row } },
    ],
  });
  await expect(start.result()).rejects.toMatchObject({ name: 'WorkflowFailedError' });
});

/** So little time is left that the fork ends before any of its cycles. */
function beginsLate(): { readonly step: number; readonly budget: { readonly deadlineMs: number } } {
  const step = behind(1);
  const { now, startedAt } = fold.at(step).after;
  return { step, budget: { deadlineMs: now - startedAt + 1 } };
}

test('a message to a fork that has ended before it says so with the id of the fork, and the command exits by its end', async () => {
  const { step, budget } = beginsLate();
  const limit = ['--budget', `deadlineMs=${budget.deadlineMs}`];
  const words = ['fork', PARENT, '--at', `${step}`, '--live', ...limit, '--message', 'Leave.'];
  const { code, out, err } = await holdfast(world, ...words);
  const said = JSON.parse(out) as { readonly runId: string; readonly messageRead?: boolean };
  expect(await world.client.goal(said.runId).result(LIMITS)).toMatchObject({ completed: false });
  // The message may just have come in time.
  expect([code, said.messageRead, err]).toEqual(
    code === 0
      ? [0, undefined, '']
      : [3, false, expect.stringMatching('The goal has ended, and has not read the message.')],
  );
  const plan = goalForkAt(fold, step, budget);
  const { checkpoint, definition, agent, pace } = plan;
  const forkId = 'late';
  const fork = { checkpoint, definition, agent, pace, budget: plan.budget, step, forkId };
  const options = { ...fork, goalId: PARENT, store: world.store };
  await (await world.client.forkGoal(options)).result(LIMITS);
  await expect(world.client.forkGoal({ ...options, message: 'Leave.' })).rejects.toMatchObject({
    code: 'RunExists',
    message: expect.stringContaining('other changes'),
    details: { runId: forkId },
  });
});
