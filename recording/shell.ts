/**
 * The workflow's shell, as far as inputs depend on it: which effect an event of the history ends, and as what.
 * Invariant: what workflows/perform.ts makes of an outcome, this makes of its event.
 */
import type { Json } from '../core/json/json.js';
import {
  ACTIVITIES,
  isActivity,
  type ActivityKind,
  type Effect,
  type OutputOf,
  type TellParent,
} from '../core/state/effect.js';
import { failureOf, type FailureLimits, type RawFailure } from '../core/state/failure.js';
import type { ChildWord, EffectInput } from '../core/state/input.js';
import { wholeOutput } from '../core/step/brief-output.js';
import { isUndecodable, payloadConverter } from '../workflows/payload-converter.js';
import {
  at,
  attributesOf,
  bytesOfBase64,
  JSON_ENCODING,
  payloadsOf,
  textAt,
  typeOf,
  type HistoryEvent,
} from './history.js';
import type { LocalEnd } from './markers.js';

/** An effect that was started and has not ended. */
interface Launched {
  readonly kind: ActivityKind;
  readonly limits: FailureLimits;
  /** It runs within the task: the next marker ends it. */
  readonly local: boolean;
}

/** What the shell knows beside the state; a value, so that a fold can begin again from any place. */
export interface Shell {
  readonly launched: ReadonlyMap<string, Launched>;
  /** Effect ids by the number that Temporal knows the timer by. */
  readonly timers: ReadonlyMap<string, string>;
  /** Effect ids by the child's workflow id. */
  readonly children: ReadonlyMap<string, string>;
  /** Children whose ends are heard. */
  readonly hears: ReadonlySet<string>;
  /** Children that were told to say when they have ended. */
  readonly reports: ReadonlySet<string>;
  /** The newest question to a parent that has not got there, by the id of the parent. */
  readonly asked: ReadonlyMap<string, TellParent>;
  readonly timersStarted: number;
  /** Updates that were taken on. */
  readonly tickets: number;
}

export const NEW_SHELL: Shell = {
  launched: new Map(),
  timers: new Map(),
  children: new Map(),
  hears: new Set(),
  reports: new Set(),
  asked: new Map(),
  timersStarted: 0,
  tickets: 0,
};

export function performed(shell: Shell, effects: readonly Effect[]): Shell {
  if (effects.length === 0) return shell;
  // Only what an effect changes is copied: a long segment has started thousands of timers.
  let { launched, timers, children, hears, reports, asked, timersStarted } = shell;
  for (const effect of effects) {
    if (effect.kind === 'timer') {
      timersStarted += 1;
      timers = new Map(timers).set(`${timersStarted}`, effect.id);
    } else if (effect.kind === 'start_child') {
      children = new Map(children).set(effect.child, effect.id);
      if (effect.hears) hears = new Set(hears).add(effect.child);
    } else if (effect.kind === 'tell_parent') {
      asked = new Map(asked).set(effect.parent, effect);
    } else if (effect.kind === 'tell_child') {
      if (effect.message === 'report') reports = new Set(reports).add(effect.child);
    } else if (isActivity(effect)) {
      const { kind, limits, local = false } = effect;
      launched = new Map(launched).set(effect.id, { kind, limits, local });
    }
  }
  return { ...shell, launched, timers, children, hears, reports, asked, timersStarted };
}

export interface Heard {
  readonly shell: Shell;
  /** Undefined: the event is about nothing that the shell has started. */
  readonly input?: EffectInput | ChildWord;
}

/** Activity ids by the number of the event that scheduled them. */
export type ScheduledIds = ReadonlyMap<string, string>;

