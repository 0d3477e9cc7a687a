/**
 * When something happens from outside (`during`): occurrences of the run are matched against patterns, and
 * the actions of those that match are performed in order.
 * Invariant: one occurrence counts once, whether a double or the engine saw it first.
 */
import type { RunEvent } from '../../core/state/event.js';
import { cycleOf, cycleOfRun, isNarrowed } from '../goal-tree.js';
import { callNameOf, type CallName } from '../call-names.js';
import { isOtherRun, placeOfRun, type PlaceOf } from '../run-tree.js';
import type { Action, EventPattern, Fixture, Moment, Narrowing, Pattern } from '../fixture.js';
import type { StageWorker } from './stage.js';

export type Occurrence =
  | { readonly kind: 'start' }
  | {
      readonly kind: 'modelCall';
      readonly number: number;
      readonly at: 'before' | 'streaming' | 'after';
      /** Of the run that asks. */
      readonly runId?: string;
    }
  | {
      readonly kind: 'event';
      readonly event: string;
      /** Of the run that it belongs to. */
      readonly runId?: string;
      /** Of a goal: the cycle that it is about. */
      readonly cycle?: number;
      /** Of a goal: the check that it is about. */
      readonly check?: string;
      readonly call?: string;
      readonly tool?: string;
      /** Of an event about several calls. */
      readonly calls?: readonly NamedCall[];
      readonly name?: string;
      /** Names this occurrence among all of its run. */
      readonly id: string;
    };

export interface NamedCall {
  readonly id: string;
  readonly tool?: string;
}

interface Watched {
  readonly moment: Moment;
  matches: number;
  fired: number;
}

export interface Moments {
  /** Performs what was to happen now, and says what that was. */
  reach(occurrence: Occurrence): Promise<readonly Action[]>;
  /** Whether something would happen now, or, with a kind of action, whether this would. */
  expects(occurrence: Occurrence, kind?: Action['kind']): boolean;
}

/** By what patterns name a run. */
export interface RunsNamed {
  /** Of a cycle. */
  readonly agentOf?: (cycle: number) => string | undefined;
  readonly placeOf?: PlaceOf;
}

export function momentsOf(
  fixture: Pick<Fixture, 'during' | 'model' | 'agents' | 'runs' | 'goal' | 'expected'>,
  perform: (action: Action) => Promise<void>,
  { agentOf = () => undefined, placeOf = placeOfRun }: RunsNamed = {},
): Moments {
  const watched: Watched[] = fixture.during.map((moment) => ({ moment, matches: 0, fired: 0 }));
  const seen = new Set([SEEN_BY_DOUBLES]);
  const nameOf = callNameOf(fixture);
  const toolOfCall = new Map<string, string>();
  const matches = (on: Pattern, occurrence: Occurrence): boolean =>
    isOfRun(on, occurrence, placeOf) &&
    isMatch(on, occurrence, (one) => callsOf(one, nameOf, toolOfCall)) &&
    (occurrence.kind === 'start' || isNarrowed(narrowing(on), aboutCycle(occurrence), agentOf));

  function isNew(occurrence: Occurrence): boolean {
    return occurrence.kind !== 'event' || !seen.has(seenAs(occurrence));
  }

  function due(occurrence: Occurrence): readonly Action[] {
    const actions: Action[] = [];
    for (const one of watched) {
      if (!matches(one.moment.on, occurrence)) continue;
      one.matches += 1;
      if (one.fired >= one.moment.times || one.matches < nthOf(one.moment.on)) continue;
      one.fired += 1;
      actions.push(...one.moment.actions);
    }
    return actions;
  }

  return {
    expects: (occurrence, kind) =>
      isNew(occurrence) &&
      watched.some(
        ({ moment, matches: before, fired }) =>
          matches(moment.on, occurrence) &&
          fired < moment.times &&
          before + 1 >= nthOf(moment.on) &&
          (kind === undefined || moment.actions.some((action) => action.kind === kind)),
      ),
    async reach(occurrence) {
      if (watched.length === 0 || !isNew(occurrence)) return [];
      if (occurrence.kind === 'event') {
        seen.add(seenAs(occurrence));
        for (const { id, tool } of occurrence.calls ?? []) {
          if (tool !== undefined) toolOfCall.set(nameOf(id), tool);
        }
      }
      const actions = due(occurrence);
      for (const action of actions) await perform(action);
      return actions;
    },
  };
}

/** Patterns speak of the run itself; what another run does is meant by whoever names its call or tool. */
function isOfRun(on: Pattern, occurrence: Occurrence, placeOf: PlaceOf): boolean {
  const { runId } = occurrence as { readonly runId?: string };
  const { run } = on.kind === 'start' ? {} : narrowing(on);
  if (run !== undefined) return runId !== undefined && placeOf(runId) === run;
  if (runId === undefined || !isOtherRun(runId)) return true;
  return on.kind === 'event' && (on.pattern.call !== undefined || on.pattern.tool !== undefined);
}

/** The run is about to hear that it is open, which it tells first of all. */
export function openedOf(runId: string): Occurrence {
  return { kind: 'event', event: 'session_init', runId, id: 'session_init#0' };
}

