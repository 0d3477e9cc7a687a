/**
 * Reads the file of a bundle in pieces and checks all of it, as the reader of whole files does.
 * Invariants: what passes here passes there. Only what is written in the canonical form passes, with the digest behind it, as
 * exports write it; any other file, old or wrong, is `NotCanonical`, and the reader of whole files says which of both it is.
 */
import type { Json } from '../../core/json/json.js';
import { isRecord } from '../../core/json/shape.js';
import type { RunEvent } from '../../core/state/event.js';
import { textAt, type JsonObject } from '../../recording/history.js';
import { BUNDLE_VERSION, SEGMENTS_MAX, type Bundle, type Member, type Segment } from '../bundle.js';
import { FORMS, isHistoryEvent, isRunEvent } from '../bundle-forms.js';
import { pieces } from '../bundle-schema.js';
import { referencesIn } from '../references.js';
import { sha256OfText } from '../sha256.js';
import { brokenTree, MEMBERS_MAX } from '../tree.js';
import { bundleChunks, hashedBefore } from './bundle-chunks.js';
import { jsonPieces, namesWithLast, NotCanonical, type JsonPieces } from './json-pieces.js';
import { references, runChecks, type FoundReferences } from './run-checks.js';

/** Hears what has been read of a file. It is known to be right when the walk has ended, and not before. */
export interface BundleHearer {
  node?(hash: string, node: JsonObject): void;
  blob?(hash: string, text: string): void;
  /** `member`: place in the list of members, or ROOT. */
  event?(event: RunEvent, member: number): void;
  /** `run`: the one that it is of. */
  segment?(segment: Segment, member: number, run: Bundle['run']): void;
}

/** A bundle without what may be large. */
export type BundleHead = Omit<Bundle, 'segments' | 'events' | 'nodes' | 'blobs' | 'members'> & {
  readonly members?: readonly MemberHead[];
};
export type MemberHead = Omit<Member, 'segments' | 'events'>;

export const ROOT = -1;

const DIGEST_NAME = ',"digest":';

export interface WalkedBundle {
  readonly head: BundleHead;
  /** Of all of the text that was read. */
  readonly textDigest: string;
}

/** Errors: `NotCanonical`. */
export async function walkBundle(file: string, hearer: BundleHearer): Promise<WalkedBundle> {
  const chunks = bundleChunks(file);
  try {
    return await walkChunks(chunks, hearer);
  } catch (error) {
    // Of what is nested deeper than the call stack the reader of whole files speaks.
    throw error instanceof RangeError ? new NotCanonical('it is deep', { cause: error }) : error;
  } finally {
    await chunks.return();
  }
}

async function walkChunks(
  chunks: AsyncGenerator<string, void>,
  hearer: BundleHearer,
): Promise<WalkedBundle> {
  const hashing = hashedBefore(DIGEST_NAME);
  const json = jsonPieces(chunks, hashing.passed);
  const walk = walkOf(json, hearer);
  let digest: Json = null;
  for await (const name of namesWithLast(json, 'digest')) {
    if (name === 'digest') {
      json.pass();
      hashing.end();
      digest = await json.value();
    } else await walk.read(name);
  }
  await json.take('\n');
  if ((await json.peek()) !== '') throw new NotCanonical('something follows it');
  if (hashing.end() !== digest) throw new NotCanonical('it has another digest');
  json.pass();
  return { head: walk.end(), textDigest: hashing.ofAll() };
}

function walkOf(json: JsonPieces, hearer: BundleHearer) {
  const small: Small = new Map();
  const seen = new Set<string>();
  const members: MemberHead[] = [];
  const [nodes, blobs] = [references(), references()];
  const walking = { json, hearer, nodes, blobs };
  const root = runReader(walking, ROOT);

  return {
    async read(name: string): Promise<void> {
      seen.add(name);
      if (name === 'nodes') return readNodes(walking);
      if (name === 'blobs') return readBlobs(walking);
      if (name !== 'members') return root.read(name, small);
      for await (const index of json.items()) {
        if (index >= MEMBERS_MAX) throw new NotCanonical('it has too many members');
        members.push(await readMember(walking, index));
      }
    },
    end(): BundleHead {
      root.end();
      if (!seen.has('nodes') || !seen.has('blobs')) throw new NotCanonical('it is not whole');
      const document = Object.fromEntries(small);
      const { format: _, v, ...rest } = document;
      const isTree = v === BUNDLE_VERSION;
      fit(isTree ? 'tree' : 'alone', { ...document, digest: ANY_DIGEST });
      if (isTree !== seen.has('members')) throw new NotCanonical('members are of a tree');
      const head = { ...rest, ...(isTree && { members }) } as unknown as BundleHead;
      refuse(brokenTree(head));
      if (!nodes.isWhole() || !blobs.isWhole()) throw new NotCanonical('something is missing');
      return head;
    },
  };
}

