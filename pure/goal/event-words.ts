/** What an event of a goal says, in a few words. */
import type { ProgressItem } from '../../core/state/goal/facts.js';
import type { RunEvent } from '../../core/state/event.js';
import type { GoalEventBody } from '../../core/state/goal/event.js';
import { previewOf } from '../../core/json/json.js';

type GoalEvent = Extract<RunEvent, { type: GoalEventBody['type'] }>;

const GOAL_EVENTS: ReadonlySet<string> = new Set<GoalEventBody['type']>([
  'goal_started',
  'cycle_started',
  'cycle_ended',
  'check_finished',
  'plan_changed',
  'progress_noted',
  'goal_review',
  'checkpoint_saved',
  'goal_sleeping',
  'goal_woken',
  'goal_steered',
  'handoff',
  'goal_result',
]);

export function isGoalEvent(event: RunEvent): event is GoalEvent {
  return GOAL_EVENTS.has(event.type);
}

/** Words alone: times, money and colours are for whoever shows them. */
export function goalEventWords(event: GoalEvent): string {
  switch (event.type) {
    case 'goal_started':
      return `the goal begins with agent ${event.agent}${starterWords(event)}: ${previewOf(event.objective)}`;
    case 'cycle_started':
      return `cycle ${event.n} begins as run ${event.runId} with agent ${event.agent}`;
    case 'cycle_ended':
      return `cycle ${event.n} ended ${endWords(event)}, ${progressWords(event.progress)}`;
    case 'check_finished':
      return `check ${event.name} ${checkWords(event)}`;
    case 'plan_changed':
      return `plan ${event.revision} by ${event.by}: ${event.steps.done} of ${event.steps.all} steps done`;
    case 'progress_noted':
      return `cycle ${event.n}: ${progressWords(event.progress)}`;
    case 'goal_review':
      return `review ${event.n}: ${event.decision}`;
    case 'checkpoint_saved':
      return `checkpoint ${event.n}`;
    case 'goal_sleeping':
      return `sleeps: ${event.because}`;
    case 'goal_woken':
      return `woken by ${event.by}`;
    case 'goal_steered':
      return event.control === undefined
        ? `${event.by} said: ${previewOf(event.text)}`
        : `${event.by}: ${event.control}`;
    case 'handoff':
      if (event.started !== undefined)
        return `handed over by ${event.by} to ${event.to} in run ${event.started.runId}`;
      return event.run === undefined
        ? `handed to ${event.to} by ${event.by}: ${event.because}`
        : `handed over from ${event.run.from} to ${event.to} on ${event.run.model}`;
    case 'goal_result':
      return `${event.result.status}, ${event.result.stopReason}`;
  }
}

function starterWords({ caller }: Extract<GoalEvent, { type: 'goal_started' }>): string {
  return caller === undefined ? '' : `, started by ${caller}`;
}

function endWords({ stopReason, detail }: Extract<GoalEvent, { type: 'cycle_ended' }>): string {
  return detail === undefined ? stopReason : `${stopReason} (${detail})`;
}

function checkWords(event: Extract<GoalEvent, { type: 'check_finished' }>): string {
  if (!event.known) return `gave no result: ${event.because ?? 'unknown'}`;
  if (event.value === undefined) return 'ran';
  return event.best === undefined
    ? `gave ${event.value}`
    : `gave ${event.value}, best ${event.best}`;
}

export function progressWords(progress: readonly ProgressItem[]): string {
  if (progress.length === 0) return 'no progress';
  return `progress: ${progress.map(({ kind, id }) => `${kind} ${id}`).join(', ')}`;
}
