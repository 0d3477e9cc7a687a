/** Checks of one run of a bundle whose segments come one at a time. */
import { canonicalJson, type Json } from '../../core/json/json.js';
import type { RunEvent } from '../../core/state/event.js';
import { brokenLink, linkOf, type Link } from '../../recording/chain.js';
import { payloadReader, payloadValuesIn } from '../../recording/history.js';
import type { Bundle, Segment } from '../bundle.js';
import { isCompleted, otherStart, otherTenant, wrongEvents } from '../broken-content.js';
import { brokenHistory } from '../broken-history.js';
import { carriedReader, type Carried } from '../carried-events.js';
import { referencesIn, type References } from '../references.js';
import { sha256OfText } from '../sha256.js';
import { parentIn } from '../tree.js';
import { NotCanonical } from './json-pieces.js';

export interface RunChecks {
  /** All of its events, before its segments; `form`: the canonical one. */
  event(event: RunEvent, form: string): void;
  segment(segment: Segment, run: Bundle['run']): void;
  /** Behind its last segment. Gives the run that started it, by its own history. */
  end(): { readonly parent: string | undefined };
}

/** `refer` hears what the run refers to. Errors: `NotCanonical` for what is wrong. */
export function runChecks(refer: (references: References) => void): RunChecks {
  /** Of the events, as they came. */
  const numbers: number[] = [];
  const digests = new Map<number, string>();
  /** Numbers of events that came as they were told. */
  const carried = new Set<number>();
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
      const { seq } = event.stamp;
      numbers.push(seq);
      // Of a number that comes twice the end says so.
      digests.set(seq, sha256OfText(form));
      refer(referencesIn([event as unknown as Json]));
    },
    segment(segment, run) {
      refuse(brokenLink(segment, before));
      refuse(brokenHistory(segment.events));
      refuse(otherStart(run, segment));
      if (before === undefined) parent = parentIn(segment.events[0]);
      before = linkOf(segment);
      ended = isCompleted(segment);
      for (const [seq, came] of readEvents(segment, run)) {
        const digest = digests.get(seq);
        if (digest === undefined || carried.has(seq)) continue;
        if (formsOf(came).some((form) => sha256OfText(form) === digest)) carried.add(seq);
      }
    },
    end() {
      if (before === undefined) throw new NotCanonical('it has no segments');
      const told = numbers.map((seq) => ({ seq, isCarried: () => carried.has(seq) }));
      refuse(wrongEvents(told, { stored, ended }));
      return { parent };
    },
  };
}

function formsOf({ first, others }: Carried): readonly string[] {
  return [canonicalJson(first as Json), ...others];
}

function refuse(broken: string | undefined): void {
  if (broken !== undefined) throw new NotCanonical(broken);
}
