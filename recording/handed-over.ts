/**
 * The calls that a record gave to an executor, as its histories have them: also where the record cannot be folded.
 * Invariant: a call that was ever scheduled is listed; one that is known to have ended well says so, any other is in doubt.
 */
import { attributesOf, argumentsOf, at, textAt, timeOf, typeOf } from './history.js';
import { inputOf, kindOf } from './activity-payloads.js';
import type { HistoryEvent } from './history.js';
import { localEndOf } from './markers.js';
import { digestOf, type Json } from '../core/json/json.js';
import type { Segment } from './chain.js';

export interface RecordedCall {
  /** Whose call it was; absent: the run's that was asked about. */
  readonly runId?: string;
  /** Idempotency key. */
  readonly key: string;
  readonly tool: string;
  /** Of tool, version and arguments. */
  readonly digest: string;
  /** Of the arguments alone; absent: the history does not have them. */
  readonly plainDigest?: string;
  /** ms since epoch. */
  readonly at: number;
  readonly isDone: boolean;
}

/** In the order in which they were scheduled. */
export function recordedCalls(segments: readonly Segment[]): readonly RecordedCall[] {
  const reader = callReader();
  for (const segment of segments) reader.segment(segment);
  return reader.calls();
}

/** Of segments that come one by one. */
export interface CallReader {
  segment(segment: Pick<Segment, 'events'>): void;
  calls(): readonly RecordedCall[];
  /** Without those of tools that only read for the agent that the run had when it made the call. */
  effects(): readonly RecordedCall[];
}

export function callReader(): CallReader {
  const calls = new Map<string, RecordedCall>();
  /** Keys. */
  const effects = new Set<string>();
  let reading: ReadonlySet<string> = new Set();
  return {
    segment({ events }) {
      const done = doneIn(events);
      for (const event of events) {
        reading = readingTools(event) ?? reading;
        const call = callOf(event);
        if (call === undefined) continue;
        const before = calls.get(call.key);
        const isDone = before?.isDone === true || done.has(event.eventId);
        calls.set(call.key, { ...call, isDone });
        if (!reading.has(call.tool)) effects.add(call.key);
      }
    },
    calls: () => [...calls.values()],
    effects: () => [...calls.values()].filter(({ key }) => effects.has(key)),
  };
}

/** Whether the run started other runs: what they did is in their own histories. */
export function startedOthers(segments: readonly Segment[]): boolean {
  return segments.some(({ events }) =>
    events.some((event) => typeOf(event) === 'START_CHILD_WORKFLOW_EXECUTION_INITIATED'),
  );
}

function callOf(event: HistoryEvent): Omit<RecordedCall, 'isDone'> | undefined {
  if (kindOf(event) !== 'execute_tool') return undefined;
  const call = at(inputOf(event), 'call');
  const [key, tool, digest] = ['key', 'tool', 'digest'].map((name) => textAt(call, name));
  if (key === undefined || tool === undefined || digest === undefined) return undefined;
  const args = at(call, 'args');
  const plain = args !== undefined && { plainDigest: digestOf(args) };
  return { key, tool, digest, ...plain, at: timeOf(event) };
}

/** Ids of the events that scheduled what ended well. */
function doneIn(events: readonly HistoryEvent[]): ReadonlySet<string> {
  const ids = events.flatMap((event) => {
    if (typeOf(event) !== 'ACTIVITY_TASK_COMPLETED') return [];
    const completed = attributesOf(event, 'activityTaskCompleted');
    const outcome: Json | undefined = at(argumentsOf(completed.result)[0], 'outcome', 'kind');
    const scheduled = textAt(completed, 'scheduledEventId');
    return outcome === 'ok' && scheduled !== undefined ? [scheduled] : [];
  });
  return new Set(ids);
}

/** Of the agent that the run has from this event on; undefined: the one before. A tool that says nothing of its effect may have one. */
function readingTools(event: HistoryEvent): ReadonlySet<string> | undefined {
  const completed = attributesOf(event, 'activityTaskCompleted');
  const output = localEndOf(event)?.output ?? argumentsOf(completed.result)[0];
  // A fork begins with the agent of the run before it, or with one frozen anew.
  const tools = [['frozen'], ['fork', 'frozen'], ['fork', 'run', 'frozen']]
    .map((path) => at(output, ...path, 'tools'))
    .find((found) => found !== undefined);
  if (!Array.isArray(tools)) return undefined;
  const reading = (tools as readonly Json[]).flatMap((tool) => {
    const [name, effect] = [textAt(tool, 'name'), textAt(tool, 'effect')];
    return name !== undefined && (effect === 'read' || effect === 'none') ? [name] : [];
  });
  return new Set(reading);
}
