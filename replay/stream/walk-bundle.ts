/**
 * Reads the file of a bundle in pieces and checks all of it, as the reader of whole files does.
 * Invariants: what passes here passes there. Only what is written in the canonical form passes, with the digest behind it, as
 * exports write it; any other file, old or wrong, is `NotCanonical`, and the reader of whole files says which of both it is.
 */
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { Json } from '../../core/json/json.js';
import type { RunEvent } from '../../core/state/event.js';
import { textAt, type JsonObject } from '../../recording/history.js';
import { BUNDLE_VERSION, SEGMENTS_MAX, type Bundle, type Member, type Segment } from '../bundle.js';
import { missingOf } from '../broken-content.js';
import { pieces } from '../bundle-schema.js';
import { referencesIn } from '../references.js';
import { sha256OfText } from '../sha256.js';
import { brokenTree, MEMBERS_MAX } from '../tree.js';
import { textOfFile } from './bundle-chunks.js';
import { jsonPieces, namesWithLast, NotCanonical, type JsonPieces } from './json-pieces.js';
import { runChecks } from './run-checks.js';

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

/** Of a value that is nested deeper than the call stack, or has a number that JSON reads and cannot write. */
function hasNoForm(error: unknown): boolean {
  return (
    error instanceof RangeError ||
    (error instanceof Error && /^\w+ is not allowed$/.test(error.message))
  );
}

/** Errors: `NotCanonical`. */
export async function walkBundle(file: string, hearer: BundleHearer): Promise<WalkedBundle> {
  const text = textOfFile(file);
  try {
    const head = await walkChunks(text.chunks, hearer);
    return { head, textDigest: await text.digest() };
  } catch (error) {
    // The reader of whole files says so.
    if (hasNoForm(error)) throw new NotCanonical('it has no canonical form', { cause: error });
    throw error;
  } finally {
    await text.chunks.return();
  }
}

async function walkChunks(
  chunks: AsyncGenerator<string, void>,
  hearer: BundleHearer,
): Promise<BundleHead> {
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
  return walk.end();
}

/** The digest of a text that ends before these words, and a brace in their place. */
function hashedBefore(words: string) {
  const hash = createHash('sha256');
  let tail = '';
  let digest: string | undefined;
  return {
    passed(text: string): void {
      if (digest !== undefined) return;
      const whole = tail + text;
      tail = whole.slice(-words.length);
      hash.update(whole.slice(0, whole.length - tail.length), 'utf8');
    },
    /** The words have just passed. */
    end(): string {
      if (digest === undefined && tail !== words) throw new NotCanonical('it has no digest');
      return (digest ??= hash.update('}').digest('hex'));
    },
  };
}

interface Found {
  readonly heads: Set<string>;
  readonly named: Set<string>;
  readonly nodes: Set<string>;
  readonly blobs: Set<string>;
}

function walkOf(json: JsonPieces, hearer: BundleHearer) {
  const small: Small = new Map();
  const seen = new Set<string>();
  const members: MemberHead[] = [];
  const found: Found = {
    heads: new Set(),
    named: new Set(),
    nodes: new Set(),
    blobs: new Set(),
  };
  const walking = { json, hearer, found };
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
      fit(isTree ? pieces.tree : pieces.alone, { ...document, digest: ANY_DIGEST });
      if (isTree !== seen.has('members')) throw new NotCanonical('members are of a tree');
      const head = { ...rest, ...(isTree && { members }) } as unknown as BundleHead;
      refuse(brokenTree(head));
      const needed = { nodes: found.heads, blobs: found.named };
      const { nodes, blobs } = found;
      refuse(missingOf(needed, { node: (one) => nodes.has(one), blob: (one) => blobs.has(one) }));
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
  readonly found: Found;
}

/** Reads what a run has, by its names in their order: its events, what it is, its segments. */
function runReader({ json, hearer, found }: Walking, member: number) {
  let hasEvents = false;
  const checks = runChecks(({ heads, blobs }) => {
    for (const hash of heads) found.heads.add(hash);
    for (const hash of blobs) found.named.add(hash);
  });

  async function readSegments(run: Bundle['run']): Promise<void> {
    for await (const index of json.items()) {
      if (index >= SEGMENTS_MAX) throw new NotCanonical('it has too many segments');
      const segment = fit<Segment>(pieces.segment, await json.value());
      checks.segment(segment, run);
      hearer.segment?.(segment, member, run);
    }
  }

  return {
    async read(name: string, small: Small): Promise<void> {
      if (name === 'segments') {
        return readSegments(fit<Bundle['run']>(pieces.run, small.get('run') ?? null));
      }
      if (name !== 'events') return void small.set(name, await json.value());
      hasEvents = true;
      for await (const _ of json.items()) {
        const { value, form } = await json.formed();
        const event = fit<RunEvent>(pieces.runEvent, value);
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
  const head = fit<MemberHead>(pieces.member, Object.fromEntries(small));
  if (reader.end().parent !== head.parent) throw new NotCanonical('its parent is another run');
  return head;
}

async function readNodes({ json, hearer, found }: Walking): Promise<void> {
  for await (const hash of json.names()) {
    const { value, form } = await json.formed();
    const node = fit<JsonObject>(pieces.node, value);
    if (sha256OfText(form) !== hash) throw new NotCanonical('a message is another');
    const parent = textAt(node, 'parent');
    found.nodes.add(hash);
    if (parent !== undefined) found.heads.add(parent);
    for (const blob of referencesIn([node]).blobs) found.named.add(blob);
    hearer.node?.(hash, node);
  }
}

async function readBlobs({ json, hearer, found }: Walking): Promise<void> {
  for await (const hash of json.names()) {
    const text = await json.value();
    if (typeof text !== 'string' || sha256OfText(text) !== hash) {
      throw new NotCanonical('a text is another');
    }
    found.blobs.add(hash);
    hearer.blob?.(hash, text);
  }
}

/** What its schema takes is of the type that the reader of whole files gives it. */
export function fit<T>(schema: z.ZodType, value: Json): T {
  if (!schema.safeParse(value).success) throw new NotCanonical('a value is of another form');
  return value as unknown as T;
}

export function refuse(broken: string | undefined): void {
  if (broken !== undefined) throw new NotCanonical(broken);
}
