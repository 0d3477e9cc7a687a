/**
 * Whether the core commanded what the history has, and the first thing in which it did not.
 * Invariants:
 *  T4 A task that ends while work runs within it leaves that work, or what is decided on its end, to the commands of the
 *     next task: a query ended it, before answers waited (workflows/query-answers.ts). Nothing else comes later than its task.
 */
import { canonicalJson, type Json } from '../core/json/json.js';
import { isActivity, type ActivityEffect, type Effect } from '../core/state/effect.js';
import { briefInput } from '../core/step/brief-input.js';
import type { Activation } from './activations.js';
import {
  argumentsOf,
  attributesOf,
  payloadsOf,
  textAt,
  textOfBase64,
  typeOf,
  type HistoryEvent,
} from './history.js';
import { localEndOf, type LocalEnd } from './markers.js';

export interface Divergence {
  /** The step that would have come. */
  readonly step: number;
  readonly segment: number;
  /** Event of the history at which the worker began to decide. */
  readonly eventId: number;
  /** A sentence. */
  readonly reason: string;
}

export interface Compared {
  /** Where the code of today goes another way. */
  readonly difference?: Pick<Divergence, 'eventId' | 'reason'>;
  /** What it began that the commands of a later task have (T4). */
  readonly owed: readonly Effect[];
}

/** Activities are the decisions that count; timers and statuses follow from the same state. */
export function compared(
  { eventId, commands }: Activation,
  effects: readonly Effect[],
  goesOn: boolean,
): Compared {
  const recorded = commands.filter((event) => typeOf(event) === 'ACTIVITY_TASK_SCHEDULED');
  const back = new Set(effects.flatMap((one) => (one.kind === 'cancel' ? [one.target] : [])));
  const scheduled = new Set(recorded.map(idOf));
  const begun = effects.filter(isActivity);
  const started = begun.filter(
    ({ id, local }) => local !== true && (scheduled.has(id) || !back.has(id)),
  );
  const ends = commands.flatMap((event) => localEndOf(event) ?? []);
  const tried = begun.filter(({ local }) => local === true);
  const last = commands.at(-1);
  const endsWithin = last !== undefined && localEndOf(last) !== undefined;
  const later = started.slice(goesOn && endsWithin ? recorded.length : Infinity);
  const stillTried = tried.slice(goesOn ? Math.max(ends.length, tried.length - 1) : Infinity);
  const owed = [...later, ...stillTried];
  const now = started.slice(0, started.length - later.length);
  const length = Math.max(recorded.length, now.length);
  for (let index = 0; index < length; index += 1) {
    const reason = reasonOf(recorded[index], now[index]);
    if (reason !== undefined) return { owed, difference: { eventId, reason } };
  }
  const reason = localDifference(ends, tried.slice(0, tried.length - stillTried.length));
  return reason === undefined ? { owed } : { owed, difference: { eventId, reason } };
}

/** Of work within the task, which histories have with what it came to. */
function localDifference(
  recorded: readonly LocalEnd[],
  started: readonly ActivityEffect[],
): string | undefined {
  const length = Math.max(recorded.length, started.length);
  for (let index = 0; index < length; index += 1) {
    const end = recorded[index];
    const effect = started[index];
    const id = textAt(end?.output, 'quick', 'effectId') ?? effect?.id;
    if (end === undefined)
      return `Today’s code tries ${effect!.kind} ${effect!.id} within the task; the record does not.`;
    if (effect === undefined || end.type !== effect.kind || id !== effect.id) {
      const today = effect === undefined ? 'does not' : `tries ${effect.kind} ${effect.id}`;
      return `The record tries ${end.type} ${id ?? ''} within the task; today’s code ${today}.`;
    }
  }
  return undefined;
}

function reasonOf(
  recorded: HistoryEvent | undefined,
  started: ActivityEffect | undefined,
): string | undefined {
  if (recorded === undefined)
    return `Today’s code starts ${started!.kind} ${started!.id}; the record does not.`;
  const attributes = attributesOf(recorded, 'activityTaskScheduled');
  const kind = textAt(attributes, 'activityType', 'name') ?? '';
  const id = idOf(recorded);
  if (started === undefined) return `The record starts ${kind} ${id}; today’s code does not.`;
  if (kind !== started.kind || id !== started.id) {
    return `The record starts ${kind} ${id}; today’s code starts ${started.kind} ${started.id}.`;
  }
  // Code that decided the same has mostly written the same text, which is quickly seen.
  const given = briefInput(started);
  if (payloadText(attributes.input) === JSON.stringify(given)) return undefined;
  const [input] = argumentsOf(attributes.input);
  if (canonicalJson(input ?? null) === canonicalJson(given as Json)) return undefined;
  return `The record starts ${kind} ${id} with other data than today’s code.`;
}

function idOf(event: HistoryEvent): string {
  return textAt(attributesOf(event, 'activityTaskScheduled'), 'activityId') ?? '';
}

/** Of the first argument, as it was written. */
function payloadText(payloads: Json | undefined): string {
  return textOfBase64(textAt(payloadsOf(payloads)[0], 'data') ?? '');
}
