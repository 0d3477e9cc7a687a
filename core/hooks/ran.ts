/**
 * The hooks of one point have run, or could not be run: what they said is told and handed to whoever asked.
 * Invariants: decides nothing; an activity that failed is an error of each of its hooks; every hook that
 * ran is told of once, by an event or, outside of `session_init … run_result`, in the result (G98).
 */
import { type Call } from '../state/call.js';
import { withCall, baseOf } from '../step/open-work.js';
import { follows } from '../step/changes.js';
import type { RunHooksOutput } from '../state/effect.js';
import type { EventBody } from '../state/event.js';
import type { Failure } from '../state/failure.js';
import { ownValue } from '../json/json.js';
import { emit, warn } from '../step/outbox.js';
import type { OpenRun } from '../state/run.js';
import {
  HOOK_REPORTS_MAX,
  type HookErrand,
  type HookOutcome,
  type HookReport,
} from '../state/hook.js';
import { answerOpinion, callOpinion } from './opinion.js';
import { hooksFor } from './start.js';

const MESSAGE_CHARS_MAX = 500;
/** UTF-16 units of all messages of PostSampling hooks that wait for a request. */
const SYSTEM_CHARS_MAX = 16_384;
/** UTF-16 units of what SessionStart hooks add to the conversation together. */
const CONTEXT_CHARS_MAX = 16_384;

export function hooksRan(run: OpenRun, effectId: string, output: RunHooksOutput): OpenRun {
  const errand = ownValue(run.errands ?? {}, effectId);
  if (errand === undefined) return warn(run, 'late_input', `${effectId} belongs to no hook point`);
  const { [effectId]: _, ...errands } = run.errands ?? {};
  const back: OpenRun = { ...run, errands };
  const told = output.outcomes.reduce<OpenRun>(
    (next, outcome) => tell(next, errand, outcome),
    back,
  );
  return handOver(told, errand, output.outcomes);
}

export function hooksFailed(run: OpenRun, effectId: string, failure: Failure): OpenRun {
  const errand = ownValue(run.errands ?? {}, effectId);
  const names = errand === undefined ? [] : hooksFor(run, errand);
  const error = failure.cancelled ? 'stopped with the run' : failure.message;
  const outcomes = names.map((hook) => ({ hook, opinion: {}, error, durationMs: 0 }));
  return hooksRan(run, effectId, { outcomes, eventsUpTo: 0 });
}

function tell(run: OpenRun, errand: HookErrand, outcome: HookOutcome): OpenRun {
  const { point, callId, tool } = errand;
  const { hook, durationMs } = outcome;
  const message = (outcome.error ?? outcome.opinion.message)?.slice(0, MESSAGE_CHARS_MAX);
  const said = { hook, durationMs, ...(message !== undefined && { message }) };
  if (point === 'SessionStart' || point === 'SessionEnd') {
    const word = refusesTask(run, outcome) ? 'deny' : 'ok';
    const failed = outcome.error !== undefined;
    const report: HookReport = { point, outcome: failed ? 'error' : word, ...said };
    const hookReports = [...(run.hookReports ?? []), report].slice(0, HOOK_REPORTS_MAX);
    return { ...run, hookReports };
  }
  return emit(run, {
    type: 'hook',
    name: point,
    outcome: wordOf(outcome),
    ...(callId !== undefined && { callId }),
    ...(tool !== undefined && { tool }),
    ...said,
  });
}

function wordOf({ opinion, error }: HookOutcome): Extract<EventBody, { type: 'hook' }>['outcome'] {
  if (error !== undefined) return 'error';
  if (opinion.decision !== undefined) return opinion.decision;
  if ((opinion.blockingErrors ?? []).length > 0) return 'block';
  return opinion.preventContinuation === true ? 'prevent' : 'ok';
}

function handOver(run: OpenRun, errand: HookErrand, outcomes: readonly HookOutcome[]): OpenRun {
  switch (errand.point) {
    case 'SessionStart':
      return greeted(run, outcomes);
    case 'PreToolUse':
      return withCallOf(run, errand, (call) =>
        call.stage === 'hooking'
          ? { ...baseOf(call), stage: 'hooked', opinion: callOpinion(outcomes) }
          : call,
      );
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return withCallOf(run, errand, (call) =>
        call.stage === 'settled' ? { ...call, after: 'done' } : call,
      );
    case 'PostSampling':
      return injected(run, outcomes);
    case 'Stop':
      return run.turn === undefined
        ? run
        : { ...run, turn: { ...run.turn, judgement: answerOpinion(outcomes) } };
    case 'StopFailure':
      return run;
    case 'PreCompact':
      return { ...run, preCompact: 'done' };
    case 'SessionEnd':
      return run.stopping === undefined
        ? run
        : { ...run, stopping: { ...run.stopping, sessionEnd: 'done' } };
  }
}

function withCallOf(run: OpenRun, { callId }: HookErrand, change: (call: Call) => Call): OpenRun {
  const call = run.turn?.calls.find((one) => one.id === callId);
  return call === undefined ? run : withCall(run, change(call));
}

/** What SessionStart hooks add is said to the model below the goal. */
function greeted(run: OpenRun, outcomes: readonly HookOutcome[]): OpenRun {
  if (run.arrival === undefined) return run;
  const texts = outcomes.map(({ opinion }) => opinion.additionalContext ?? '');
  const context = withinChars(texts, CONTEXT_CHARS_MAX);
  const refusing = outcomes.find((outcome) => refusesTask(run, outcome));
  const denied = refusing && (refusing.opinion.message ?? refusalBy(refusing));
  return {
    ...run,
    arrival: { ...run.arrival, hooks: 'done', context, ...(denied !== undefined && { denied }) },
  };
}

/** At SessionStart. */
function refusesTask(run: OpenRun, { opinion }: HookOutcome): boolean {
  return opinion.decision === 'deny' && follows(run, 'refusedTasks');
}

function refusalBy({ hook }: HookOutcome): string {
  return `The hook ${hook} refuses this task.`;
}

/** What PostSampling hooks say waits for the next request; it never changes the turn that they saw. */
function injected(run: OpenRun, outcomes: readonly HookOutcome[]): OpenRun {
  const texts = outcomes.flatMap(({ opinion }) => opinion.systemMessages ?? []);
  const all = [...(run.injected ?? []), ...texts];
  const kept = withinChars(all, SYSTEM_CHARS_MAX);
  if (kept.length === 0) return run;
  const next: OpenRun = { ...run, injected: kept };
  return kept.length === all.length
    ? next
    : warn(next, 'message_dropped', 'hooks say more than the next request has room for');
}

/** The first texts that fit together; a blank one says nothing. */
function withinChars(texts: readonly string[], charsMax: number): readonly string[] {
  let room = charsMax;
  return texts.filter((text) => {
    room -= text.length;
    return room >= 0 && text.trim() !== '';
  });
}
