/** What a tree was doing below its root when something was said to the root: the moment of a case in the run at work. */
import type { WrittenPattern } from '../format/during.js';
import { asksIn } from './asked.js';
import type { Heard } from './heard.js';
import { isOpenAt, ofAsk, whenEnded, whileFlying } from './moment-places.js';
import type { Activity } from './recording.js';
import type { Member } from './tree.js';

/** By the clock of the server, because places are those of one history; undefined: nothing below was at work. */
export function momentBelow(members: readonly Member[], heard: Heard): WrittenPattern | undefined {
  const at = heard.takenAt;
  for (const { place, recording } of members.toReversed()) {
    const { activities, bundle } = recording;
    const { events } = bundle;
    const [first, last] = [events[0], events.at(-1)];
    if (first === undefined || first.stamp.at > at || last!.stamp.at < at) continue;
    const waiting = asksIn(events).findLast((ask) => isOpenAt(ask, heard, events));
    const flying = activities.findLast((one) => one.begunAt <= at && (one.endedAt ?? at) >= at);
    const ended = activities.findLast((one) => isBefore(one, at));
    const of =
      (waiting && ofAsk(waiting, events)) ??
      (flying && whileFlying(flying, events)) ??
      (ended && whenEnded(ended, events));
    if (of !== undefined && !('start' in of)) return { ...of, run: place };
  }
  return undefined;
}

function isBefore({ endedAt }: Activity, at: number): boolean {
  return endedAt !== undefined && endedAt < at;
}
