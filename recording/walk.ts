/**
 * The walk through a recorded segment: each activation is decided by the core, and compared with what was recorded.
 * Invariants: T1 to T3 of fold.ts.
 */
import type { Carrier } from '../core/state/carrier.js';
import { isActivity, type Effect } from '../core/state/effect.js';
import { failureOf } from '../core/state/failure.js';
import type { EffectInput } from '../core/state/input.js';
import type { Json } from '../core/json/json.js';
import type { Showing } from '../core/state/showing.js';
import { activationsOf, type Activation } from './activations.js';
import { attempted } from './attempted.js';
import { continuedFrom, type Segment } from './chain.js';
import { compared, type Compared, type Divergence } from './divergence.js';
import {
  at,
  attributesOf,
  durationMs,
  textAt,
  timeOf,
  typeOf,
  type HistoryEvent,
} from './history.js';
import { ANY_OTHER, type Machine } from './machines.js';
import { localEndOf } from './markers.js';
import {
  heardLocal,
  heardOutcome,
  NEW_SHELL,
  performed,
  TAKEN_BACK,
  valuesOf,
  type ScheduledIds,
  type Shell,
} from './shell.js';
import { effectLine, inputLine, type Moment } from './steps.js';

/** Where a fold can go on. */
export interface Place<S> {
  readonly state: S;
  readonly shell: Shell;
  /** The activation that comes next, within its segment; 0 has not begun. */
  readonly activation: number;
  /** What was begun and is not in the commands so far (T4 of divergence.ts). */
  readonly owed?: Compared['owed'];
}

export interface Reading {
  readonly segment: number;
  readonly workflowId: string;
  readonly started: HistoryEvent | undefined;
  readonly continues: boolean;
  readonly activations: readonly Activation[];
  readonly ids: ScheduledIds;
  /** The workflow refused its start, or gave up. */
  readonly failed: boolean;
}

export function readingOf(
  { segment, events }: Pick<Segment, 'segment' | 'events'>,
  workflowId: string,
): Reading {
  const ids = events.flatMap((event) => {
    if (typeOf(event) !== 'ACTIVITY_TASK_SCHEDULED') return [];
    const id = textAt(attributesOf(event, 'activityTaskScheduled'), 'activityId') ?? '';
    return [[event.eventId, id] as const];
  });
  return {
    segment,
    workflowId,
    started: events[0],
    continues: continuedFrom(events) !== undefined,
    activations: activationsOf(events),
    ids: new Map(ids),
    failed: typeOf(events.at(-1)!) === 'WORKFLOW_EXECUTION_FAILED',
  };
}

export interface Walked<S, I> {
  readonly moment: Moment<S, I>;
  /** Present behind the last step of an activation. */
  readonly place: Place<S> | undefined;
}

export type Walk<S, I> = Generator<Walked<S, I>, Omit<Divergence, 'step' | 'segment'> | undefined>;

/** The steps of a segment, from a place on. Gives why it ends before the record does. */
export function* walkOf<S extends Carrier, I extends { readonly type: string }>(
  machine: Machine<S, I>,
  reading: Reading,
  from: Place<S> | undefined,
): Walk<S, I> {
  const { activations } = reading;
  const begun = attempted(() => from ?? beginningOf(machine, reading));
  if (!begun.ok) return { eventId: 1, reason: begun.reason };
  let place = begun.value;
  if (typeof place === 'string') return reading.failed ? undefined : { eventId: 1, reason: place };
  for (let index = place.activation; index < activations.length; index += 1) {
    if (machine.isFinal(place.state)) return undefined;
    const { eventId } = activations[index]!;
    const before = place;
    const goesOn = index < activations.length - 1;
    const decided = attempted((): Activated<S, I> & Compared => {
      const next = activated(machine, reading, before);
      const begun = [...(before.owed ?? []), ...next.started];
      return { ...next, ...compared(activations[index]!, begun, goesOn) };
    });
    if (!decided.ok) return { eventId, reason: decided.reason };
    const { moments, difference, owed } = decided.value;
    if (difference !== undefined) return difference;
    place = { ...decided.value.place, ...(owed.length > 0 && { owed }) };
    for (const [at, moment] of moments.entries()) {
      yield { moment, place: at === moments.length - 1 ? place : undefined };
    }
  }
  return undefined;
}

