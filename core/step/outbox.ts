/**
 * The outbox: events wait here until an effect has carried them to the store.
 * Invariants:
 *  O1 Only this file gives a `seq`; they are gap-free from 0.
 *  O2 One effect at a time carries events, at most EVENTS_PER_BATCH and BATCH_BYTES_MAX.
 *  O3 An event leaves only when an outcome acknowledges it; a failed carrier loses nothing.
 *  O4 A payload does not say twice what it says elsewhere; `wholeEvents` gives back exactly the events that `wireForm`
 *     and `leanEvents` were given.
 */
import { surelyFits, UNIT_BYTES_MAX, type StoredText } from '../json/json.js';
import type { Carrier } from '../state/carrier.js';
import type { RunRef } from '../state/effect.js';
import type {
  EventBody,
  EventStamp,
  Phase,
  RunEvent,
  WireEvent,
  WireStamp,
} from '../state/event.js';
import type { Run, Warning } from '../state/run.js';
import type { Supervision } from '../state/supervision.js';
import type { TranscriptItem } from '../state/transcript.js';
import type { WarningCode } from '../state/warning.js';
import { follows } from './changes.js';
import { utf8ToBytes } from '@noble/hashes/utils';

export const EVENTS_PER_BATCH = 200;
export const BATCH_BYTES_MAX = 32 * 1024;

/** Whoever emits events. */
export interface Emitter extends Carrier {
  readonly runId: string;
  readonly traceId: string;
  readonly phase: Phase;
  readonly turn?: { readonly step: number };
  readonly tally: { readonly step: number; readonly turnCount: number };
  readonly supervision?: Supervision;
}

/** Appends one event, stamped with the run's present. */
export function emit<R extends Emitter>(run: R, body: EventBody): R {
  const event: RunEvent = {
    ...body,
    stamp: {
      seq: run.outbox.nextSeq,
      runId: run.runId,
      traceId: run.traceId,
      at: run.now,
      phase: run.phase,
      step: run.turn?.step ?? run.tally.step,
      turn: run.tally.turnCount,
      ...(run.rule !== undefined && { rule: run.rule }),
    },
  };
  const outbox = {
    ...run.outbox,
    nextSeq: run.outbox.nextSeq + 1,
    events: [...run.outbox.events, event],
  };
  const { supervision } = run;
  const watched = supervision?.on?.some((type) => type === body.type) === true;
  const transition = body.type === 'transition' &&
    follows(run, 'shownTransition') && { reason: body.reason, at: run.now };
  return {
    ...run,
    outbox,
    ...(watched && { supervision: { ...supervision, due: true } }),
    ...(transition !== false && { transition }),
  };
}

/** Warnings that are kept for after `session_init`, which is always the first event. */
const HELD_WARNINGS_MAX = 50;

/**
 * A fact worth a person's attention; the text is bounded because it quotes the outside.
 * Before `session_init` it waits for it; after `run_result`, the last event, it is not told any more.
 */
export function warn<R extends Run>(run: R, code: WarningCode, message: string): R {
  return warnAbout(run, { code, message });
}

/** The same for what would be true of many steps: the first one tells it. */
export function warnOnce<R extends Run>(run: R, code: WarningCode, message: string): R {
  const { warnedOnce = [] } = run;
  if (warnedOnce.includes(code)) return run;
  return warn({ ...run, warnedOnce: [...warnedOnce, code] }, code, message);
}

/** The same of a decision that does not count. */
export function warnAbout<R extends Run>(run: R, { code, message, about }: Warning): R {
  const warning = {
    code,
    message: message.slice(0, 500),
    ...(about !== undefined && { about }),
  };
  if (run.frozen === undefined || run.arrival !== undefined) {
    const held = run.heldWarnings ?? [];
    return held.length < HELD_WARNINGS_MAX ? { ...run, heldWarnings: [...held, warning] } : run;
  }
  return run.stopping?.result ? run : emit(run, { type: 'warning', ...warning });
}

/** Emits the warnings that had to wait for `session_init`. */
export function releaseWarnings<R extends Run>(run: R): R {
  const { heldWarnings = [], ...rest } = run;
  return heldWarnings.reduce<R>((next, one) => warnAbout(next, one), rest as R);
}

