/**
 * Effects in flight: started and not yet ended by an input that names them. `flush` is the one that carries events to the
 * store when no other effect will.
 * Invariants: ids are `<kind>-<n>`, never reused in a run; an input for an id that is not in flight is late.
 */
import { PAYLOAD_BYTES_MAX, fitsBytes, jsonBytes, surelyFits } from '../json/json.js';
import type { Carrier, InFlight } from '../state/carrier.js';
import {
  ACTIVITIES,
  ACTIVITY_KINDS,
  refOf,
  type ActivityEffect,
  type ActivityKind,
  type BriefForm,
  type EffectLimits,
} from '../state/effect.js';
import type { WireEvent } from '../state/event.js';
import type { Run, Step } from '../state/run.js';
import { follows } from './changes.js';
import { storeWork } from './clock.js';
import { BATCH_BYTES_MAX, batch } from './outbox.js';

/** A step without effects. */
export function only<R extends Carrier>(run: R): Step<R> {
  return { run, effects: [] };
}

type Build = (id: string, events: readonly WireEvent[]) => ActivityEffect;

/**
 * Starts an activity; it carries the outbox's next batch unless something else already does, as far as its
 * payload has room.
 */
export function start<R extends Carrier>(run: R, kind: ActivityKind, build: Build): Step<R> {
  const id = `${kind}-${run.nextEffect}`;
  const { effect, events } = fitted(run, (carried) => build(id, carried));
  const outbox = events.length === 0 ? run.outbox : { ...run.outbox, carrier: id };
  const next = withInFlight({ ...run, outbox, nextEffect: run.nextEffect + 1 }, id, {
    kind,
    cancelled: false,
    ...(follows(run, 'workedTime') && ACTIVITIES[kind].works && { since: run.now }),
  });
  // What runs within a task is not in the history.
  const isBrief = effect.local !== true && follows(run, 'briefPayloads');
  return { run: next, effects: [isBrief ? { ...effect, brief: briefForm(run) } : effect] };
}

function briefForm({ routeTold: route }: Carrier): BriefForm {
  return route === undefined ? {} : { route };
}

/** Events wait for the next payload where this one has no room for them. */
function fitted(run: Carrier, build: (events: readonly WireEvent[]) => ActivityEffect) {
  const events = batch(run);
  const effect = build(events);
  if (fits(effect)) return { effect, events };
  const bare = build([]);
  const room = PAYLOAD_BYTES_MAX - jsonBytes(bare.input);
  if (room < 0) return { effect: { ...bare, oversized: true as const }, events: [] };
  const fewer = batch(run, Math.min(room, BATCH_BYTES_MAX));
  const smaller = build(fewer);
  // One event that does not fit where nearly everything does must still leave some day.
  return room >= BATCH_BYTES_MAX || fits(smaller)
    ? { effect: smaller, events: fewer }
    : { effect: bare, events: [] };
}

function fits({ input }: ActivityEffect): boolean {
  return surelyFits(input, PAYLOAD_BYTES_MAX) || fitsBytes(input, PAYLOAD_BYTES_MAX);
}

export interface TimerRequest {
  /** ms since epoch. */
  readonly at: number;
  readonly summary: string;
}

/** Id that the next started effect of this kind will have. */
export function nextId(run: Carrier, kind: string): string {
  return `${kind}-${run.nextEffect}`;
}

export function startTimer<R extends Carrier>(run: R, request: TimerRequest): Step<R> {
  const id = nextId(run, 'timer');
  const next = withInFlight({ ...run, nextEffect: run.nextEffect + 1 }, id, {
    kind: 'timer',
    cancelled: false,
    at: request.at,
  });
  return { run: next, effects: [{ kind: 'timer', id, ...request }] };
}

/** Removes an effect that an input has ended. */
export function finish<R extends Carrier>(run: R, id: string): R {
  const { [id]: ended, ...inflight } = run.inflight;
  if (ended === undefined) return run;
  if (run.outbox.carrier !== id) return { ...run, inflight };
  const { carrier: _, ...outbox } = run.outbox;
  return { ...run, inflight, outbox };
}

/** Cancels a timer at once: nothing comes back from it. */
export function cancelTimer<R extends Carrier>(run: R, id: string): Step<R> {
  if (run.inflight[id] === undefined) return { run, effects: [] };
  return { run: finish(run, id), effects: [{ kind: 'cancel', target: id }] };
}

/** Asks every effect of these kinds to end early; each still answers with an input. */
export function cancelAll<R extends Carrier>(run: R, kinds: readonly InFlight['kind'][]): Step<R> {
  const targets = Object.entries(run.inflight)
    .filter(([, entry]) => kinds.includes(entry.kind) && !entry.cancelled)
    .map(([id]) => id);
  if (targets.length === 0) return { run, effects: [] };
  const inflight = { ...run.inflight };
  for (const id of targets) inflight[id] = { ...inflight[id]!, cancelled: true };
  return {
    run: { ...run, inflight },
    effects: targets.map((target) => ({ kind: 'cancel', target })),
  };
}

/** True when an effect of one of these kinds is in flight. */
export function flying(run: Carrier, kinds: readonly InFlight['kind'][]): boolean {
  return Object.values(run.inflight).some((entry) => kinds.includes(entry.kind));
}

/** Everything that works for the run now; timers only wait, and a flush only stores. */
export const WORK: readonly ActivityKind[] = ACTIVITY_KINDS.filter(
  (kind) => ACTIVITIES[kind].works,
);

/** What an interrupt ends: all that works for the run, but its opening, its closing and what is owed. */
export const UNDER_WAY: readonly ActivityKind[] = ACTIVITY_KINDS.filter(
  (kind) => ACTIVITIES[kind].interruptible,
);

function withInFlight<R extends Carrier>(run: R, id: string, entry: InFlight): R {
  return { ...run, inflight: { ...run.inflight, [id]: entry } };
}

/** Work on the store alone: repeated until it is there, because nothing may be lost. */
export const STORE_LIMITS: EffectLimits = { attemptMs: 30_000, maximumAttempts: 0 };

export function flush<R extends Run>(run: R): Step<R> {
  return start(run, 'flush', (id, events): ActivityEffect => ({
    kind: 'flush',
    id,
    input: { v: 1, run: refOf(run), events },
    limits: storeWork(run, STORE_LIMITS),
    summary: `${events.length} events`,
  }));
}
