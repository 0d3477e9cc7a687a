/**
 * Transcript nodes under the sha256 of their RFC 8785 form.
 * Invariants: a node is stored after its parent, so that a head that exists has all its nodes; a node is
 * never changed.
 */
import { hash as hashOf } from 'node:crypto';
import { canonicalJson, UNIT_BYTES_MAX, type Json } from '../core/json/json.js';
import { HoldfastError } from '../core/state/errors.js';
import type { TranscriptNode } from '../core/state/transcript.js';
import { checkIdentifiers } from './bounds.js';
import { chainCache, type Chain, type ChainCache, type HashedNode } from './chain-cache.js';
import { change, rowsOf, type Db } from './database.js';
import { sql } from './query-builder.js';
import { NEWER_BACKUP } from './newer-backup.js';

export type { HashedNode } from './chain-cache.js';

/** Longest conversation, in nodes. */
export const CHAIN_NODES_MAX = 100_000;
/** Largest node in its stored form, in bytes. */
export const NODE_BYTES_MAX = 64 * 1024 * 1024;
/** A turn appends two or three nodes: so many single steps are tried before the whole chain is read. */
const STEPS_TO_CACHED_MAX = 8;

export interface Transcripts {
  /**
   * Stores a node and gives its hash; idempotent.
   * Errors: `TranscriptMissing` when its parent is not there, `InvalidRequest` above NODE_BYTES_MAX.
   */
  putNode(tenant: string, node: TranscriptNode): Promise<string>;
  /** Root to head. Errors: `TranscriptMissing`, `InvalidRequest` above CHAIN_NODES_MAX. */
  readChain(tenant: string, head: string): Promise<readonly HashedNode[]>;
  /**
   * The newest `limit` nodes of a conversation, head first, in the form that they lie under the hash of; the parent of the last
   * begins the next page. Nothing is remembered. Errors: `TranscriptMissing`.
   */
  readBack(tenant: string, head: string, limit: number): Promise<readonly StoredNode[]>;
}

export function transcripts(db: Db, cache: ChainCache = chainCache()): Transcripts {
  return {
    async putNode(tenant, node) {
      checkIdentifiers({ tenant });
      const stored = storedForm(node);
      await insertNode(db, tenant, stored);
      const before = node.parent === null ? EMPTY : cache.get(tenant, node.parent);
      if (before !== undefined) cache.put(tenant, extend(before, [stored]));
      return stored.hash;
    },
    async readChain(tenant, head) {
      checkIdentifiers({ tenant, head });
      const cached = cache.get(tenant, head);
      if (cached !== undefined) return cached.nodes;
      const chain =
        (await stepToCached(db, { tenant, head, cache })) ?? (await readWhole(db, tenant, head));
      cache.put(tenant, chain);
      return chain.nodes;
    },
    async readBack(tenant, head, limit) {
      checkIdentifiers({ tenant, head });
      return rowsBack(db, { tenant, head, limit });
    },
  };
}

export interface StoredNode {
  readonly hash: string;
  readonly parent: string | null;
  /** RFC 8785. */
  readonly body: string;
}

const EMPTY: Chain = { nodes: [], chars: 0 };

function storedForm(node: TranscriptNode): StoredNode {
  const body = canonicalJson(node as unknown as Json);
  const most = body.length * UNIT_BYTES_MAX;
  const bytes = most <= NODE_BYTES_MAX ? most : Buffer.byteLength(body);
  if (bytes > NODE_BYTES_MAX) {
    throw new HoldfastError('InvalidRequest', `A message of ${bytes} bytes is too large.`, {
      hint: `Keep a message below ${NODE_BYTES_MAX} bytes.`,
    });
  }
  return { hash: hashOf('sha256', body, 'hex'), parent: node.parent, body };
}

const INSERT_NODE = `
  insert into nodes (tenant, hash, parent, body)
  select @tenant, @hash, @parent, @body
  where cast(@parent as text) is null
    or exists (select 1 from nodes where tenant = @tenant and hash = @parent)
  on conflict (tenant, hash) do nothing`;

const SELECT_NODE = `
  select hash, parent, body from nodes where tenant = @tenant and hash = @hash`;

/** One statement: the node goes in if its parent is there. */
async function insertNode(db: Db, tenant: string, node: StoredNode): Promise<void> {
  const { hash, parent, body } = node;
  if ((await change(db, INSERT_NODE, { tenant, hash, parent, body })) > 0) return;
  if ((await readNode(db, tenant, hash)) === undefined) throw missingNode(parent ?? hash);
}

/** Walks from the head to a chain that this process remembers; undefined when none is near. */
async function stepToCached(
  db: Db,
  at: { readonly tenant: string; readonly head: string; readonly cache: ChainCache },
): Promise<Chain | undefined> {
  const newer: StoredNode[] = [];
  let next = at.head;
  for (let step = 0; step < STEPS_TO_CACHED_MAX; step += 1) {
    const row = await readNode(db, at.tenant, next);
    if (row === undefined) throw missingNode(next);
    newer.unshift(row);
    if (row.parent === null) return extend(EMPTY, newer);
    const cached = at.cache.get(at.tenant, row.parent);
    if (cached !== undefined) return extend(cached, newer);
    next = row.parent;
  }
  return undefined;
}

async function readWhole(db: Db, tenant: string, head: string): Promise<Chain> {
  const rows = await rowsBack(db, { tenant, head, limit: CHAIN_NODES_MAX });
  if (rows.at(-1)!.parent !== null) {
    throw new HoldfastError('InvalidRequest', 'The conversation is too long to be read.', {
      hint: `Compact it below ${CHAIN_NODES_MAX} messages.`,
    });
  }
  return extend(EMPTY, rows.toReversed());
}

interface Stretch {
  readonly tenant: string;
  readonly head: string;
  /** Nodes. */
  readonly limit: number;
}

/** Head first, at least one. */
async function rowsBack(db: Db, { tenant, head, limit }: Stretch): Promise<readonly StoredNode[]> {
  const { rows } = await sql<StoredNode>`
    with recursive chain (hash, parent, body, depth) as (
      select hash, parent, body, 1 from nodes where tenant = ${tenant} and hash = ${head}
      union all
      select n.hash, n.parent, n.body, chain.depth + 1
      from chain join nodes n on n.tenant = ${tenant} and n.hash = chain.parent
      where chain.depth < ${limit}
    )
    select hash, parent, body from chain order by depth`.execute(db);
  const oldest = rows.at(-1);
  if (oldest === undefined) throw missingNode(head);
  if (oldest.parent !== null && rows.length < limit) throw missingNode(oldest.parent);
  return rows;
}

async function readNode(db: Db, tenant: string, hash: string): Promise<StoredNode | undefined> {
  const [row] = await rowsOf<StoredNode>(db, SELECT_NODE, { tenant, hash });
  return row;
}

function extend(chain: Chain, rows: readonly StoredNode[]): Chain {
  const nodes = rows.map(hashedNode);
  const chars = rows.reduce((sum, row) => sum + row.body.length, chain.chars);
  return { nodes: Object.freeze([...chain.nodes, ...nodes]), chars };
}

function hashedNode(row: StoredNode): HashedNode {
  // Our own canonical form: written by putNode, under the hash of exactly these characters.
  const node = JSON.parse(row.body) as TranscriptNode;
  return { ...node, hash: row.hash };
}

function missingNode(hash: string): HoldfastError {
  return new HoldfastError('TranscriptMissing', `The store has no message ${hash}.`, {
    hint: NEWER_BACKUP,
    details: { hash },
  });
}
