/**
 * The only way a run ends.
 * Invariants: the first stop wins; a run that wraps up was stopped by its budget, whatever becomes of its last
 * call, unless a person stops it (C42); `status` and `completed` follow from the reason alone.
 */
import type { AskView } from '../state/ask-view.js';
import type { Run, Stopping } from '../state/run.js';
import type { RunStatus, StopPhase, StopReason } from '../state/result.js';
import { follows } from './changes.js';

export interface StopWords {
  readonly detail?: string;
  readonly phase?: StopPhase;
  readonly nextSafeAction?: string;
  readonly pendingApproval?: AskView;
}

export function stop<R extends Run>(run: R, reason: StopReason, words: StopWords = {}): R {
  if (run.stopping !== undefined) return run;
  const byPerson = reason === 'interrupted' || reason === 'aborted';
  const stopping: Stopping =
    run.wrapUp === undefined || byPerson ? { reason, ...words } : { reason: run.wrapUp.reason };
  const told = follows(run, 'rulesTold') && run.rule !== undefined && { rule: run.rule };
  return { ...run, phase: 'finishing', stopping: { ...stopping, ...told } };
}

const LARGER_BUDGET = 'Ask the user whether to continue with a larger budget.';
/** After a run that a person stopped: by whether it leaves a session. */
export const AFTER_A_PERSON = {
  session: 'Resume the session with a new run.',
  none: 'Start a new run.',
} as const;

interface Meaning {
  readonly status: RunStatus;
  readonly next?: string;
}

/** What each stop reason means for the run's status, and what a person should do then. */
export const STOP_MEANINGS: { readonly [reason in StopReason]: Meaning } = {
  completed: { status: 'completed' },
  empty_response: { status: 'stopped', next: 'Rephrase the task, or look at the trace.' },
  evidence_missing: { status: 'stopped', next: 'Provide the missing evidence.' },
  invalid_output: { status: 'failed', next: 'Fix the output schema or the prompt.' },
  refused: { status: 'stopped', next: 'Do not retry; review the policy.' },
  needs_human: { status: 'stopped', next: 'Ask a person to decide how to go on.' },
  tool_failure: { status: 'failed', next: 'Look at the failing tool, then start again.' },
  tool_unavailable: { status: 'failed', next: 'Restore the tool, then start again.' },
  max_turns: { status: 'stopped', next: LARGER_BUDGET },
  max_tool_calls: { status: 'stopped', next: LARGER_BUDGET },
  timeout: { status: 'stopped', next: LARGER_BUDGET },
  max_cost: { status: 'stopped', next: LARGER_BUDGET },
  max_input_tokens: { status: 'stopped', next: LARGER_BUDGET },
  max_output_tokens: { status: 'stopped', next: LARGER_BUDGET },
  max_tokens: { status: 'stopped', next: 'Raise maxTokensPerResponse.' },
  prompt_too_long: { status: 'stopped', next: 'Start a new session with a summary.' },
  stop_hook_prevented: { status: 'stopped', next: 'See the message of the hook.' },
  interrupted: { status: 'cancelled', next: AFTER_A_PERSON.session },
  aborted: { status: 'cancelled', next: AFTER_A_PERSON.session },
  failed: { status: 'failed', next: 'Try again later.' },
};

export function statusOfStop(reason: StopReason): RunStatus {
  return STOP_MEANINGS[reason].status;
}

/** What a person should do now; undefined for a completed run. */
export function nextSafeActionFor(stopping: Stopping): string | undefined {
  return stopping.nextSafeAction ?? STOP_MEANINGS[stopping.reason].next;
}

/** The same for a run, which may leave no session to resume. */
export function nextSafeActionOf(run: Run, stopping: Stopping): string | undefined {
  const next = nextSafeActionFor(stopping);
  const leavesOne = run.session?.kept === true || run.start.session?.resume !== undefined;
  const sent = next === AFTER_A_PERSON.session && !leavesOne && follows(run, 'resumable');
  return sent ? AFTER_A_PERSON.none : next;
}
