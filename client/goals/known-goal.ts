/**
 * A goal that has the wanted id already.
 * Invariants: the same id and the same definition is that goal, also when it has ended or Temporal has forgotten it;
 * anything else is RunExists, also what belongs to another tenant, of which nothing is told.
 */
import { normalGoal } from '../../authoring/goal/normal-goal.js';
import { HoldfastError } from '../../core/state/errors.js';
import type {
  CheckDefinition,
  GoalDefinition,
  StoredCheck,
  StoredDefinition,
} from '../../core/state/goal/definition.js';
import { GOAL_RUN } from '../../workflows/messages.js';
import { definitionDigest } from './check-goal.js';
import { descriptionOf, TENANT } from '../runs/execution.js';
import type { Link } from '../link.js';

/** Of a goal's workflow: the digest of its definition. */
export const DEFINITION_MEMO = 'holdfastGoal';

export interface WantedGoal {
  readonly goalId: string;
  /** Of the definition and of the goal that this one goes on with. */
  readonly digest: string;
  /** Of the definition alone. */
  readonly definition: string;
}

/** False: nothing has the id. Errors: RunExists. */
export async function isKnownGoal(link: Link, wanted: WantedGoal): Promise<boolean> {
  const { goalId } = wanted;
  const described = await descriptionOf(link, goalId);
  if (described === undefined) {
    const row = await link.store?.getRun(link.tenant, goalId);
    if (row === undefined) return false;
    if (row.kind === 'goal' && (await storedDigest(link, goalId)) === wanted.definition)
      return true;
    throw taken(goalId);
  }
  const isOwn =
    described.type === GOAL_RUN && described.typedSearchAttributes.get(TENANT) === link.tenant;
  if (!isOwn) throw taken(goalId);
  const memo = described.memo?.[DEFINITION_MEMO];
  const isSame =
    typeof memo === 'string'
      ? memo === wanted.digest
      : (await storedDigest(link, goalId)) === wanted.definition;
  if (!isSame) throw taken(goalId, 'a goal with another definition has it');
  return true;
}

/** Undefined: the store does not know it. */
async function storedDigest({ store, tenant }: Link, goalId: string): Promise<string | undefined> {
  const page = await store?.readEvents({ tenant, runId: goalId }, { sinceSeq: 0, limit: 1 });
  const first = page?.events[0];
  if (first?.type !== 'goal_started') return undefined;
  const text = await store?.getBlob(tenant, first.definition);
  if (text === undefined) return undefined;
  return definitionDigest(normalGoal(asWritten(JSON.parse(text) as StoredDefinition)), undefined);
}

function taken(goalId: string, why = 'the id is taken'): HoldfastError {
  return new HoldfastError('RunExists', `The goal ${goalId} cannot be started: ${why}.`, {
    hint: 'Start with another id, or without one.',
    details: { runId: goalId },
  });
}

/** The definition as people wrote it: the tools of its checks are frozen anew at each start. */
export function asWritten({ validation, ...definition }: StoredDefinition): GoalDefinition {
  if (validation === undefined) return definition;
  return { ...definition, validation: validation.map(withoutFrozen) };
}

function withoutFrozen(check: StoredCheck): CheckDefinition {
  const { frozen: _, ...written } = check;
  return written;
}