function beginningOf<S extends Carrier, I>(
  machine: Machine<S, I>,
  { activations, started, workflowId, continues }: Reading,
): Place<S> | string {
  const [first] = activations;
  if (first === undefined) return { state: undefined as never, shell: NEW_SHELL, activation: 0 };
  const attributes = attributesOf(started, 'workflowExecutionStarted');
  const [argument] = valuesOf(attributes.input);
  const { at: now, code } = first;
  const beginning = {
    workflowId,
    argument,
    at: now,
    code,
    continues,
    takenAt: timeOf(started),
    taskMs: durationMs(attributes.workflowTaskTimeout),
    shown: showingOf(at(attributes, 'searchAttributes', 'indexedFields')),
  };
  const begun = machine.begin(beginning);
  if (!begun.ok) return begun.reason;
  const state = begun.value;
  return { state, shell: performed(NEW_SHELL, timersOf(state)), activation: 0 };
}

/** Search attributes of a start, as far as they are texts. */
function showingOf(fields: Json | undefined): Showing {
  const textOf = (name: string): string | undefined => {
    const [value] = valuesOf({ payloads: [at(fields, name) ?? {}] });
    return typeof value === 'string' ? value : undefined;
  };
  const [status, agent, tenant] = ['HoldfastStatus', 'HoldfastAgent', 'HoldfastTenant'].map(textOf);
  return { status, agent, tenant };
}

/** Timers of a carried state are armed again. */
function timersOf({ inflight }: Carrier): readonly Effect[] {
  return Object.entries(inflight).flatMap(([id, { kind, at: time }]) =>
    kind === 'timer' && time !== undefined
      ? [{ kind: 'timer' as const, id, at: time, summary: 'deadline' }]
      : [],
  );
}

interface Activated<S, I> {
  readonly moments: readonly Moment<S, I>[];
  readonly place: Place<S>;
  readonly started: readonly Effect[];
}

function activated<S extends Carrier, I extends { readonly type: string }>(
  machine: Machine<S, I>,
  reading: Reading,
  place: Place<S>,
): Activated<S, I> {
  const activation = reading.activations[place.activation]!;
  const moments: Moment<S, I>[] = [];
  let { state, shell } = place;
  const decide = (given: readonly I[], now = activation.at): void => {
    const before = state;
    const received = given.reduce((one, input) => machine.receive(one, input), before);
    const { run, effects, rules } = machine.advance(received);
    state = machine.answered(run);
    shell = performed(shell, effects);
    moments.push({
      step: 0,
      segment: reading.segment,
      eventId: activation.eventId,
      at: now,
      inputs: given.map(inputLine),
      rules,
      effects: effects.map(effectLine),
      events: [before.outbox.nextSeq, state.outbox.nextSeq],
      before,
      after: state,
      given,
      started: effects,
    });
  };
  // The workflow decides once before it listens.
  if (place.activation === 0) decide([]);
  const inputs = heardBy(machine, reading, { activation, state, shell });
  shell = inputs.shell;
  if (inputs.given.length > 0 && !machine.isFinal(state)) decide(inputs.given);
  for (const end of activation.commands.flatMap((event) => localEndOf(event) ?? [])) {
    const heard = machine.isFinal(state) ? undefined : heardLocal(shell, end, activation.at);
    if (heard?.input === undefined) break;
    shell = heard.shell;
    decide([machine.ofEffect(heard.input)], heard.input.at);
  }
  for (let round = 0; round < TAKEN_BACK_ROUNDS && !machine.isFinal(state); round += 1) {
    const back = takenBack(moments, activation, shell);
    if (back.given.length === 0) break;
    shell = back.shell;
    decide(back.given.map(machine.ofEffect));
  }
  const started = moments.flatMap((moment) => moment.started);
  return { moments, started, place: { state, shell, activation: place.activation + 1 } };
}

