/**
 * Starting a goal.
 * Invariants: a definition that cannot work is refused before anything is sent; the workflow id is the goal's id, so that
 * a repeated start finds the goal instead of making a second one.
 */
import { digestOf, type Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { GoalBudget, StoredDefinition } from '../../core/state/goal/definition.js';
import type { ProposedStep } from '../../core/state/goal/proposal.js';
import { inMicroUsd, type BudgetInUsd } from '../../authoring/budget-in-usd.js';
import { wrongField } from '../../authoring/goal/field.js';
import { normalGoal, type NormalGoal } from '../../authoring/goal/normal-goal.js';
import type { KnownFields } from '../../authoring/known-fields.js';
import { GOAL_RUN } from '../../workflows/messages.js';
import { checkNames, checkWaiting } from '../closed-options.js';
import {
  checkGoal,
  checkGoalId,
  definitionDigest,
  GOAL_PARTS,
  GOAL_REQUEST,
  type GoalRequest,
} from './check-goal.js';
import { asWritten, DEFINITION_MEMO, isKnownGoal } from './known-goal.js';
import { tellGoal } from './tell-goal.js';
import { storeOf, type Link } from '../link.js';
import { refuseUnserved, type WantedAgent } from '../runs/served-agents.js';
import { ownStore, startPrepared } from '../runs/start-workflow.js';
import { afterStart, untilOpen, waitingOf, type HeldUp } from '../runs/until-open.js';

/** A goal that is to be started. */
export interface GoalStartOptions extends GoalRequest {
  /** Default: a new `goal_<ulid>`; at most 96 characters. The same id with the same definition gives that goal. */
  readonly goalId?: string;
  /**
   * Absent: the start is refused when no living worker serves the agent, and waits until the goal is open, so that a bad
   * definition is an error here. True: it waits for a worker as well. False: it waits for nothing.
   */
  readonly wait?: boolean;
  /**
   * Longest wait until it is open, in ms. Default: 30,000; ten minutes while nothing but a worker is late, as when a
   * task was lost with one; with `wait: true` a day.
   */
  readonly openLimitMs?: number;
  /** Told every 8 s while the start waits on for a goal that is not open yet. */
  readonly onHeldUp?: (heldUp: HeldUp) => void;
}

/** How a goal that has ended is started again. */
export interface RestartOptions extends Pick<
  GoalStartOptions,
  'caller' | 'traceId' | 'wait' | 'openLimitMs' | 'onHeldUp'
> {
  /** Of the new goal; default: a new id. */
  readonly goalId?: string;
  /** Where to go on; default: the newest checkpoint. */
  readonly from?: string;
  /** Money and counts begin from zero: what is left out is as in the goal's definition. */
  readonly budget?: Partial<GoalBudget> & BudgetInUsd & { readonly hardMaxCostUsd?: number };
  /** In place of the plan that is carried over. A restart that broke off is repeated with the same `goalId`: its plan is set once. */
  readonly plan?: readonly ProposedStep[];
}

const OPTIONS: KnownFields<GoalStartOptions> = {
  ...GOAL_REQUEST,
  goalId: true,
  wait: true,
  openLimitMs: true,
  onHeldUp: true,
};

/** Gives its id. `signal` ends the wait until the goal is open, not the goal. */
export async function startGoal(
  link: Link,
  options: GoalStartOptions,
  signal?: AbortSignal,
): Promise<string> {
  checkNames(options, OPTIONS, GOAL_PARTS);
  checkWaiting(options);
  const tenant = options.tenant ?? link.tenant;
  const own = { ...link, tenant };
  const goalId = checkGoalId(options.goalId);
  const start = checkGoal({ ...options, tenant });
  const { goal, from } = start;
  const wanted = {
    goalId,
    digest: definitionDigest(goal, from),
    definition: definitionDigest(goal, undefined),
  };
  const { wait } = options;
  const isNamed = options.goalId !== undefined;
  if (isNamed && (await isKnownGoal(own, wanted))) return goalId;
  const waiting = { ...waitingOf(link, options), signal };
  if (wait === undefined) {
    await refuseUnknownAgents(own, goal, { runId: options.goalId, ...waiting });
  }
  const ofStore = await ownStore(own);
  await startPrepared(own, {
    type: GOAL_RUN,
    id: goalId,
    input: { ...start, ...ofStore },
    agent: goal.agent,
    tenant,
    summary: goal.objective,
    memo: { [DEFINITION_MEMO]: wanted.digest },
  }).catch(async (error: unknown) => {
    // Somebody was faster, and theirs has ended already.
    if (!isNamed || !isTaken(error) || !(await isKnownGoal(own, wanted))) throw error;
  });
  // Somebody may have been faster with another definition.
  if (isNamed) await isKnownGoal(own, wanted);
  if (wait !== false) await untilOpen(own, goalId, afterStart(own, waiting, ofStore));
  return goalId;
}

/** Errors: InvalidTask that names the field, ServerUnavailable without any worker, Aborted by the signal. */
async function refuseUnknownAgents(
  link: Link,
  { agent, handoffTo }: Pick<NormalGoal, 'agent' | 'handoffTo'>,
  wanted: Omit<WantedAgent, 'agent'>,
): Promise<void> {
  const fields = [['agent', agent], ...handoffTo.map((name, n) => [`handoffTo.${n}`, name])];
  for (const [path = '', name = ''] of fields) {
    await refuseUnserved(link, { ...wanted, agent: name }).catch((error: unknown) => {
      if (!(error instanceof HoldfastError && error.code === 'UnknownAgent')) throw error;
      const { message, hint, details } = error;
      throw new HoldfastError('InvalidTask', `The goal: ${path} cannot be used: ${message}`, {
        ...(hint !== undefined && { hint }),
        details: { ...details, path },
      });
    });
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof HoldfastError && error.code === 'RunExists';
}

/** A new goal with plan, state and measurements of another one; gives its id. Errors: as startGoal; StoreUnavailable, RunNotFound. */
export async function restartGoal(
  link: Link,
  goalId: string,
  options: RestartOptions = {},
): Promise<string> {
  const { from: checkpoint, budget: given, plan, goalId: newId, ...rest } = options;
  const wrong = (field: string, why: string) => wrongField('The goal', `budget.${field}`, why);
  const budget = inMicroUsd(given, wrong) as Partial<GoalBudget> | undefined;
  const definition = await definitionOfGoal(link, goalId);
  const started = await startGoal(link, {
    ...rest,
    ...(newId !== undefined && { goalId: newId }),
    definition: {
      ...definition,
      // A higher limit of a person than the old one raises the highest as well, unless that is said.
      budget: withRoom({ ...definition.budget, ...budget }, budget),
    },
    from: { goalId, ...(checkpoint !== undefined && { checkpoint }) },
  });
  if (plan !== undefined) {
    // By its id it counts once: a restart that is repeated may have got no further than the start, or set the plan.
    const id = `restart:${digestOf(plan as unknown as Json)}`;
    const who = { id, ...(options.caller !== undefined && { by: options.caller }) };
    await tellGoal(link, { goalId: started, said: { type: 'setPlan', steps: plan }, who });
  }
  return started;
}

function withRoom(budget: GoalBudget, given: Partial<GoalBudget> | undefined): GoalBudget {
  const { maxCostMicroUsd: money, hardMaxCostMicroUsd: hard = money } = budget;
  if (given?.hardMaxCostMicroUsd !== undefined || hard >= money) return budget;
  return { ...budget, hardMaxCostMicroUsd: money };
}

/** As it was started, with every default. Errors: StoreUnavailable, RunNotFound, TranscriptMissing. */
export async function definitionOfGoal({ tenant, ...link }: Link, goalId: string) {
  const store = storeOf(link);
  const page = await store.readEvents({ tenant, runId: goalId }, { sinceSeq: 0, limit: 1 });
  const [first] = page.events;
  if (first?.type !== 'goal_started') {
    throw new HoldfastError('RunNotFound', `The store knows no goal ${goalId.slice(0, 200)}.`, {
      hint: 'List the goals with `holdfast goal list`.',
      details: { runId: goalId },
    });
  }
  const text = await store.getBlob(tenant, first.definition);
  if (text === undefined) {
    throw new HoldfastError(
      'TranscriptMissing',
      `The store has lost the definition of ${goalId}.`,
      {
        hint: 'Name the store of the workers with HOLDFAST_STORE.',
        details: { runId: goalId },
      },
    );
  }
  return normalGoal(asWritten(JSON.parse(text) as StoredDefinition), `Goal ${goalId}`);
}
