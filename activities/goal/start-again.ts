/** What a goal that goes on with another one takes over from it. */
import { wrongField } from '../../authoring/goal/field.js';
import type { NormalGoal } from '../../authoring/goal/normal-goal.js';
import type { GoalStart, StoredDefinition } from '../../core/state/goal/definition.js';
import type { GoalMemory } from '../../core/state/goal/memory.js';
import type { OpenGoalInput } from '../../core/state/goal/payloads.js';
import { bestsOf, carriedOver, type Checkpoint } from '../../pure/goal/start-again.js';
import type { StoreCalls } from '../../store/store.js';
import { storedJson } from './stored-json.js';
import { readMemory } from './stored-memory.js';

interface Again {
  readonly from: NonNullable<GoalStart['from']>;
  readonly goal: NormalGoal;
}

/** Errors: InvalidTask that names `from.goalId` or `from.checkpoint`. */
export async function takenOver(
  store: StoreCalls,
  input: OpenGoalInput,
  { from, goal }: Again,
): Promise<{
  readonly memory: GoalMemory;
  readonly bests: { readonly [check: string]: number };
}> {
  const { tenant, runId } = input.run;
  const { goalId } = from;
  const row = await store.getRun(tenant, goalId);
  if (row?.kind !== 'goal' || goalId === runId)
    throw wrongField('The goal', 'from.goalId', 'there is no such goal');
  const ids = await checkpointsOf(store, { tenant, runId: goalId });
  const id = from.checkpoint ?? ids.at(-1);
  if (id === undefined || !ids.includes(id))
    throw wrongField('The goal', 'from.checkpoint', `${goalId} has no such checkpoint`);
  const checkpoint = await storedJson<Checkpoint>(store, input, id);
  const before = await storedJson<StoredDefinition>(store, input, checkpoint.definition);
  const memory = await readMemory(store, input, checkpoint.memory);
  await store.inheritEffects({ tenant, from: goalId, goal: runId });
  return {
    memory: carriedOver(memory, goalId),
    bests: bestsOf(checkpoint, (name) => isSameMeasure(before, goal, name)),
  };
}

function isSameMeasure(before: StoredDefinition, goal: NormalGoal, name: string): boolean {
  const then = before.validation?.find((check) => check.name === name)?.measure;
  const now = goal.validation.find((check) => check.name === name)?.measure;
  return then !== undefined && then.path === now?.path && then.better === now.better;
}

const EVENTS_PER_PAGE = 1_000;

/** Its own, oldest first: a hash alone could be that of any text. */
async function checkpointsOf(
  store: StoreCalls,
  run: { readonly tenant: string; readonly runId: string },
): Promise<readonly string[]> {
  const ids: string[] = [];
  let sinceSeq = 0;
  for (;;) {
    const { events, nextSeq } = await store.readEvents(run, { sinceSeq, limit: EVENTS_PER_PAGE });
    for (const event of events) if (event.type === 'checkpoint_saved') ids.push(event.id);
    if (events.length < EVENTS_PER_PAGE) return ids;
    sinceSeq = nextSeq;
  }
}
