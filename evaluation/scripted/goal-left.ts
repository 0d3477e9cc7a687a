/** What a goal that has ended has left in the store: its events and those of its cycles, and what must hold of them. */
import type { RunEvent } from '../../core/state/event.js';
import type { GoalMemory } from '../../core/state/goal/memory.js';
import type { RunResult } from '../../core/state/result.js';
import { checkGoalEnd, checkGoalEvent, startGoalChecking } from '../../pure/goal/invariants.js';
import { checkEvent, startChecking } from '../../pure/invariants.js';
import { ofType } from '../compare/trail.js';
import { cycleOfRun, mergedTree } from '../goal-tree.js';
import { memoryOf } from './goal-seen.js';
import { storedEvents, withTexts, type ReadStore, type RunPlace } from './observe.js';

export interface GoalLeft {
  readonly result: RunResult;
  /** Its own, texts of the store put back in. */
  readonly events: readonly RunEvent[];
  /** With those of its cycles, in order. */
  readonly tree: readonly RunEvent[];
  readonly memory?: GoalMemory;
  /** Run ids. */
  readonly cycles: readonly string[];
  /** In words. */
  readonly violations: readonly string[];
}

/** undefined: it has not ended. */
export async function goalLeft(store: ReadStore, goal: RunPlace): Promise<GoalLeft | undefined> {
  const { tenant } = goal;
  const own = await storedEvents(store, goal);
  const last = own.at(-1);
  if (last?.type !== 'goal_result') return undefined;
  const { result } = last;
  const ofCycles = new Map<string, readonly RunEvent[]>();
  for (const { runId } of ofType(own, 'cycle_started')) {
    ofCycles.set(runId, await storedEvents(store, { tenant, runId }));
  }
  const tree = await withTexts(store, tenant, mergedTree(own, ofCycles));
  const events = tree.filter(({ stamp }) => stamp.runId === goal.runId);
  const memory = await memoryOf(store, tenant, result);
  const remembered = { ...(memory !== undefined && { memory }) };
  const cycles = [...ofCycles].map(([runId, one]) => ({ n: cycleOfRun(runId) ?? 0, events: one }));
  return {
    result: await withTexts(store, tenant, result),
    events,
    tree,
    ...remembered,
    cycles: [...ofCycles.keys()],
    violations: [
      ...goalViolations(events),
      ...[...ofCycles].flatMap(([runId, one]) => runViolations(runId, one)),
      ...checkGoalEnd({ result, events, ...remembered, cycles }),
    ],
  };
}

function goalViolations(events: readonly RunEvent[]): readonly string[] {
  let state = startGoalChecking();
  return events.flatMap((event) => {
    const checked = checkGoalEvent(state, event);
    state = checked.state;
    return checked.violations;
  });
}

function runViolations(runId: string, events: readonly RunEvent[]): readonly string[] {
  let state = startChecking();
  return events.flatMap((event) => {
    const checked = checkEvent(state, event);
    state = checked.state;
    return checked.violations.map((violation) => `${runId}: ${violation}`);
  });
}
