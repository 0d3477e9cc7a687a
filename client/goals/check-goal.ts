/** What a caller wants of a goal, checked before anything is sent. */
import { randomBytes } from 'node:crypto';
import { isDefinedGoal, type DefinedGoal } from '../../authoring/goal/define-goal.js';
import { goalBudget, goalSchema } from '../../authoring/goal/goal-schema.js';
import { normalGoal, type NormalGoal } from '../../authoring/goal/normal-goal.js';
import type { KnownFields } from '../../authoring/known-fields.js';
import { canonicalJson, sha256Hex, type Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { GoalDefinition, GoalStart } from '../../core/state/goal/definition.js';
import { isTenant, LIMIT_PARTS, type Parts } from '../closed-options.js';
import { isRunId, ulid } from '../runs/run-id.js';
import { isRecord } from '../../pure/options.js';

/** Cycles, and what cycles start, have ids that begin with the goal's. */
export const GOAL_ID_CHARS_MAX = 96;
const NAME_CHARS_MAX = 128;

export interface GoalRequest {
  /** What `defineGoal` made. */
  readonly goal?: DefinedGoal;
  /** In place of `goal`: a definition in plain JSON, such as `goalFromText` gives. */
  readonly definition?: GoalDefinition;
  readonly tenant?: string;
  readonly traceId?: string;
  /** Who starts the goal: decides nothing in it. */
  readonly caller?: string;
  /** The goal that this one goes on with; see `restartGoal`. */
  readonly from?: GoalStart['from'];
}

/** Of a schedule too: what it starts has no id and no wait of its own. */
export const GOAL_REQUEST: KnownFields<GoalRequest> = {
  goal: true,
  definition: true,
  tenant: true,
  traceId: true,
  caller: true,
  from: true,
};

/** What stands in the definition of a goal. */
export const GOAL_PARTS: Parts = {
  'the definition of the goal: { ? }': Object.keys(goalSchema.shape),
  'the definition of the goal: { budget: { ? } }': [
    ...Object.keys(goalBudget.shape),
    'maxCostUsd',
    'hardMaxCostUsd',
  ],
  // Settings and budget of cycles have no objects of their own.
  'the definition of the goal: { cycle: { … } }': ['settings'],
  'the definition of the goal: { cycle: { ? } }': Object.values(LIMIT_PARTS).flat(),
};

/** The argument of the workflow `goalRun`. Errors: InvalidTask that names the field. */
export function checkGoal(request: GoalRequest): GoalStart & { readonly goal: NormalGoal } {
  const { tenant, traceId, caller, from } = request;
  if (tenant !== undefined && !isTenant(tenant)) {
    throw wrong('tenant', 'it must be 1 to 64 of the characters A-Z a-z 0-9 . _ -');
  }
  return {
    v: 1,
    goal: definitionOf(request),
    ...(tenant !== undefined && { tenant }),
    ...(traceId !== undefined && { traceId: checkedName('traceId', traceId) }),
    ...(caller !== undefined && { caller: checkedName('caller', caller) }),
    ...(from !== undefined && { from: checkedFrom(from) }),
  };
}

/** `goal_<ulid>` when none is given. Errors: InvalidTask. */
export function checkGoalId(goalId: unknown): string {
  if (goalId === undefined) return `goal_${ulid(Date.now(), randomBytes(16))}`;
  if (typeof goalId === 'string' && goalId.length <= GOAL_ID_CHARS_MAX && isRunId(goalId)) {
    return goalId;
  }
  const shown = typeof goalId === 'string' ? JSON.stringify(goalId.slice(0, 140)) : typeof goalId;
  throw new HoldfastError('InvalidTask', `The goal id ${shown} cannot be used.`, {
    hint: `Use 1 to ${GOAL_ID_CHARS_MAX} of the characters A-Z a-z 0-9 . _ : - , but neither . nor .. alone; or give none to get a new one.`,
  });
}

/** Of a normal definition: two starts under one id are the same goal when theirs are equal. */
export function definitionDigest(definition: NormalGoal, from: GoalStart['from']): string {
  const said = { definition, ...(from !== undefined && { from }) };
  return sha256Hex(canonicalJson(said as unknown as Json));
}

function definitionOf({ goal, definition }: GoalRequest): NormalGoal {
  if (goal !== undefined && definition !== undefined) {
    throw wrong('goal', 'the start has a definition as well; give one of the two');
  }
  if (definition !== undefined) return normalGoal(definition);
  if (!isDefinedGoal(goal)) {
    throw wrong('goal', 'it must be made with defineGoal({…}), or be a definition: {definition}');
  }
  return normalGoal(goal.definition, `Goal ${goal.name}`);
}

/** People are compared letter by letter: in the one form of its letters that the worker takes. */
function checkedName(field: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= NAME_CHARS_MAX) {
    return value.normalize('NFC');
  }
  throw wrong(field, `it must be a text of 1 to ${NAME_CHARS_MAX} characters`);
}

function checkedFrom(from: NonNullable<GoalStart['from']>): NonNullable<GoalStart['from']> {
  if (!isRecord(from)) throw wrong('from', 'it must be an object: { goalId, checkpoint }');
  const { goalId, checkpoint } = from;
  if (checkpoint !== undefined && !/^[0-9a-f]{64}$/.test(checkpoint)) {
    throw wrong('from.checkpoint', 'it must be the id of a checkpoint, 64 hex digits');
  }
  return { goalId: checkGoalId(goalId), ...(checkpoint !== undefined && { checkpoint }) };
}

function wrong(field: string, why: string): HoldfastError {
  return new HoldfastError('InvalidTask', `The goal: ${field} cannot be used: ${why}.`, {
    hint: `Correct ${field} and start again.`,
    details: { path: field },
  });
}
