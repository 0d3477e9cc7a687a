/**
 * The request that a model saw, from a bundle: made by the code that makes it of a store.
 * Invariants: nothing is written but into memory; what one request takes up is bounded, however often a bundle refers
 * to the same text. Errors: `TranscriptMissing`, `InvalidBundle` for a request above REQUEST_BYTES_MAX.
 */
import { appendItems, type MessageStore } from '../activities/run/append-items.js';
import { conversationAt } from '../activities/model/model-request.js';
import type { ConversationStore } from '../activities/model/request-message.js';
import {
  canonicalJson,
  ownValue,
  sha256Hex,
  type Json,
  type StoredText,
} from '../core/json/json.js';
import type { CallModelInput } from '../core/state/effect.js';
import { HoldfastError } from '../core/state/errors.js';
import type { TranscriptNode } from '../core/state/transcript.js';
import type { ModelRequest } from '../providers/provider.js';
import { withTexts } from '../store/arguments.js';
import type { HashedNode } from '../store/transcripts.js';
import type { Bundle } from './bundle.js';

/** Texts of one request together. */
export const REQUEST_BYTES_MAX = 64 * 1024 * 1024;

export async function recordedRequest(
  bundle: Pick<Bundle, 'nodes' | 'blobs'>,
  input: CallModelInput,
): Promise<ModelRequest> {
  const store = storeOf(bundle);
  const { tenant } = input.run;
  try {
    const head = await appendItems(store, { tenant, head: input.head }, input.append);
    return (await conversationAt(store, input, head)).request;
  } catch (cause) {
    // Of messages a bundle proves the hashes alone.
    throw cause instanceof HoldfastError ? cause : noConversation(cause);
  }
}

function storeOf({
  nodes,
  blobs,
}: Pick<Bundle, 'nodes' | 'blobs'>): ConversationStore & MessageStore {
  const newNodes = new Map<string, TranscriptNode>();
  const newTexts = new Map<string, string>();
  let bytesRead = 0;
  const nodeAt = (hash: string): TranscriptNode => {
    const node = newNodes.get(hash) ?? (ownValue(nodes, hash) as TranscriptNode | undefined);
    if (node === undefined) throw missing('message', hash);
    return node;
  };
  const textAt = (hash: string): string => {
    const text = newTexts.get(hash) ?? ownValue(blobs, hash);
    if (text === undefined) throw missing('text', hash);
    bytesRead += text.length;
    if (bytesRead > REQUEST_BYTES_MAX) throw tooLarge();
    return text;
  };
  const putBlob = async (_tenant: string, text: string) => {
    const $blob = sha256Hex(text);
    newTexts.set($blob, text);
    return { $blob, bytes: Buffer.byteLength(text), preview: '' };
  };
  return {
    async readChain(_tenant, head) {
      const trunk = trunks.get(nodes);
      const newer: HashedNode[] = [];
      let place: number | undefined;
      for (let hash: string | null = head; hash !== null;) {
        place = trunk?.places.get(hash);
        if (place !== undefined) break;
        const node: TranscriptNode = nodeAt(hash);
        // Its parent's hash is part of what a node's hash is made of, so no chain comes back to itself.
        newer.push(hashedNode(node, hash));
        hash = node.parent;
      }
      const older = place === undefined ? [] : trunk!.chain.slice(0, place + 1);
      const chain = [...older, ...newer.toReversed()];
      if (newNodes.size === 0 && newer.length > NEWER_MAX) trunks.set(nodes, trunkOf(chain));
      return chain;
    },
    async putNode(_tenant, node) {
      const hash = sha256Hex(canonicalJson(node as unknown as Json));
      if (!Object.hasOwn(nodes, hash)) newNodes.set(hash, node);
      return hash;
    },
    getText: async (_tenant, stored) => ('text' in stored ? stored.text : textAt(stored.$blob)),
    putText: async (tenant, text): Promise<StoredText> => putBlob(tenant, text),
    putBlob,
    restoreArguments: async (_tenant, args) => withTexts(args, textAt),
  };
}

/** Further from what is remembered than a turn is from the next. */
const NEWER_MAX = 16;

/** A conversation of a bundle: most others are the beginning of it, or a little more. */
interface Trunk {
  readonly chain: readonly HashedNode[];
  /** In the chain, by hash. */
  readonly places: ReadonlyMap<string, number>;
}

const trunks = new WeakMap<Bundle['nodes'], Trunk>();

function trunkOf(chain: readonly HashedNode[]): Trunk {
  return { chain, places: new Map(chain.map(({ hash }, place) => [hash, place])) };
}

/** The same for a node at each reading: what is made of the messages of a conversation is remembered by their nodes. */
function hashedNode(node: TranscriptNode, hash: string): HashedNode {
  const known = hashedNodes.get(node);
  if (known?.hash === hash) return known;
  const made = { ...node, hash };
  hashedNodes.set(node, made);
  return made;
}

const hashedNodes = new WeakMap<TranscriptNode, HashedNode>();

function missing(what: string, hash: string): HoldfastError {
  return new HoldfastError('TranscriptMissing', `The bundle has no ${what} ${hash}.`, {
    hint: 'Export the run again with `holdfast export`.',
    details: { hash },
  });
}

function noConversation(cause: unknown): HoldfastError {
  return new HoldfastError(
    'InvalidBundle',
    'The messages of this request have another form than those of a conversation.',
    { hint: 'Export the run again with `holdfast export`.', cause },
  );
}

function tooLarge(): HoldfastError {
  return new HoldfastError(
    'InvalidBundle',
    `The texts of this request are larger than ${REQUEST_BYTES_MAX} bytes together.`,
    { hint: 'Look at another step: this request refers to the same texts very often.' },
  );
}
