/** What an export has read of histories, events and conversation, on a disk; and what of it is still to be read. */
import { canonicalJson, type Json } from '../../core/json/json.js';
import type { Store } from '../../store/store.js';
import { BUNDLE_BYTES_MAX } from '../bundle.js';
import { missingText } from '../gather.js';
import { referencesIn, type References } from '../references.js';
import { heldText } from '../served-texts.js';
import type { Hashed, Pieces } from './bundle-source.js';
import { openSpool, type Spool, type Stretch } from './spool.js';
import { tooLargeBundle } from './too-large.js';

export const NODES_PER_PAGE = 64;

export interface BundleSpool extends Pick<Spool, 'put' | 'read' | 'close'> {
  /** Shows recorded values to whom looks at all of them, and gives what they refer to. */
  look(values: readonly Json[]): References;
  /** What of these is to be in the bundle. Those of newer segments come first. */
  refer(references: References): void;
  /** Reads the conversations that have been noted. Errors: `TranscriptMissing`. */
  readConversation(): Promise<void>;
  nodes(): AsyncGenerator<Hashed, void>;
  /** Errors: `TranscriptMissing`. */
  blobs(): AsyncGenerator<Hashed, void>;
  /** Of blobs, those that have been written. */
  counts(): { readonly nodes: number; readonly blobs: number };
}

export interface SpoolSettings {
  readonly store: Pick<Store, 'readBack' | 'getBlob' | 'connectorTool'>;
  readonly tenant: string;
  readonly folder: string;
  readonly look: (value: Json) => void;
}

export async function spoolOf(settings: SpoolSettings): Promise<BundleSpool> {
  const { store, tenant, look } = settings;
  const spool = await openSpool(settings.folder);
  const noted: Noted = {
    heads: new Set(),
    needed: new Set(),
    possible: new Set(),
    served: new Map(),
  };
  const nodes = new Map<string, Stretch>();
  let blobCount = 0;

  async function put(pieces: Iterable<string> | AsyncIterable<string>): Promise<Stretch> {
    const stretch = await spool.put(pieces);
    // All of it goes into the bundle.
    if (stretch.at + stretch.bytes > BUNDLE_BYTES_MAX) throw tooLargeBundle();
    return stretch;
  }

  async function readBackFrom(head: string): Promise<void> {
    for (let next: string | null = head; next !== null && !nodes.has(next);) {
      for (const { hash, parent, body } of await store.readBack(tenant, next, NODES_PER_PAGE)) {
        next = parent;
        if (nodes.has(hash)) return;
        const node = JSON.parse(body) as Json;
        look(node);
        const { blobs, attachments } = referencesIn([node]);
        for (const blob of blobs) noted.needed.add(blob);
        for (const file of attachments) noted.possible.add(file);
        nodes.set(hash, await put([body]));
      }
    }
  }

  return {
    put,
    look(values) {
      for (const value of values) look(value);
      return referencesIn(values);
    },
    refer: (references) => note(noted, references),
    read: (stretch) => spool.read(stretch),
    close: () => spool.close(),
    async readConversation() {
      for (const head of noted.heads) await readBackFrom(head);
    },
    async *nodes() {
      for (const [hash, stretch] of inOrder(nodes)) yield { hash, form: spool.read(stretch) };
    },
    async *blobs() {
      blobCount = 0;
      for (const hash of [...new Set([...noted.needed, ...noted.possible])].toSorted()) {
        const text = await heldText(store, { tenant, hash, served: noted.served });
        if (text === undefined && noted.needed.has(hash)) throw missingText(hash);
        if (text === undefined) continue;
        look(text);
        blobCount += 1;
        yield { hash, form: formOf(text) };
      }
    },
    counts: () => ({ nodes: nodes.size, blobs: blobCount }),
  };
}

/** What is to be in the bundle. */
interface Noted {
  readonly heads: Set<string>;
  /** Texts that must be there, and those that may be. */
  readonly needed: Set<string>;
  readonly possible: Set<string>;
  readonly served: Map<string, { readonly name: string; readonly version: string }>;
}

function note(noted: Noted, { heads, blobs, texts, attachments, served }: References): void {
  // The newest head of a history stands on most of the others.
  for (const head of [...heads].toReversed()) noted.heads.add(head);
  for (const hash of blobs) noted.needed.add(hash);
  for (const [hash, tool] of served) noted.served.set(hash, tool);
  for (const hash of [...texts, ...attachments, ...served.keys()]) noted.possible.add(hash);
}

function formOf(text: string): Pieces {
  return [canonicalJson(text)];
}

function inOrder<T>(values: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...values].toSorted(([one], [other]) => (one < other ? -1 : 1));
}
