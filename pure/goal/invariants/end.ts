/** What must hold of a goal that has ended, looked at as a whole: its memory, its cycles, its result. */
import type { RunEvent } from '../../../core/state/event.js';
import type { Goal } from '../../../core/state/goal/goal.js';
import type { GoalMemory } from '../../../core/state/goal/memory.js';
import type { RunResult } from '../../../core/state/result.js';
import type { GoalChecking } from './track.js';

export interface EndedGoal {
  /** Of all its events and steps; absent: nobody saw the steps. */
  readonly checking?: GoalChecking;
  /** As it was at the end; absent: nobody saw it. */
  readonly goal?: Goal;
  readonly result: RunResult;
  readonly events: readonly RunEvent[];
  /** Absent: the goal was never opened. */
  readonly memory?: GoalMemory;
  readonly cycles: readonly EndedCycle[];
}

export interface EndedCycle {
  readonly n: number;
  readonly events: readonly RunEvent[];
}

export function checkGoalEnd(ended: EndedGoal): readonly string[] {
  return [...ends(ended), ...costs(ended), ...steps(ended), ...messages(ended)];
}

/** (g5), (g10) */
function ends({ events, result }: EndedGoal): readonly string[] {
  const counted = (type: RunEvent['type']): number =>
    events.filter((event) => event.type === type).length;
  const found: string[] = [];
  if (counted('stop') !== 1) found.push(`(g5) ${counted('stop')} stop events`);
  if (events.at(-1)?.type !== 'goal_result') found.push('(g5) the last event is no goal_result');
  if (counted('cycle_started') !== counted('cycle_ended')) {
    const numbers = `${counted('cycle_started')} cycles started, ${counted('cycle_ended')} ended`;
    found.push(`(g10) ${numbers}`);
  }
  if (result.goal !== undefined && result.goal.checkpoints !== counted('checkpoint_saved')) {
    found.push(`(g6) ${result.goal.checkpoints} checkpoints in the result`);
  }
  return found;
}

/** (g7): what each cycle says of its own cost is what the goal was told. */
function costs({ goal, result, events, cycles }: EndedGoal): readonly string[] {
  const found: string[] = [];
  if (goal !== undefined && goal.money.spentMicroUsd !== result.costMicroUsd) {
    found.push(`(g7) spent ${goal.money.spentMicroUsd}, the result says ${result.costMicroUsd}`);
  }
  for (const event of events) {
    if (event.type !== 'cycle_ended' || event.unconfirmed) continue;
    const own = cycles.find(({ n }) => n === event.n)?.events.at(-1);
    if (own?.type !== 'run_result' || own.result.costMicroUsd === event.costMicroUsd) continue;
    found.push(`(g7) cycle ${event.n} cost ${own.result.costMicroUsd}, not ${event.costMicroUsd}`);
  }
  return found;
}

/** (g4) */
function steps(ended: EndedGoal): readonly string[] {
  const plan = ended.memory?.plan.steps ?? [];
  return plan.flatMap(({ id, status, evidence = [] }) => {
    if (status !== 'done') return [];
    if (evidence.length === 0) return [`(g4) the step ${id} is done without evidence`];
    return evidence.some((one) => exists(one, ended))
      ? []
      : [`(g4) the step ${id} is done by ${evidence.join(', ')}, which is not there`];
  });
}

function exists(id: string, { events, cycles, memory }: EndedGoal): boolean {
  const [ancestor] = id.split('#');
  if (id.includes('#')) return memory?.ancestors.includes(ancestor!) ?? false;
  const ofCycle = /^c(\d+)\/(.+)$/.exec(id);
  if (ofCycle !== null) {
    const cycle = cycles.find(({ n }) => n === Number(ofCycle[1]));
    return cycle?.events.some((event) => isResult(event, ofCycle[2]!)) ?? false;
  }
  const [kind = '', ...rest] = id.split('/');
  const all = [...events, ...cycles.flatMap((cycle) => cycle.events)];
  return all.some((event) => isNamed(event, kind, rest.join('/')));
}

const NO_OBSERVATION = /^goal_/;

function isResult(event: RunEvent, callId: string): boolean {
  if (event.type !== 'tool_finished' || event.callId !== callId) return false;
  return (
    event.status === 'ok' &&
    !event.synthetic &&
    event.hosted !== true &&
    !NO_OBSERVATION.test(event.tool)
  );
}

function isNamed(event: RunEvent, kind: string, name: string): boolean {
  switch (event.type) {
    case 'check_finished':
      return kind === 'check' && name === `${event.name}/${event.n}`;
    case 'tool_finished':
      return kind === 'effect' && name === event.key && event.status === 'ok';
    case 'approval_resolved':
    case 'input_provided':
      return kind === 'ask' && name === event.askId;
    default:
      return false;
  }
}

/** (g8) */
function messages({ checking, result }: EndedGoal): readonly string[] {
  const left = result.goal?.unprocessed ?? result.unprocessed ?? [];
  return [...(checking?.said ?? [])].flatMap(([id, place]) =>
    place === 'read' || left.includes(id)
      ? []
      : [`(g8) the message ${id} was neither read nor left over`],
  );
}