export function heardOutcome(
  shell: Shell,
  event: HistoryEvent,
  { ids, now }: { readonly ids: ScheduledIds; readonly now: number },
): Heard {
  switch (typeOf(event)) {
    case 'TIMER_FIRED': {
      const id = shell.timers.get(textAt(attributesOf(event, 'timerFired'), 'timerId') ?? '');
      return id === undefined ? { shell } : { shell, input: { type: 'timer_fired', id, at: now } };
    }
    case 'CHILD_WORKFLOW_EXECUTION_STARTED': {
      const started = attributesOf(event, 'childWorkflowExecutionStarted');
      return childHeard(shell, textAt(started, 'workflowExecution', 'workflowId'), {
        type: 'child_started',
        at: now,
      });
    }
    case 'START_CHILD_WORKFLOW_EXECUTION_FAILED': {
      const failed = attributesOf(event, 'startChildWorkflowExecutionFailed');
      return childHeard(shell, textAt(failed, 'workflowId'), {
        type: 'child_started',
        existed: true,
        at: now,
      });
    }
    case 'EXTERNAL_WORKFLOW_EXECUTION_SIGNALED':
      return reportAnswered(shell, attributesOf(event, 'externalWorkflowExecutionSignaled')).heard;
    case 'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED': {
      const failed = attributesOf(event, 'signalExternalWorkflowExecutionFailed');
      const asked = shell.asked.get(textAt(failed, 'workflowExecution', 'workflowId') ?? '');
      if (asked !== undefined) {
        const { child, n } = asked;
        return { shell, input: { type: 'money_answered', child, n, amount: 0, at: now } };
      }
      const { heard, child } = reportAnswered(shell, failed);
      return child === undefined
        ? heard
        : { ...heard, input: { type: 'child_ended', child, at: now } };
    }
    default:
      return childDone(shell, event, now) ?? activityHeard(shell, event, { ids, now });
  }
}

interface Answered {
  readonly heard: Heard;
  /** That was told to say when it has ended. */
  readonly child?: string;
}

/** The first that a child is told in a segment is that. */
function reportAnswered(shell: Shell, attributes: Json): Answered {
  const child = textAt(attributes, 'workflowExecution', 'workflowId') ?? '';
  if (!shell.reports.has(child)) return { heard: { shell } };
  const reports = new Set(shell.reports);
  reports.delete(child);
  return { heard: { shell: { ...shell, reports } }, child };
}

const ENDS: { readonly [type: string]: string } = {
  CHILD_WORKFLOW_EXECUTION_COMPLETED: 'childWorkflowExecutionCompleted',
  CHILD_WORKFLOW_EXECUTION_FAILED: 'childWorkflowExecutionFailed',
  CHILD_WORKFLOW_EXECUTION_CANCELED: 'childWorkflowExecutionCanceled',
};

function childDone(shell: Shell, event: HistoryEvent, now: number): Heard | undefined {
  const name = ENDS[typeOf(event)];
  if (name === undefined) return undefined;
  const ended = attributesOf(event, name);
  const child = textAt(ended, 'workflowExecution', 'workflowId') ?? '';
  if (!shell.hears.has(child)) return { shell };
  const [result] = valuesOf(ended['result']);
  const returned = result !== undefined && !isUndecodable(result) && { result };
  return { shell, input: { type: 'child_done', child, ...returned, at: now } };
}

function childHeard(
  shell: Shell,
  child: string | undefined,
  input: { readonly type: 'child_started'; readonly existed?: true; readonly at: number },
): Heard {
  const id = shell.children.get(child ?? '');
  return id === undefined ? { shell } : { shell, input: { ...input, id } };
}

function activityHeard(
  shell: Shell,
  event: HistoryEvent,
  { ids, now }: { readonly ids: ScheduledIds; readonly now: number },
): Heard {
  const attributes = attributesOf(event, ATTRIBUTES[typeOf(event)] ?? '');
  const id = ids.get(textAt(attributes, 'scheduledEventId') ?? '');
  const launched = shell.launched.get(id ?? '');
  if (id === undefined || launched === undefined) return { shell };
  const rest = new Map(shell.launched);
  rest.delete(id);
  const without = { ...shell, launched: rest };
  if (typeOf(event) === 'ACTIVITY_TASK_COMPLETED') {
    const [output] = valuesOf(attributes.result);
    const type = ACTIVITIES[launched.kind].outcome;
    const whole = wholeOutput(launched.kind, output as OutputOf<ActivityKind>);
    return { shell: without, input: { type, id, output: whole, at: now } as EffectInput };
  }
  const failure = failureOf(rawFailureOf(event), launched.limits);
  return { shell: without, input: { type: 'effect_failed', id, failure, at: now } };
}

