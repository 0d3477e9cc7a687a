/**
 * Recent conversations of this process, so that a turn does not read all turns before it.
 * Invariants: bounded by count and by bytes, the least recently used leaves first; a chain that grows
 * moves to its new head. Nodes are content-addressed, so nothing in here can be out of date.
 */
import type { TranscriptNode } from '../core/state/transcript.js';

/** A node with the hash it is stored under. */
export type HashedNode = TranscriptNode & { readonly hash: string };

export interface Chain {
  readonly nodes: readonly HashedNode[];
  /** Size of the nodes' stored forms, in characters. */
  readonly chars: number;
}

export interface ChainCache {
  get(tenant: string, head: string): Chain | undefined;
  /** Keeps a chain, and forgets the one of its last node's parent, which it contains. */
  put(tenant: string, chain: Chain): void;
  clear(): void;
}

export interface ChainCacheLimits {
  readonly chainsMax: number;
  readonly charsMax: number;
}

export const CHAIN_CACHE_LIMITS: ChainCacheLimits = { chainsMax: 64, charsMax: 32 * 1024 * 1024 };

export function chainCache(limits: ChainCacheLimits = CHAIN_CACHE_LIMITS): ChainCache {
  const chains = new Map<string, Chain>();
  let chars = 0;

  function forget(key: string): void {
    chars -= chains.get(key)?.chars ?? 0;
    chains.delete(key);
  }

  return {
    get(tenant, head) {
      const key = keyOf(tenant, head);
      const chain = chains.get(key);
      if (chain === undefined) return undefined;
      chains.delete(key);
      chains.set(key, chain);
      return chain;
    },
    clear() {
      chains.clear();
      chars = 0;
    },
    put(tenant, chain) {
      const newest = chain.nodes.at(-1);
      if (newest === undefined) return;
      if (newest.parent !== null) forget(keyOf(tenant, newest.parent));
      forget(keyOf(tenant, newest.hash));
      if (chain.chars > limits.charsMax) return;
      chains.set(keyOf(tenant, newest.hash), chain);
      chars += chain.chars;
      for (const key of chains.keys()) {
        if (chains.size <= limits.chainsMax && chars <= limits.charsMax) return;
        forget(key);
      }
    },
  };
}

/** Hashes have one length, so that no two pairs share a key. */
function keyOf(tenant: string, hash: string): string {
  return `${hash}:${tenant}`;
}
