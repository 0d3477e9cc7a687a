/** Shows what a goal and its cycles do while they do it. */
import type { HoldfastClient, GoalHandle, RunEvent, RunResult } from '../../index.js';

export interface Followed {
  readonly client: HoldfastClient;
  readonly goal: GoalHandle;
  readonly signal: AbortSignal;
  /** Events of the goal and of its cycles. A cycle's are told before the goal says that it has ended. */
  readonly onEvent: (event: RunEvent) => void;
}

/** How long the last events of a cycle that has ended may take, in ms. */
const LAST_EVENTS_MS = 5_000;

interface OpenCycle {
  readonly told: Promise<void>;
  readonly leave: AbortController;
}

/** Follows it to its end; gives its result, or undefined when it was left. */
export async function followGoal(followed: Followed): Promise<RunResult | undefined> {
  const { goal, signal, onEvent } = followed;
  let cycle: OpenCycle | undefined;
  try {
    for await (const event of goal.watch({ signal })) {
      if (event.type === 'cycle_ended') await leave(cycle);
      onEvent(event);
      if (event.type === 'goal_result') return event.result;
      if (event.type === 'cycle_started') cycle = followCycle(followed, event.runId);
    }
  } finally {
    cycle?.leave.abort();
  }
  return undefined;
}

function followCycle({ client, signal, onEvent }: Followed, runId: string): OpenCycle {
  const leaving = new AbortController();
  const either = AbortSignal.any([signal, leaving.signal]);
  const tell = async (): Promise<void> => {
    for await (const event of client.handle(runId).events({ signal: either })) onEvent(event);
  };
  // What the cycle cannot tell, its goal does.
  return { told: tell().catch(() => undefined), leave: leaving };
}

async function leave(cycle: OpenCycle | undefined): Promise<void> {
  if (cycle === undefined) return;
  const timer = setTimeout(() => cycle.leave.abort(), LAST_EVENTS_MS);
  await cycle.told;
  clearTimeout(timer);
}