/** What the shell hears of work within the task, by the marker that ends it; undefined: no such work is under way. */
export function heardLocal(
  shell: Shell,
  { output, failure, at: ended }: LocalEnd,
  now: number,
): Heard | undefined {
  const found = [...shell.launched].find(([, { local }]) => local);
  if (found === undefined) return undefined;
  const [id, { kind, limits }] = found;
  const rest = new Map(shell.launched);
  rest.delete(id);
  const without = { ...shell, launched: rest };
  // Of work of a task before it is heard when this one has begun.
  const heardAt = Math.max(ended ?? now, now);
  if (failure === undefined) {
    const type = ACTIVITIES[kind].outcome;
    const whole = wholeOutput(kind, output as unknown as OutputOf<ActivityKind>);
    return { shell: without, input: { type, id, output: whole, at: heardAt } as EffectInput };
  }
  const raw = rawFailureIn(failure);
  const input = {
    type: 'effect_failed',
    id,
    failure: failureOf(raw, limits),
    at: heardAt,
  } as const;
  return { shell: without, input };
}

const ATTRIBUTES: { readonly [type: string]: string } = {
  ACTIVITY_TASK_COMPLETED: 'activityTaskCompleted',
  ACTIVITY_TASK_FAILED: 'activityTaskFailed',
  ACTIVITY_TASK_TIMED_OUT: 'activityTaskTimedOut',
  ACTIVITY_TASK_CANCELED: 'activityTaskCanceled',
};

/** What the shell hears of an activity that was cancelled before anybody had it. */
export const TAKEN_BACK: RawFailure = { message: '', cancelled: true };

/** As workflows/raw-failure.ts has it of the error that the event becomes. */
function rawFailureOf(event: HistoryEvent): RawFailure {
  const type = typeOf(event);
  if (type === 'ACTIVITY_TASK_CANCELED') return TAKEN_BACK;
  const attributes = attributesOf(event, ATTRIBUTES[type] ?? '');
  return rawFailureIn(at(attributes, 'failure'), endedByTime(attributes));
}

/** A failure of work within a task has what went wrong as its cause, unless the work itself said so. */
function rawFailureIn(whole: Json | undefined, isTimedOut = false): RawFailure {
  const failure = at(whole, 'activityFailureInfo') === undefined ? whole : at(whole, 'cause');
  const message = textAt(failure, 'message') ?? '';
  const timeout = at(failure, 'timeoutFailureInfo');
  if (timeout !== undefined) {
    const timeoutType = (textAt(timeout, 'timeoutType') ?? '').replace(/^TIMEOUT_TYPE_/, '');
    const [progress] = valuesOf(at(timeout, 'lastHeartbeatDetails'));
    return { message: `ran out of time: ${timeoutType}`, timedOut: true, timeoutType, progress };
  }
  const application = at(failure, 'applicationFailureInfo');
  if (application !== undefined) {
    return {
      type: textAt(application, 'type') ?? null,
      message,
      details: valuesOf(at(application, 'details'))[0],
      ...(isTimedOut && { timedOut: true }),
    };
  }
  if (at(failure, 'canceledFailureInfo') !== undefined) return { message, cancelled: true };
  return { message: 'Activity task failed' };
}

function endedByTime(attributes: Json): boolean {
  return textAt(attributes, 'retryState') === 'RETRY_STATE_TIMEOUT';
}

/** Decoded as the workflow decodes them: total. */
export function valuesOf(payloads: Json | undefined): readonly unknown[] {
  return payloadsOf(payloads).map((payload) => {
    const value = plainValue(payload);
    if (value !== undefined) return value;
    const metadata = Object.entries((at(payload, 'metadata') ?? {}) as object);
    return payloadConverter.fromPayload({
      metadata: Object.fromEntries(metadata.map(([name, text]) => [name, bytes(text)])),
      data: bytes(textAt(payload, 'data') ?? ''),
    });
  });
}

/** What nearly all payloads are, as the workflow's converter reads it; undefined: the converter says what it is. */
function plainValue(payload: Json): unknown {
  if (textAt(payload, 'metadata', 'encoding') !== JSON_ENCODING) return undefined;
  try {
    return JSON.parse(decoder.decode(bytesOfBase64(textAt(payload, 'data') ?? '')));
  } catch {
    return undefined;
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function bytes(base64: unknown): Uint8Array {
  return Buffer.from(typeof base64 === 'string' ? base64 : '', 'base64');
}
