/**
 * A goal and its cycles as one tree of events: which of them a pattern is about. A cycle's run id is `<goal>:c<n>`.
 */
import type { RunEvent } from '../core/state/event.js';
import type { EventPattern, Narrowing } from './fixture.js';

export interface Family {
  readonly goalId: string;
  /** By cycle. */
  readonly agents: ReadonlyMap<number, string>;
}

export function familyOf(events: readonly RunEvent[]): Family | undefined {
  const [first] = events;
  if (first === undefined) return undefined;
  const agents = new Map<number, string>();
  for (const event of events) {
    if (event.type === 'cycle_started') agents.set(event.n, event.agent);
  }
  return { goalId: first.stamp.runId, agents };
}

/** The number of the cycle that a run is; undefined: it is none. */
export function cycleOfRun(runId: string): number | undefined {
  const [, n] = /:c(\d+)$/.exec(runId) ?? [];
  return n === undefined ? undefined : Number(n);
}

/** The goal whose cycle a run is. */
export function goalOfRun(runId: string): string {
  return runId.replace(/:c\d+$/, '');
}

/**
 * The events of a goal and of its cycles as one list: each cycle's stand between its start and its end as the goal tells
 * them, by their time.
 */
export function mergedTree(
  goal: readonly RunEvent[],
  cycles: ReadonlyMap<string, readonly RunEvent[]>,
): readonly RunEvent[] {
  const tree: RunEvent[] = [];
  let open: readonly RunEvent[] = [];
  for (const event of goal) {
    const ends = event.type === 'cycle_ended' || event.type === 'stop';
    const before = open.filter(({ stamp }) => ends || stamp.at < event.stamp.at);
    tree.push(...before, event);
    open = open.slice(before.length);
    if (event.type === 'cycle_started') open = cycles.get(event.runId) ?? [];
  }
  return [...tree, ...open];
}

/** The cycle that an event is about: that of its run, or the one that the goal tells of. */
export function cycleOf(event: RunEvent): number | undefined {
  switch (event.type) {
    case 'cycle_started':
    case 'cycle_ended':
    case 'progress_noted':
      return event.n;
    case 'goal_review':
      return event.cycle;
    default:
      return cycleOfRun(event.stamp.runId);
  }
}

/** The cycle and the agent that a pattern wants are those of the event. */
export function isNarrowed(
  { cycle, agent }: Narrowing,
  n: number | undefined,
  agentOf: (n: number) => string | undefined,
): boolean {
  if (cycle !== undefined && cycle !== n) return false;
  return agent === undefined || (n !== undefined && agentOf(n) === agent);
}

/**
 * Expectations speak of the goal: of what goals and runs both tell, a cycle's events are meant only by a pattern that
 * names a cycle or an agent.
 */
export function isMeant(
  event: RunEvent,
  pattern: EventPattern,
  family: Family | undefined,
): boolean {
  if (pattern.check !== undefined) {
    return event.type === 'check_finished' && event.name === pattern.check;
  }
  if (family === undefined) return true;
  const n = cycleOf(event);
  if (!isNarrowed(pattern, n, (cycle) => family.agents.get(cycle))) return false;
  const names = pattern.cycle !== undefined || pattern.agent !== undefined;
  const own = event.stamp.runId === family.goalId;
  return own || names || !TOLD_BY_BOTH.includes(event.type);
}

const TOLD_BY_BOTH: readonly RunEvent['type'][] = [
  'approval_requested',
  'approval_resolved',
  'approval_withdrawn',
  'input_request',
  'warning',
  'stop',
];
