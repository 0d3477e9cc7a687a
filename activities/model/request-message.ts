/** A node of a conversation as a message of a request. */
import type { Attachment } from '../../core/state/attachment.js';
import type { BlobRef } from '../../core/json/json.js';
import { GOAL_TOOLS } from '../../core/state/goal/proposal.js';
import type {
  AttachedFile,
  Block,
  StoredBlock,
  ToolOffer,
  TranscriptNode,
} from '../../core/state/transcript.js';
import type { RequestMessage } from '../../providers/provider.js';
import type { StoreCalls } from '../../store/store.js';
import { inCycle } from './evidence-line.js';
import { fileOf, type FileReader } from './attached-files.js';
import { offerOf } from './proposed-calls.js';

/** What of a store a conversation is read from. */
export type ConversationStore = Pick<StoreCalls, 'readChain' | 'restoreArguments' | 'getText'>;

/** What messages are read by. */
export interface Reader extends FileReader {
  readonly store: ConversationStore;
  readonly offers: readonly ToolOffer[];
}

/**
 * Messages by their node, as long as the store remembers the node: a conversation is rebuilt for every call,
 * and only its end is new. A message also depends on the tools of its root, which is part of its chain.
 */
const messagesOfNodes = new WeakMap<TranscriptNode, Remembered<RequestMessage>>();

/** Something of the messages up to a node, or of a message, for as long as somebody has the node. */
export interface Remembered<T> {
  readonly offers: readonly ToolOffer[];
  readonly value: T;
}

export function remembered<T>(
  all: WeakMap<TranscriptNode, Remembered<T>>,
  node: TranscriptNode,
  { offers }: Pick<Reader, 'offers'>,
): T | undefined {
  const known = all.get(node);
  return known?.offers === offers ? known.value : undefined;
}

/** A node as the request has it. */
export async function messageOf(reader: Reader, node: TranscriptNode): Promise<RequestMessage> {
  const known = remembered(messagesOfNodes, node, reader);
  if (known !== undefined) return known;
  const message = await buildMessage(reader, node);
  // Large texts stay in the store: what is remembered must not outgrow the store's own memory.
  if (!hasBlobs(node.blocks)) messagesOfNodes.set(node, { offers: reader.offers, value: message });
  return message;
}

function hasBlobs(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return '$blob' in value || Object.values(value).some(hasBlobs);
}

/** Its message is not put together again. */
export function isRemembered(node: TranscriptNode): boolean {
  return messagesOfNodes.has(node);
}

async function buildMessage(reader: Reader, node: TranscriptNode): Promise<RequestMessage> {
  const blocks: Block[] = [];
  for (const block of node.blocks) blocks.push(await blockOf(reader, block));
  return {
    role: node.role === 'assistant' ? 'assistant' : 'user',
    blocks,
    ...(node.flags?.includes('system') && { asSystem: true }),
    ...(node.raw !== undefined && { raw: node.raw }),
    ...(node.origin !== undefined && { rawModel: node.origin.model }),
  };
}

async function blockOf(reader: Reader, block: StoredBlock): Promise<Block> {
  if (block.type === 'tool_use') {
    const { type, id, tool, args } = block;
    const restored = await reader.store.restoreArguments(reader.tenant, args);
    return { type, id, tool: offerOf(reader.offers, tool)?.wireName ?? tool, args: restored };
  }
  if (block.type === 'attachment') {
    const { file, words } = await fileOf(reader, block.attachment);
    return file === undefined ? { type: 'text', text: words } : { type: 'file', ...file };
  }
  const text = await textOf(reader, block.text);
  if (block.type !== 'tool_result') return { type: block.type, text };
  const { type, id, isError, code, evidence, attachments } = block;
  const shown = isCycle(reader) ? inCycle(text, evidence) : text;
  const result = { type, id, isError, ...(code !== undefined && { code }) };
  return attachments === undefined
    ? { ...result, text: shown }
    : { ...result, ...(await withFiles(reader, shown, attachments)) };
}

async function withFiles(reader: Reader, text: string, attachments: readonly Attachment[]) {
  const files: AttachedFile[] = [];
  const lines = [text];
  for (const attachment of attachments) {
    const { file, words } = await fileOf(reader, attachment);
    if (file === undefined) lines.push(words);
    else files.push(file);
  }
  return { text: lines.join('\n'), ...(files.length > 0 && { files }) };
}

/** Runs that work for a goal have its tools. */
function isCycle({ offers }: Reader): boolean {
  return offers.some(({ name }) => name === GOAL_TOOLS[0]);
}

export async function textOf({ store, tenant }: Reader, text: string | BlobRef): Promise<string> {
  return typeof text === 'string' ? text : store.getText(tenant, { ...text, preview: '' });
}
