/**
 * What servers of connectors said of the tools that a run had pinned. The run keeps its hash, so the text lies in a bundle as
 * any large text does.
 * Invariant: a text is given under the hash of what it holds; one that the store does not have (so) is left out.
 */
import { canonicalJson, type Json } from '../core/json/json.js';
import type { Store } from '../store/store.js';
import { sha256OfText } from './sha256.js';

/** Tools by the hash of what their server said. */
export type ServedTools = ReadonlyMap<string, { readonly name: string; readonly version: string }>;

export async function servedText(
  store: Pick<Store, 'connectorTool'>,
  { tenant, hash, served }: ServedTextKey,
): Promise<string | undefined> {
  const tool = served.get(hash);
  if (tool === undefined) return undefined;
  const row = await store.connectorTool(tenant, tool);
  if (row === undefined) return undefined;
  const { definition } = JSON.parse(row.pinned) as { readonly definition: Json };
  const text = canonicalJson(definition);
  return sha256OfText(text) === hash ? text : undefined;
}

/** A large text, or what a server said. */
export async function heldText(
  store: Pick<Store, 'getBlob' | 'connectorTool'>,
  key: ServedTextKey,
): Promise<string | undefined> {
  return (await store.getBlob(key.tenant, key.hash)) ?? servedText(store, key);
}

interface ServedTextKey {
  readonly tenant: string;
  readonly hash: string;
  readonly served: ServedTools;
}
