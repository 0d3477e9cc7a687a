/** A bundle as it is held whole, from a file that is read in pieces: neither its text nor that of its digest is held. */
import type { RunEvent } from '../../core/state/event.js';
import type { JsonObject } from '../../recording/history.js';
import type { Bundle, Segment } from '../bundle.js';
import { NotCanonical } from './json-pieces.js';
import { ROOT, walkBundle } from './walk-bundle.js';

/** Undefined: the file is another one than exports write today, or wrong. */
export async function collected(file: string): Promise<Bundle | undefined> {
  const nodes: [string, JsonObject][] = [];
  const blobs: [string, string][] = [];
  const runs = new Map<number, { readonly events: RunEvent[]; readonly segments: Segment[] }>();
  const partsOf = (member: number) => {
    const parts = runs.get(member) ?? { events: [], segments: [] };
    runs.set(member, parts);
    return parts;
  };
  try {
    const walked = await walkBundle(file, {
      node: (hash, node) => void nodes.push([hash, node]),
      blob: (hash, text) => void blobs.push([hash, text]),
      event: (event, member) => void partsOf(member).events.push(event),
      segment: (segment, member) => void partsOf(member).segments.push(segment),
    });
    const { members, ...head } = walked.head;
    return {
      ...head,
      ...partsOf(ROOT),
      nodes: Object.fromEntries(nodes),
      blobs: Object.fromEntries(blobs),
      ...(members !== undefined && {
        members: members.map((member, index) => ({ ...member, ...partsOf(index) })),
      }),
    };
  } catch (error) {
    if (error instanceof NotCanonical) return undefined;
    throw error;
  }
}
