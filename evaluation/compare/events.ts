/** Judges the order of events, transitions and warnings. */
import type { RunEvent } from '../../core/state/event.js';
import type { EventPattern, Expected } from '../fixture.js';
import { difference, equal, NO_DIFFERENCE, type Difference } from './difference.js';
import type { Seen } from './seen.js';
import { isSegmentEnd } from './segments.js';
import { matchesPattern, ofType, type Trail } from './trail.js';

type WantedEvents = NonNullable<Expected['events']>;

/**
 * The patterns must match in this order, with anything in between; a `not` matches nowhere at all. `n` is the
 * k-th event of the whole run that the rest of its pattern describes.
 */
export function judgeEvents(wanted: WantedEvents, { trail }: Seen): readonly Difference[] {
  let from = 0;
  for (const [index, pattern] of wanted.entries()) {
    const path = `events[${index}]`;
    if ('not' in pattern) {
      const [match] = matchesOf(pattern.not, trail);
      if (match !== undefined)
        return difference(path, { not: patternJson(pattern.not) }, at(match, trail));
      continue;
    }
    const match = matchesOf(pattern, trail).find((position) => position >= from);
    if (match === undefined) {
      return difference(path, patternJson(pattern), whyNot(pattern, trail, from));
    }
    from = match + 1;
  }
  return NO_DIFFERENCE;
}

/** Positions that a pattern matches. */
function matchesOf(pattern: EventPattern, trail: Trail): readonly number[] {
  const positions = trail.events.flatMap((event, index) =>
    matchesPattern(event, pattern, trail) ? [index] : [],
  );
  const { n } = pattern;
  return n === undefined ? positions : positions.slice(n - 1, n);
}

function whyNot(pattern: EventPattern, trail: Trail, from: number): string {
  const { n: _, ...anyOccurrence } = pattern;
  const all = matchesOf(anyOccurrence, trail);
  if (all.length === 0) return 'no such event';
  const before = trail.events[from - 1];
  const places = all.map((position) => at(position, trail)).join(', ');
  return before === undefined ? places : `${places}; not after ${at(from - 1, trail)}`;
}

function at(position: number, trail: Trail): string {
  const event = trail.events[position];
  return event === undefined ? '' : `${event.type} at seq ${event.stamp.seq}`;
}

function patternJson(pattern: EventPattern) {
  return { ...pattern };
}

/** A segment that ends by itself, but for no handover, need not be named: when it ends depends on the engine. */
export function judgeTransitions(
  wanted: readonly string[],
  { trail: { events } }: Seen,
): readonly Difference[] {
  const told = events.flatMap((event, index) =>
    event.type === 'transition' && event.reason !== 'next_turn'
      ? [{ reason: event.reason, isPlain: isSegmentEnd(event, events[index + 1]) }]
      : [],
  );
  const all = told.map(({ reason }) => reason);
  const named = told.filter((one) => !one.isPlain).map(({ reason }) => reason);
  const isNamed = equal('transitions', wanted, named).length === 0;
  return isNamed ? NO_DIFFERENCE : equal('transitions', wanted, all);
}

export function judgeWarnings(wanted: readonly string[], { trail }: Seen): readonly Difference[] {
  const warnings = ofType(trail.events, 'warning').map(inWords);
  return wanted.flatMap((piece) =>
    warnings.some((warning) => warning.includes(piece))
      ? []
      : difference('warnings', piece, warnings),
  );
}

function inWords({ code, message }: Extract<RunEvent, { type: 'warning' }>): string {
  return `${code}: ${message}`;
}
