/** Checks of one run of a bundle whose segments come one at a time. */
import type { Json } from '../../core/json/json.js';
import type { RunEvent } from '../../core/state/event.js';
import { brokenLink, linkOf, type Link } from '../../recording/chain.js';
import { payloadReader, payloadValuesIn } from '../../recording/history.js';
import type { Bundle, Segment } from '../bundle.js';
import {
  isCompleted,
  otherStart,
  otherTenant,
  wrongEvents,
  type ToldEvent,
} from '../broken-content.js';
import { brokenHistory } from '../broken-history.js';
import { carriedReader, formsOf, type Carried } from '../carried-events.js';
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
  /** Of the events, by their numbers, which only grow; MET once a history has carried one as it was told. */
  const digests = new Map<number, string>();
  let newest = -1;
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

  function* told(): Generator<ToldEvent> {
    for (const [seq, digest] of digests) yield { seq, isCarried: () => digest === MET };
  }

  return {
    event(event, form) {
      const { seq } = event.stamp;
      if (seq <= newest) throw new NotCanonical('an event is out of order');
      newest = seq;
      digests.set(seq, digestOf(form));
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
        if (digest === undefined || digest === MET) continue;
        if (formsOf(came).some((form) => digestOf(form) === digest)) digests.set(seq, MET);
      }
    },
    end() {
      if (before === undefined) throw new NotCanonical('it has no segments');
      refuse(wrongEvents(told(), { stored, ended }));
      return { parent };
    },
  };
}

function refuse(broken: string | undefined): void {
  if (broken !== undefined) throw new NotCanonical(broken);
}

const MET = '';

/** A letter for each byte: a long run has tens of thousands. */
function digestOf(form: string): string {
  return sha256OfText(form, 'binary');
}

export interface FoundReferences {
  refer(hashes: Iterable<string>): void;
  find(hash: string): void;
  /** All that is referred to has been found. */
  isWhole(): boolean;
}

/** By hashes: of references those are held that nothing has been found for. */
export function references(): FoundReferences {
  const found = new Set<string>();
  const missing = new Set<string>();
  return {
    isWhole: () => missing.size === 0,
    refer(hashes: Iterable<string>): void {
      for (const hash of hashes) if (!found.has(hash)) missing.add(hash);
    },
    find(hash: string): void {
      found.add(hash);
      missing.delete(hash);
    },
  };
}