/** The digest has been compared by itself. */
const ANY_DIGEST = '0'.repeat(64);

type Small = Map<string, Json>;

interface Walking {
  readonly json: JsonPieces;
  readonly hearer: BundleHearer;
  readonly nodes: FoundReferences;
  readonly blobs: FoundReferences;
}

/** Reads what a run has, by its names in their order: its events, what it is, its segments. */
function runReader({ json, hearer, nodes, blobs }: Walking, member: number) {
  let hasEvents = false;
  const checks = runChecks((referred) => {
    nodes.refer(referred.heads);
    blobs.refer(referred.blobs);
  });

  async function readSegments(run: Bundle['run']): Promise<void> {
    for await (const index of json.items()) {
      if (index >= SEGMENTS_MAX) throw new NotCanonical('it has too many segments');
      await hearSegment(run);
    }
  }

  /** By itself: a loop that waits for the next segment would hold the one before. */
  async function hearSegment(run: Bundle['run']): Promise<void> {
    const segment = await readSegment(json);
    checks.segment(segment, run);
    hearer.segment?.(segment, member, run);
  }

  return {
    async read(name: string, small: Small): Promise<void> {
      if (name === 'segments') {
        return readSegments(fit<Bundle['run']>('run', small.get('run') ?? null));
      }
      if (name !== 'events') return void small.set(name, await json.value());
      hasEvents = true;
      for await (const _ of json.items()) {
        const { value, form } = await json.formed();
        const event = fitting<RunEvent>(isRunEvent, value);
        checks.event(event, form);
        hearer.event?.(event, member);
      }
    },
    end() {
      if (!hasEvents) throw new NotCanonical('a run has no events');
      return checks.end();
    },
  };
}

async function readMember(walking: Walking, index: number): Promise<MemberHead> {
  const small: Small = new Map();
  const reader = runReader(walking, index);
  for await (const name of walking.json.names()) await reader.read(name, small);
  const head = fit<MemberHead>('member', Object.fromEntries(small));
  if (reader.end().parent !== head.parent) throw new NotCanonical('its parent is another run');
  return head;
}

async function readNodes({ json, hearer, nodes, blobs }: Walking): Promise<void> {
  for await (const hash of json.names()) {
    const { value, form } = await json.formed();
    const node = fitting<JsonObject>(isRecord, value);
    if (sha256OfText(form) !== hash) throw new NotCanonical('a message is another');
    const parent = textAt(node, 'parent');
    nodes.find(hash);
    if (parent !== undefined) nodes.refer([parent]);
    blobs.refer(referencesIn([node]).blobs);
    hearer.node?.(hash, node);
  }
}

async function readBlobs({ json, hearer, blobs }: Walking): Promise<void> {
  for await (const hash of json.names()) {
    const text = await json.value();
    if (typeof text !== 'string' || sha256OfText(text) !== hash) {
      throw new NotCanonical('a text is another');
    }
    blobs.find(hash);
    hearer.blob?.(hash, text);
  }
}

export async function readSegment(json: JsonPieces): Promise<Segment> {
  return fit<Segment>('segment', await segmentParts(json, isHistoryEvent));
}

/** Event by event: its text is never held whole. `isTaken`: of its events. */
export async function segmentParts(
  json: JsonPieces,
  isTaken: (value: Json) => boolean,
): Promise<JsonObject> {
  const parts = new Map<string, Json>();
  for await (const name of json.names()) {
    parts.set(name, name === 'events' ? await eventsIn(json, isTaken) : await json.value());
  }
  return Object.fromEntries(parts);
}

async function eventsIn(
  json: JsonPieces,
  isTaken: (value: Json) => boolean,
): Promise<readonly Json[]> {
  const events: Json[] = [];
  for await (const _ of json.items()) events.push(fitting(isTaken, await json.value()));
  return events;
}

/** What its schema takes is of the type that the reader of whole files gives it. */
export function fit<T>(piece: keyof typeof FORMS, value: Json): T {
  return fitting<T>((one) => FORMS[piece](one) || pieces[piece].safeParse(one).success, value);
}

/** `isTaken`: what such a schema takes. */
function fitting<T>(isTaken: (value: Json) => boolean, value: Json): T {
  if (!isTaken(value)) throw new NotCanonical('a value is of another form');
  return value as unknown as T;
}

export function refuse(broken: string | undefined): void {
  if (broken !== undefined) throw new NotCanonical(broken);
}
