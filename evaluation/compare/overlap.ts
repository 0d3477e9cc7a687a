/**
 * Whether two calls ran at the same time. The events of a run decide: from `tool_started` to `tool_finished`
 * a call is in flight, however short its work was and whatever the clock of an engine shows.
 */
import type { RunEvent } from '../../core/state/event.js';
import type { Expected } from '../fixture.js';
import { difference, NO_DIFFERENCE, type Difference } from './difference.js';
import type { Seen } from './seen.js';

type Wanted = NonNullable<Expected['overlap']>;

export function judgeOverlap(wanted: Wanted, seen: Seen): readonly Difference[] {
  return wanted.flatMap((pair) => {
    const apart = 'not' in pair;
    const [a = '', b = ''] = apart ? pair.not : pair;
    const [first, second] = spansOf([a, b], seen);
    if (first === undefined || second === undefined) {
      const missing = [first === undefined ? a : '', second === undefined ? b : ''];
      return difference(
        'overlap',
        `${a} and ${b} run`,
        `${missing.filter(Boolean).join(', ')} never ran`,
      );
    }
    if (together(first, second) !== apart) return NO_DIFFERENCE;
    const words = [`${a} and ${b} at the same time`, `${a} and ${b} one after the other`] as const;
    return difference('overlap', words[apart ? 1 : 0], words[apart ? 0 : 1]);
  });
}

/** From and to in one order of happenings. */
interface Span {
  readonly from: number;
  readonly to: number;
}

function together(a: Span, b: Span): boolean {
  return a.from < b.to && b.from < a.to;
}

/** Calls of sub-agents are in no event of this run: then the engine's clock has to do for both. */
function spansOf(calls: readonly string[], seen: Seen): readonly (Span | undefined)[] {
  const spans = calls.map((call) => eventSpan(call, seen));
  return spans.includes(undefined) ? calls.map((call) => clockSpan(call, seen)) : spans;
}

function eventSpan(call: string, { trail }: Seen): Span | undefined {
  const from = trail.events.findIndex((event) => isOf(event, 'tool_started', call));
  const to = trail.events.findLastIndex((event) => isOf(event, 'tool_finished', call));
  return from < 0 ? undefined : { from, to: to < 0 ? Number.POSITIVE_INFINITY : to };
}

function clockSpan(call: string, { observation }: Seen): Span | undefined {
  const execution = observation.executions.find((one) => one.callId === call);
  return execution && { from: execution.startedAt, to: execution.endedAt };
}

function isOf(event: RunEvent, type: 'tool_started' | 'tool_finished', call: string): boolean {
  return event.type === type && event.callId === call;
}
