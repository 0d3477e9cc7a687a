/** Checks of one run of a bundle whose segments come one at a time. */
import type { Json } from '../../core/json/json.js';
import type { RunEvent } from '../../core/state/event.js';
import { brokenLink, linkOf, type Link } from '../../recording/chain.js';
import { payloadReader, payloadValuesIn } from '../../recording/history.js';
import type { Bundle, Segment } from '../bundle.js';
import { isCompleted, otherStart, otherTenant, wrongEvents } from '../broken-content.js';
import { brokenHistory } from '../broken-history.js';
import { carriedReader, formsOf, type Carried } from '../carried-events.js';
import { referencesIn, type References } from '../references.js';
import { parentIn } from '../tree.js';
import { NotCanonical } from './json-pieces.js';
import { toldDigests } from './told-digests.js';

export interface RunChecks {
  /** All of its events, before its segments; `form`: the canonical one. */
  event(event: RunEvent, form: string): void;
  segment(segment: Segment, run: Bundle['run']): void;
  /** Behind its last segment. Gives the run that started it, by its own history. */
  end(): { readonly parent: string | undefined };
}

/** `refer` hears what the run refers to. Errors: `NotCanonical` for what is wrong. */
export function runChecks(refer: (references: References) => void): RunChecks {
  const told = toldDigests();
  const stored = new Set<number>();
  let before: Link | undefined;
  let parent: string | undefined;
  let ended = false;

  /** A payload is decoded once for all that looks at it, and let go. */
  function readEvents(segment: Segment, run: Bundle['run']): ReadonlyMap<number, Carried> {
    const found = new Map<number, Carried>();
    const reader = carriedReader(found, stored);
    for (const event of segment.events) {
      const read = payloadReader();
      refuse(otherTenant(run, { segment, event, read }));
      reader.event(event, read);
      refer(referencesIn(payloadValuesIn(event, read)));
    }
    reader.end();
    return found;
  }

  return {
    event(event, form) {
      if (!told.add(event.stamp.seq, form)) throw new NotCanonical('an event is out of order');
      refer(referencesIn([event as unknown as Json]));
    },
    segment(segment, run) {
      refuse(brokenLink(segment, before));
      refuse(brokenHistory(segment.events));
      refuse(otherStart(run, segment));
      if (before === undefined) parent = parentIn(segment.events[0]);
      before = linkOf(segment);
      ended = isCompleted(segment);
      for (const [seq, came] of readEvents(segment, run)) told.carried(seq, () => formsOf(came));
    },
    end() {
      if (before === undefined) throw new NotCanonical('it has no segments');
      refuse(wrongEvents(told.all(), { stored, ended }));
      return { parent };
    },
  };
}

function refuse(broken: string | undefined): void {
  if (broken !== undefined) throw new NotCanonical(broken);
}