/** One occurrence counts once in its run; the runs of a goal have the same names for their own. */
function seenAs({ id, runId }: EventOccurrence): string {
  return id === SEEN_BY_DOUBLES || runId === undefined ? id : `${runId} ${id}`;
}

function narrowing(on: Pattern): Narrowing {
  if (on.kind === 'start') return {};
  return on.kind === 'event' ? on.pattern : on;
}

function aboutCycle(occurrence: Exclude<Occurrence, { kind: 'start' }>): number | undefined {
  if (occurrence.kind === 'event' && occurrence.cycle !== undefined) return occurrence.cycle;
  return occurrence.runId === undefined ? undefined : cycleOfRun(occurrence.runId);
}

/** Reaches what happens at the end of an activity, as its outcome does the run. */
export async function reachAtEnd(
  moments: Moments,
  occurrence: Occurrence,
  worker: StageWorker,
): Promise<void> {
  if (moments.expects(occurrence)) return worker.together(() => moments.reach(occurrence));
  await moments.reach(occurrence);
}

/** The occurrence that an emitted event is. */
export function occurrenceOf(event: RunEvent): Occurrence {
  const { type } = event;
  const call = 'callId' in event ? event.callId : undefined;
  const tool = 'tool' in event ? event.tool : undefined;
  const name = hookNameOf(event);
  const cycle = cycleOf(event);
  return {
    kind: 'event',
    event: type,
    runId: event.stamp.runId,
    ...(cycle !== undefined && { cycle }),
    ...(type === 'check_finished' && { check: event.name }),
    ...(call !== undefined && { call }),
    ...(tool !== undefined && { tool }),
    ...callsIn(event),
    ...(name !== undefined && { name }),
    id: idOf(event),
  };
}

function callsIn(event: RunEvent): { readonly calls?: readonly NamedCall[] } {
  if (event.type === 'model_response') return { calls: event.calls };
  if (event.type !== 'tool_results_message') return {};
  return { calls: event.callIds.map((id) => ({ id })) };
}

/** Doubles see these themselves, and name them by what they know. */
function idOf(event: RunEvent): string {
  switch (event.type) {
    case 'tool_started':
    case 'tool_finished':
      return toolOccurrence(event.type, event.callId);
    case 'model_response':
      return replyOccurrence(event.call);
    case 'hook':
      return SEEN_BY_DOUBLES;
    default:
      return `${event.type}#${event.stamp.seq}`;
  }
}

/** Every hook of a case is a double, which reaches its moment before it answers. */
const SEEN_BY_DOUBLES = 'seen by doubles';

export function toolOccurrence(type: 'tool_started' | 'tool_finished', callId: string): string {
  return `${type}:${callId}`;
}

export function replyOccurrence(call: number): string {
  return `model_response:${call}`;
}

function hookNameOf(event: RunEvent): string | undefined {
  const { point, name } = event as { readonly point?: unknown; readonly name?: unknown };
  if ((event.type as string) !== 'hook') return undefined;
  return typeof point === 'string' ? point : typeof name === 'string' ? name : undefined;
}

type EventOccurrence = Extract<Occurrence, { kind: 'event' }>;

/** The calls that an event is about, by the names that the case has for them. */
function callsOf(
  { call, tool, calls = [] }: EventOccurrence,
  nameOf: CallName,
  toolOfCall: ReadonlyMap<string, string>,
): readonly NamedCall[] {
  const one = call === undefined ? [] : [{ id: call, ...(tool !== undefined && { tool }) }];
  return [...one, ...calls].map(({ id, tool: own }) => {
    const name = nameOf(id);
    const known = own ?? toolOfCall.get(name);
    return { id: name, ...(known !== undefined && { tool: known }) };
  });
}

type CallsOf = (occurrence: EventOccurrence) => readonly NamedCall[];

function isMatch(pattern: Pattern, occurrence: Occurrence, callsOfEvent: CallsOf): boolean {
  switch (pattern.kind) {
    case 'start':
      return occurrence.kind === 'start';
    case 'modelCall':
      return (
        occurrence.kind === 'modelCall' &&
        occurrence.number === pattern.number &&
        occurrence.at === pattern.at
      );
    case 'event':
      return occurrence.kind === 'event' && matchesEvent(pattern.pattern, occurrence, callsOfEvent);
  }
}

function matchesEvent(
  { event, call, tool, name, check }: EventPattern,
  occurrence: EventOccurrence,
  callsOfEvent: CallsOf,
): boolean {
  if (event !== occurrence.event) return false;
  if (name !== undefined && name !== occurrence.name) return false;
  if (check !== undefined && check !== occurrence.check) return false;
  if (call === undefined && tool === undefined) return true;
  if (call === undefined && tool === occurrence.tool) return true;
  return callsOfEvent(occurrence).some(
    (one) => (call === undefined || call === one.id) && (tool === undefined || tool === one.tool),
  );
}

function nthOf(pattern: Pattern): number {
  return pattern.kind === 'event' ? (pattern.pattern.n ?? 1) : 1;
}
