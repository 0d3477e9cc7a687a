/** The messages and large texts that recorded runs refer to, from the store to a shelf; in the order of `gather`. */
import type { Json } from '../../core/json/json.js';
import type { JsonObject } from '../../recording/history.js';
import type { Store } from '../../store/store.js';
import { missingText } from '../gather.js';
import { keyedOf, type Keyed, type Recorded, type Shelf } from '../redaction/recorded.js';
import { referencesIn, type References } from '../references.js';
import { servedText, type ServedTools } from '../served-texts.js';
import { NODES_PER_PAGE } from './bundle-spool.js';

export interface ConversationPlace {
  readonly store: Pick<Store, 'readBack' | 'getBlob' | 'connectorTool'>;
  readonly tenant: string;
  readonly shelf: Shelf;
}

/** `referred`: oldest first. Errors: `TranscriptMissing`. */
export async function shelvedConversation(
  place: ConversationPlace,
  referred: readonly References[],
): Promise<Pick<Recorded, 'nodes' | 'blobs'>> {
  const heads = new Set(referred.flatMap((one) => [...one.heads]));
  const nodes = await shelvedNodes(place, [...heads].toReversed());
  const ofNodes: References[] = [];
  for await (const [, node] of nodes) ofNodes.push(referencesIn([node]));
  const needed = new Set([...referred, ...ofNodes].flatMap(({ blobs }) => [...blobs]));
  const possible = new Set([
    ...referred.flatMap(({ texts }) => [...texts]),
    ...[...referred, ...ofNodes].flatMap(({ attachments }) => [...attachments]),
  ]);
  const served = new Map(referred.flatMap((one) => [...one.served]));
  async function* all() {
    yield* texts(place, needed, possible);
    yield* servedTexts(place, served);
  }
  const blobs = await place.shelf.keyed(all());
  return { nodes, blobs };
}

async function* texts(
  { store, tenant }: ConversationPlace,
  needed: ReadonlySet<string>,
  possible: ReadonlySet<string>,
): AsyncGenerator<readonly [string, string], void> {
  for (const hash of new Set([...needed, ...possible])) {
    const text = await store.getBlob(tenant, hash);
    if (text !== undefined) yield [hash, text];
    else if (needed.has(hash)) throw missingText(hash);
  }
}

async function* servedTexts(
  { store, tenant }: ConversationPlace,
  served: ServedTools,
): AsyncGenerator<readonly [string, string], void> {
  for (const hash of served.keys()) {
    const text = await servedText(store, { tenant, hash, served });
    if (text !== undefined) yield [hash, text];
  }
}

/** Each after its parent, although a chain is read from its head on. */
async function shelvedNodes(
  { store, tenant, shelf }: ConversationPlace,
  heads: readonly string[],
): Promise<Keyed<JsonObject>> {
  const order: string[] = [];
  const known = new Set<string>();
  async function* chain(head: string): AsyncGenerator<readonly [string, JsonObject], void> {
    const found: string[] = [];
    for (let next: string | null = head; next !== null && !known.has(next);) {
      for (const { hash, parent, body } of await store.readBack(tenant, next, NODES_PER_PAGE)) {
        next = parent;
        if (known.has(hash)) break;
        known.add(hash);
        found.push(hash);
        yield [hash, JSON.parse(body) as Json as JsonObject];
      }
    }
    for (const hash of found.toReversed()) order.push(hash);
  }
  async function* all(): AsyncGenerator<readonly [string, JsonObject], void> {
    for (const head of heads) yield* chain(head);
  }
  const { get } = await shelf.keyed(all());
  return keyedOf(order, get);
}