/** An effect that is cancelled where another one was. */
const TAKEN_BACK_ROUNDS = 100;

/** Activities that were begun and cancelled before the server heard of them end at once. */
function takenBack<S, I>(
  moments: readonly Moment<S, I>[],
  { commands, at: now }: Activation,
  shell: Shell,
): { readonly given: readonly EffectInput[]; readonly shell: Shell } {
  const begun = new Set(
    moments.flatMap(({ started }) => started.filter(isActivity).map(({ id }) => id)),
  );
  const recorded = new Set(
    commands.map((event) => textAt(attributesOf(event, 'activityTaskScheduled'), 'activityId')),
  );
  const launched = new Map(shell.launched);
  const given = moments.flatMap(({ started }) =>
    started.flatMap((effect): readonly EffectInput[] => {
      if (effect.kind !== 'cancel' || !begun.has(effect.target) || recorded.has(effect.target))
        return [];
      const target = launched.get(effect.target);
      if (target === undefined) return [];
      launched.delete(effect.target);
      const failure = failureOf(TAKEN_BACK, target.limits);
      return [{ type: 'effect_failed', id: effect.target, failure, at: now }];
    }),
  );
  return { given, shell: { ...shell, launched } };
}

interface Hearing<S> {
  readonly activation: Activation;
  readonly state: S;
  readonly shell: Shell;
}

function heardBy<S extends Carrier, I>(
  machine: Machine<S, I>,
  { ids, activations }: Reading,
  { activation, state, shell: begun }: Hearing<S>,
): { readonly given: readonly I[]; readonly shell: Shell } {
  const now = activation.at;
  const given: I[] = [];
  let shell = begun;
  for (const event of activation === activations[0]
    ? byReadiness(machine, activation.arrived)
    : activation.arrived) {
    switch (typeOf(event)) {
      case 'WORKFLOW_EXECUTION_SIGNALED': {
        const signal = attributesOf(event, 'workflowExecutionSignaled');
        const name = textAt(signal, 'signalName') ?? '';
        given.push(machine.signal(state, { name, raw: valuesOf(signal.input)[0], at: now }));
        break;
      }
      case 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED': {
        const { acceptedRequest } = attributesOf(event, 'workflowExecutionUpdateAccepted');
        const name = textAt(acceptedRequest, 'input', 'name') ?? '';
        const raw = valuesOf(at(acceptedRequest, 'input', 'args'))[0];
        const input = machine.update(state, { name, raw, at: now }, shell.tickets + 1);
        if (input === undefined) break;
        shell = { ...shell, tickets: shell.tickets + 1 };
        given.push(input);
        break;
      }
      case 'WORKFLOW_EXECUTION_CANCEL_REQUESTED':
        given.push(machine.own('cancel_requested', now));
        break;
      default: {
        const outcome = heardOutcome(shell, event, { ids, now });
        shell = outcome.shell;
        if (outcome.input !== undefined) given.push(machine.ofEffect(outcome.input));
      }
    }
  }
  if (given.length > 0 && activation.suggestsContinuing && !state.segment.full) {
    given.push(machine.own('segment_full', now));
  }
  return { given, shell };
}

/** What arrived before the workflow was ready for it waits for its handler. */
function byReadiness<S extends Carrier, I>(
  machine: Machine<S, I>,
  arrived: readonly HistoryEvent[],
): readonly HistoryEvent[] {
  const messages = machine.messages();
  const rank = (event: HistoryEvent): number => {
    const name =
      textAt(attributesOf(event, 'workflowExecutionSignaled'), 'signalName') ??
      textAt(
        attributesOf(event, 'workflowExecutionUpdateAccepted'),
        'acceptedRequest',
        'input',
        'name',
      );
    if (name === undefined) return messages.length;
    return messages.includes(name) ? messages.indexOf(name) : messages.indexOf(ANY_OTHER);
  };
  return arrived.toSorted((one, other) => rank(one) - rank(other));
}
