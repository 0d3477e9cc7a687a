/** A word of the house on tasks: an agent or the configuration refuses one before its first model call. */
import type { Task } from '../core/state/task.js';
import { HoldfastError } from '../core/state/errors.js';

/** What code that refuses tasks is told of the run that begins. */
export interface TaskGateContext {
  readonly agent: string;
  readonly runId: string;
  readonly tenant: string;
  readonly traceId: string;
  /** Aborts when the gate's time is over, and when the run is stopped. */
  readonly signal: AbortSignal;
}

type Said = string | null | undefined | void;

/**
 * Gives the reason why nobody may work on this task, or nothing. The run of a refused task stops with `refused`, detail
 * `safety_policy`, and shows the reason as `nextSafeAction`. A gate that throws, gives anything else or takes longer
 * than 20 s refuses the task. A gate may be asked twice about one run.
 */
export type TaskGate = (task: Task, ctx: TaskGateContext) => Said | Promise<Said>;

export function checkedGate(
  gate: unknown,
  place: { readonly code: 'InvalidAgent' | 'InvalidConfig'; readonly subject: string },
): TaskGate | undefined {
  if (gate === undefined || typeof gate === 'function') return gate as TaskGate | undefined;
  throw new HoldfastError(place.code, `${place.subject}: refuseTask is no function.`, {
    hint: 'Give refuseTask: (task, ctx) => reason, or undefined for a task that may be worked on.',
  });
}
