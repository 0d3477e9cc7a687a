/**
 * The story of a goal: three cycles that each write a note, with a check that counts them, a plan, a reviewer that
 * lets the goal sleep, and a person who steers in the first cycle.
 */
import type { GoalDefinition } from '../../../core/state/goal/definition.js';
import type { GoalMessage } from '../../../core/state/goal/message.js';
import { normalGoal } from '../../../authoring/index.js';
import { goalLeft } from '../../../evaluation/scripted/goal-left.js';
import { AGENT, APPROVER } from './agents.js';
import type { Inside } from './kill-points.js';
import {
  ENDED_LIMIT_MS,
  HEARTBEATS,
  nameless,
  TENANT,
  WORKFLOW_TASK_TIMEOUT,
  type Played,
  type Stage,
  type Tale,
  type Telling,
} from './killed-stage.js';
import { goalStoryWith, isReview, SAID } from './killed-goal-story.js';
import { failedTasks, type World } from './world.js';

export const CYCLES = 3;
const FIRST = ':c1';

const DEFINITION: GoalDefinition = {
  objective: 'Three notes are written.',
  constraints: ['Write each once.'],
  agent: AGENT,
  done: { all: [{ check: 'notes', path: 'written', equals: CYCLES }, { plan: 'complete' }] },
  validation: [
    { name: 'notes', tool: 'notes.count', measure: { path: 'written', better: 'higher' } },
  ],
  reviewer: { roles: [...APPROVER.roles] },
  budget: { maxCostMicroUsd: 20_000_000, maxCycles: 10 },
  cycle: { maxCostMicroUsd: 2_000_000, maxTurns: 6, heartbeatMs: HEARTBEATS },
};

export const GOAL_TALE: Tale = {
  wire: {
    runId: /(killed-\d{3})(:c\d+)?/,
    activity:
      /open_goal|prepare_cycle|close_cycle|run_check|ask_judge|save_checkpoint|open_run|call_model|execute_tool|reconcile_tool|flush|close_run/,
    decision: /"sleep"|agentRun|childEnded/,
  },
  start,
  inside: insideOf,
  people: steering,
  observed,
};

async function start({ raw, script }: World, { runId, taskQueue, what }: Telling): Promise<void> {
  const story = goalStoryWith(what);
  for (const id of [runId, ...cyclesOf(runId)]) script(id, story);
  await raw.workflow.start('goalRun', {
    workflowId: runId,
    taskQueue,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    args: [{ v: 1, goal: normalGoal(DEFINITION) }],
  });
}

function cyclesOf(goalId: string): readonly string[] {
  return Array.from({ length: CYCLES + 1 }, (_, index) => `${goalId}:c${index + 1}`);
}

/** A person speaks once, by signal, when the first cycle has begun to work. */
function steering({ world, told }: Pick<Stage, 'world' | 'told'>): () => Promise<void> {
  const steered = new Set<string>();
  return async () => {
    const working = new Set(world.model.requests().map(({ runId }) => runId));
    for (const goalId of told) {
      if (steered.has(goalId) || !working.has(`${goalId}${FIRST}`)) continue;
      steered.add(goalId);
      const message: GoalMessage = {
        v: 1,
        id: 'said-1',
        type: 'steer',
        text: SAID,
        at: Date.now(),
        by: APPROVER.by,
        roles: APPROVER.roles,
      };
      await world.raw.workflow.getHandle(goalId).signal('goalMessage', message);
    }
  };
}

function insideOf({ world }: Stage, goalId: string, what: Inside): () => Promise<boolean> {
  const child = `${goalId}${FIRST}`;
  const held = (phase: 'before' | 'after') => {
    let there = false;
    void world.service.hold(child, phase).then(() => (there = true));
    return () => Promise.resolve(there);
  };
  switch (what) {
    case 'before an effect':
      return held('before');
    case 'after an effect':
      return held('after');
    case 'in the middle of a reply':
      return async () => world.requests(child).length > 0;
    case 'in the middle of a review':
      return async () => world.requests(goalId).some(({ body = '' }) => isReview(body));
    default:
      throw new Error(`no goal is ${what}`);
  }
}

async function observed(world: World, goalId: string): Promise<Played> {
  const { store, service } = world;
  await world.client.goal(goalId).result({ timeoutMs: ENDED_LIMIT_MS });
  const left = await goalLeft(store, { tenant: TENANT, runId: goalId });
  if (left === undefined) throw new Error(`${goalId} has no result in the store`);
  const { result, events, tree, memory, cycles } = left;
  const workflows = [goalId, ...cycles];
  const failed = await Promise.all(
    workflows.map(async (id) =>
      failedTasks(await world.history(id)).map((why) => `a workflow task of ${id} failed: ${why}`),
    ),
  );
  const costs = await Promise.all(
    workflows.map(async (id) => (await store.attemptedCost(TENANT, id)).costMicroUsd),
  );
  const bodies = cycles.map((id) => world.requests(id).map(({ body = '' }) => plain(body)));
  const reviews = world.requests(goalId).length;
  const asked = bodies.flatMap((ofCycle) => [...new Set(ofCycle)]);
  const seen = nameless(
    {
      observation: {
        result,
        events,
        transcript: [],
        violations: [...left.violations, ...failed.flat()],
        requests: [],
        executions: [],
        effects: {},
        maxInFlight: 1,
        persisted: 0,
        resumedWith: [],
        tookMs: 0,
        goal: {
          tree,
          briefs: bodies.map(([first = '']) => first),
          ...(memory !== undefined && { memory }),
        },
      },
      // A tool that is keyed is called again under its key when its end was lost.
      effects: [
        ...new Set(cycles.flatMap((id) => service.visits(id, 'effect')).map(({ key }) => key)),
      ],
      asked,
      askedAgain: bodies.flat().length > asked.length || reviews > CYCLES - 1,
    },
    goalId,
  );
  const attemptedMicroUsd = costs.reduce((sum, cost) => sum + cost, 0);
  return { ...seen, runId: goalId, workflows, attemptedMicroUsd };
}

/** Marks around quoted data are random, and what a review says of money is told by its costs. */
const MARK = /⟦(\/?)[0-9a-f]+/g;
const MONEY = /spent \$[\d.]+, reserved \$[\d.]+ of \$[\d.]+; forecast \$[\d.]+/g;

function plain(body: string): string {
  return body.replaceAll(MARK, '⟦$1').replaceAll(MONEY, 'money');
}
