/** The events of a run, arranged for questions about calls. */
import type { Json } from '../../core/json/json.js';
import type { RunEvent } from '../../core/state/event.js';
import type { EventPattern } from '../fixture.js';
import { isMeant, type Family } from '../goal-tree.js';

/** Fields that some events have and patterns ask for. */
interface Marks {
  readonly type: string;
  readonly callId?: string;
  readonly callIds?: readonly string[];
  readonly calls?: readonly { readonly id: string; readonly tool: string; readonly args: Json }[];
  readonly tool?: string;
  readonly name?: string;
  readonly askId?: string;
  readonly decision?: string;
}

export function matchesPattern(event: RunEvent, pattern: EventPattern, trail: Trail): boolean {
  if (event.type !== pattern.event) return false;
  const marks: Marks = event;
  if (pattern.name !== undefined && marks.name !== pattern.name) return false;
  if (pattern.decision !== undefined && marks.decision !== pattern.decision) return false;
  if (!isMeant(event, pattern, trail.family)) return false;
  const calls = callsOf(marks, trail);
  if (pattern.call !== undefined && !calls.includes(pattern.call)) return false;
  return pattern.tool === undefined || toolsOf(marks, calls, trail).includes(pattern.tool);
}

export interface Trail {
  readonly events: readonly RunEvent[];
  readonly toolOfCall: ReadonlyMap<string, string>;
  readonly callOfAsk: ReadonlyMap<string, string>;
  /** Of a goal: its events and those of its cycles. */
  readonly family?: Family;
}

export function trailOf(events: readonly RunEvent[]): Trail {
  const toolOfCall = new Map<string, string>();
  const callOfAsk = new Map<string, string>();
  for (const event of events) {
    const { calls = [], callId, tool, askId }: Marks = event;
    for (const call of calls) toolOfCall.set(call.id, call.tool);
    if (callId !== undefined && tool !== undefined) toolOfCall.set(callId, tool);
    if (callId !== undefined && askId !== undefined) callOfAsk.set(askId, callId);
  }
  return { events, toolOfCall, callOfAsk };
}

/** Calls that an event is about. */
function callsOf(marks: Marks, trail: Trail): readonly string[] {
  const { callId, callIds = [], calls = [], askId } = marks;
  const asked = askId === undefined ? undefined : trail.callOfAsk.get(askId);
  const one = callId ?? asked;
  return [...(one === undefined ? [] : [one]), ...callIds, ...calls.map((call) => call.id)];
}

function toolsOf(marks: Marks, calls: readonly string[], trail: Trail): readonly string[] {
  if (marks.tool !== undefined) return [marks.tool];
  if (marks.calls !== undefined) return marks.calls.map((call) => call.tool);
  return calls.flatMap((call) => trail.toolOfCall.get(call) ?? []);
}

export function ofType<T extends RunEvent['type']>(
  events: readonly RunEvent[],
  type: T,
): readonly Extract<RunEvent, { readonly type: T }>[] {
  return events.filter(
    (event): event is Extract<RunEvent, { readonly type: T }> => event.type === type,
  );
}
