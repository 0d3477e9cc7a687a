/**
 * The calls that a record gave to an executor, as its histories have them: also where the record cannot be folded.
 * Invariant: a call that was ever scheduled is listed; one that is known to have ended well says so, any other is in doubt.
 */
import { attributesOf, argumentsOf, at, textAt, timeOf, typeOf } from './history.js';
import type { HistoryEvent } from './history.js';
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
  /** Without those of tools that only read, as the run had them when it was opened. */
  effects(): readonly RecordedCall[];
}

export function callReader(): CallReader {
  const calls = new Map<string, RecordedCall>();
  const reading = new Set<string>();
  return {
    segment({ events }) {
      for (const name of readingTools(events)) reading.add(name);
      const done = doneIn(events);
      for (const event of events) {
        const call = callOf(event);
        if (call === undefined) continue;
        const before = calls.get(call.key);
        const isDone = before?.isDone === true || done.has(event.eventId);
        calls.set(call.key, { ...call, isDone });
      }
    },
    calls: () => [...calls.values()],
    effects: () => [...calls.values()].filter(({ tool }) => !reading.has(tool)),
  };
}

/** Whether the run started other runs: what they did is in their own histories. */
export function startedOthers(segments: readonly Segment[]): boolean {
  return segments.some(({ events }) =>
    events.some((event) => typeOf(event) === 'START_CHILD_WORKFLOW_EXECUTION_INITIATED'),
  );
}

function callOf(event: HistoryEvent): Omit<RecordedCall, 'isDone'> | undefined {
  if (typeOf(event) !== 'ACTIVITY_TASK_SCHEDULED') return undefined;
  const scheduled = attributesOf(event, 'activityTaskScheduled');
  if (textAt(scheduled, 'activityType', 'name') !== 'execute_tool') return undefined;
  const call = at(argumentsOf(scheduled.input)[0], 'call');
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

/** Of the run that is opened there. A tool that says nothing of its effect may have one. */
function readingTools(events: readonly HistoryEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (typeOf(event) !== 'ACTIVITY_TASK_COMPLETED') return [];
    const completed = attributesOf(event, 'activityTaskCompleted');
    const tools = at(argumentsOf(completed.result)[0], 'frozen', 'tools');
    if (!Array.isArray(tools)) return [];
    return (tools as readonly Json[]).flatMap((tool) => {
      const [name, effect] = [textAt(tool, 'name'), textAt(tool, 'effect')];
      return name !== undefined && (effect === 'read' || effect === 'none') ? [name] : [];
    });
  });
}
