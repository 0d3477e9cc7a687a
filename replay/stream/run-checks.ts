/** Checks of one run of a bundle whose segments come one at a time. */
import { canonicalJson, type Json } from '../../core/json/json.js';
import type { RunEvent } from '../../core/state/event.js';
import { brokenLink, linkOf, type Link } from '../../recording/chain.js';
import { payloadValues } from '../../recording/history.js';
import type { Bundle, Segment } from '../bundle.js';
import { carriedEvents, isCompleted, otherRun, wrongEvents } from '../broken-content.js';
import { brokenHistory } from '../broken-history.js';
import { referencesIn, type References } from '../references.js';
import { sha256OfText } from '../sha256.js';
import { parentIn } from '../tree.js';
import { NotCanonical } from './json-pieces.js';

export interface RunChecks {
  /** All of its events, before its segments. */
  event(event: RunEvent): void;
  segment(segment: Segment, run: Bundle['run']): void;
  /** Behind its last segment. Gives the run that started it, by its own history. */
  end(): { readonly parent: string | undefined };
}

/** `refer` hears what the run refers to. Errors: `NotCanonical` for what is wrong. */
export function runChecks(refer: (references: References) => void): RunChecks {
  const events: { readonly seq: number; readonly digest: string }[] = [];
  /** Digests of what came under each number. */
  const carried = new Map<number, Set<string>>();
  const stored = new Set<number>();
  let before: Link | undefined;
  let parent: string | undefined;
  let ended = false;
  return {
    event(event) {
      events.push({ seq: event.stamp.seq, digest: digestOf(event) });
      refer(referencesIn([event as unknown as Json]));
    },
    segment(segment, run) {
      refuse(brokenLink(segment, before));
      refuse(brokenHistory(segment.events));
      refuse(otherRun({ run, segments: [segment] }));
      if (before === undefined) parent = parentIn(segment.events[0]);
      before = linkOf(segment);
      ended = isCompleted(segment);
      const found = carriedEvents([segment]);
      for (const [seq, { first, others }] of found.carried) {
        const digests = carried.get(seq) ?? new Set<string>();
        digests.add(digestOf(first));
        for (const form of others) digests.add(sha256OfText(form));
        carried.set(seq, digests);
      }
      for (const seq of found.stored) stored.add(seq);
      refer(referencesIn(payloadValues(segment.events as unknown as Json)));
    },
    end() {
      if (before === undefined) throw new NotCanonical('it has no segments');
      const told = events.map(({ seq, digest }) => ({
        seq,
        isCarried: () => carried.get(seq)?.has(digest) === true,
      }));
      refuse(wrongEvents(told, { stored, ended }));
      return { parent };
    },
  };
}

function digestOf(event: object): string {
  return sha256OfText(canonicalJson(event as Json));
}

function refuse(broken: string | undefined): void {
  if (broken !== undefined) throw new NotCanonical(broken);
}
