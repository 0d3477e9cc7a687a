/**
 * What a run's histories refer to in the store: the conversation's nodes, and the large texts.
 * Invariant: a bundle without one of them would not be whole, so one that is missing is an error.
 */
import { HoldfastError } from '../core/state/errors.js';
import type { RunEvent } from '../core/state/event.js';
import type { Json } from '../core/json/json.js';
import type { Store } from '../store/store.js';
import type { Bundle } from './bundle.js';
import { payloadValues, type JsonObject } from '../recording/history.js';
import { referencesIn } from './references.js';
import { servedText } from './served-texts.js';
import type { BundledRun } from './tree.js';
import { NEWER_BACKUP } from '../store/newer-backup.js';

const PAGE_EVENTS = 500;
const EVENTS_MAX = 10_000_000;

type RunKey = Bundle['run'];
type ReferredStore = Pick<Store, 'readChain' | 'getBlob' | 'connectorTool'>;

/** What recorded runs refer to, each message and text once. */
export function gather(
  store: ReferredStore,
  tenant: string,
  runs: readonly Pick<BundledRun, 'segments' | 'events'>[],
): Promise<Pick<Bundle, 'nodes' | 'blobs'>> {
  const values = runs.flatMap(({ segments, events }) => [
    ...segments.flatMap((segment) => [...payloadValues(segment.events)]),
    events as unknown as Json,
  ]);
  return gatherReferred(store, tenant, values);
}

/** What values refer to. Errors: `TranscriptMissing`. */
export async function gatherReferred(
  store: ReferredStore,
  tenant: string,
  values: readonly Json[],
): Promise<Pick<Bundle, 'nodes' | 'blobs'>> {
  const { heads, blobs, texts: ofGoal, attachments, served } = referencesIn(values);
  const nodes = await readNodes(store, tenant, [...heads]);
  const { blobs: ofNodes, attachments: attached } = referencesIn(Object.values(nodes));
  const texts = new Map<string, string>();
  for (const hash of new Set([...blobs, ...ofNodes])) {
    const text = await store.getBlob(tenant, hash);
    if (text === undefined) throw missingText(hash);
    texts.set(hash, text);
  }
  for (const hash of new Set([...ofGoal, ...attachments, ...attached])) {
    const text = await store.getBlob(tenant, hash);
    if (text !== undefined) texts.set(hash, text);
  }
  for (const hash of served.keys()) {
    const text = await servedText(store, { tenant, hash, served });
    if (text !== undefined) texts.set(hash, text);
  }
  return { nodes, blobs: Object.fromEntries(texts) };
}

/** Later heads mostly stand on earlier ones: from the newest on, little is read twice. */
async function readNodes(
  store: Pick<Store, 'readChain'>,
  tenant: string,
  heads: readonly string[],
): Promise<{ readonly [hash: string]: JsonObject }> {
  const nodes = new Map<string, JsonObject>();
  for (const head of heads.toReversed()) {
    if (nodes.has(head)) continue;
    for (const { hash, ...node } of await store.readChain(tenant, head)) {
      nodes.set(hash, node as unknown as JsonObject);
    }
  }
  return Object.fromEntries(nodes);
}

export async function gatherEvents(
  store: Pick<Store, 'readEvents'>,
  run: RunKey,
): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const page of eventPages(store, run)) events.push(...page);
  return events;
}

/** What the outside saw of a run, some events at a time. */
export async function* eventPages(
  store: Pick<Store, 'readEvents'>,
  run: RunKey,
): AsyncGenerator<readonly RunEvent[], void> {
  let count = 0;
  for (let since = 0; count < EVENTS_MAX;) {
    const page = await store.readEvents(run, { sinceSeq: since, limit: PAGE_EVENTS });
    if (page.events.length === 0) return;
    yield page.events;
    count += page.events.length;
    since = page.nextSeq;
  }
}

export function missingText(hash: string): HoldfastError {
  return new HoldfastError('TranscriptMissing', `The store has no text ${hash}.`, {
    hint: NEWER_BACKUP,
    details: { hash },
  });
}