/** The next events for a carrier: the oldest that fit one batch, nothing while another carries. */
export function batch(run: Carrier, bytesMax = BATCH_BYTES_MAX): readonly WireEvent[] {
  if (run.outbox.carrier !== undefined) return [];
  const chosen: WireEvent[] = [];
  let bytes = 0;
  const before = run.outbox.events;
  const waiting = before
    .slice(0, EVENTS_PER_BATCH)
    .map((event, index) => wireForm(event, before[index - 1]));
  // What follows would choose them all: it reckons with so many bytes for a letter where there is room for them.
  if (surelyFits(waiting, bytesMax / UNIT_BYTES_MAX)) return waiting;
  for (const event of waiting) {
    bytes += bytesOf(JSON.stringify(event), bytesMax - bytes) + 1;
    if (chosen.length > 0 && bytes > bytesMax) break;
    chosen.push(event);
  }
  return chosen;
}

/** UTF-8 bytes; where even the worst case fits `room`, the worst case: encoding takes a while. */
function bytesOf(text: string, room: number): number {
  const most = text.length * UNIT_BYTES_MAX;
  return most <= room ? most : utf8ToBytes(text).length;
}

/** True when one batch takes everything that waits. */
export function fitsOneBatch(run: Carrier): boolean {
  return batch(run).length === run.outbox.events.length;
}

/** The store has everything below `upTo`. */
export function acked<R extends Carrier>(run: R, upTo: number): R {
  const events = run.outbox.events.filter((event) => event.stamp.seq >= upTo);
  return events.length === run.outbox.events.length
    ? run
    : { ...run, outbox: { ...run.outbox, events } };
}

/** An event behind the one before it in its payload. */
export function wireForm(event: RunEvent, before: RunEvent | undefined): WireEvent {
  return { ...event, stamp: stampAfter(event.stamp, before?.stamp) };
}

function stampAfter(
  { seq, at, phase, step, turn, rule }: EventStamp,
  before?: EventStamp,
): WireStamp {
  return {
    seq,
    ...(at !== before?.at && { at }),
    ...(phase !== before?.phase && { phase }),
    ...(step !== before?.step && { step }),
    ...(turn !== before?.turn && { turn }),
    ...(rule !== before?.rule && { rule: rule ?? null }),
  };
}

/** Leaves out results that the payload appends to the transcript. */
export function leanEvents(
  events: readonly WireEvent[],
  append: readonly TranscriptItem[],
): readonly WireEvent[] {
  const results = resultsOf(append);
  return events.map((event) => {
    if (event.type !== 'tool_finished' || event.content === null) return event;
    const appended = results.get(event.callId);
    return appended !== undefined && sameText(appended, event.content)
      ? { ...event, content: null }
      : event;
  });
}

export interface EventsInPayload {
  readonly run: RunRef;
  readonly events: readonly WireEvent[];
  readonly append?: readonly TranscriptItem[];
}

/** The events of a payload with all that was left out of them. */
export function wholeEvents({ run, events, append = [] }: EventsInPayload): readonly RunEvent[] {
  const results = resultsOf(append);
  const { runId, traceId } = run;
  let before: EventStamp = { ...FIRST, runId, traceId };
  return events.map((event): RunEvent => {
    const stamp = stampBehind(before, event.stamp);
    before = stamp;
    if (event.type !== 'tool_finished') return { ...event, stamp };
    const content = event.content ?? results.get(event.callId) ?? { text: '' };
    return { ...event, content, stamp };
  });
}

function stampBehind({ rule: ruleBefore, ...before }: EventStamp, given: WireStamp): EventStamp {
  const { rule = ruleBefore, ...said } = given;
  return { ...before, ...said, ...(typeof rule === 'string' && { rule }) };
}

/** What the first event of a payload says itself. */
const FIRST = { seq: 0, at: 0, phase: 'initializing', step: 0, turn: 0 } as const;

/** References are as short as what would stand in their place. */
function sameText(a: StoredText, b: StoredText): boolean {
  return 'text' in a && 'text' in b && a.text === b.text;
}

/** By call id; of two results with one id neither is used. */
function resultsOf(append: readonly TranscriptItem[]): ReadonlyMap<string, StoredText> {
  const results = new Map<string, StoredText>();
  const twice = new Set<string>();
  for (const item of append) {
    if (item.kind !== 'results') continue;
    for (const { callId, content } of item.results) {
      if (results.has(callId)) twice.add(callId);
      results.set(callId, content);
    }
  }
  for (const callId of twice) results.delete(callId);
  return results;
}
