/** Judges what servers of the case were called for. */
import type { Json } from '../../core/json/json.js';
import type { SeenServerCall } from '../engine.js';
import type { Expected } from '../fixture.js';
import { difference, isSame, NO_DIFFERENCE, type Difference } from './difference.js';
import type { Seen } from './seen.js';

type WantedCall = NonNullable<Expected['served']>[string][number];

/** Of each server that is named the whole list; keys that are not given are not looked at. */
export function judgeServed(
  wanted: NonNullable<Expected['served']>,
  { observation: { served = {} } }: Seen,
): readonly Difference[] {
  return Object.entries(wanted).flatMap(([server, calls]) => {
    const seen = served[server] ?? [];
    return Array.from({ length: Math.max(calls.length, seen.length) }).flatMap((_, index) => {
      const [expected, observed] = [calls[index], seen[index]];
      const holds = expected !== undefined && observed !== undefined && isLike(expected, observed);
      const path = `served.${server}[${index}]`;
      return holds
        ? NO_DIFFERENCE
        : difference(
            path,
            (expected ?? 'nothing more') as Json,
            (observed as unknown as Json | undefined) ?? 'nothing more',
          );
    });
  });
}

function isLike(wanted: WantedCall, seen: SeenServerCall): boolean {
  return (
    wanted.tool === seen.tool &&
    (wanted.input === undefined || isSame(wanted.input as Json, seen.input)) &&
    (wanted.answers === undefined || isSame(wanted.answers as Json, seen.answers)) &&
    (wanted.state === undefined || wanted.state === seen.state)
  );
}
