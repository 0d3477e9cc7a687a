/** A conversation in the store as one request to a model. */
import type { CallModelInput } from '../../core/state/effect.js';
import { HoldfastError } from '../../core/state/errors.js';
import { GOAL_TOOLS } from '../../core/state/goal/proposal.js';
import type { BlobRef } from '../../core/json/json.js';
import type { Attachment } from '../../core/state/attachment.js';
import type {
  AttachedFile,
  Block,
  StoredBlock,
  ToolOffer,
  TranscriptNode,
  VendorContainer,
} from '../../core/state/transcript.js';
import type { ModelRequest, RequestMessage } from '../../providers/provider.js';
import type { StoreCalls } from '../../store/store.js';
import type { HashedNode } from '../../store/transcripts.js';
import { inCycle } from './evidence-line.js';
import { fileOf, sentOf, type FileReader } from './attached-files.js';
import { hasAttachments } from './node-attachments.js';
import { offerOf } from './proposed-calls.js';

export interface Conversation {
  /** Every tool of the run, offered in this request or not. */
  readonly offers: readonly ToolOffer[];
  readonly request: ModelRequest;
}

/** What is asked about a conversation. */
export type Inquiry = Pick<CallModelInput, 'run' | 'call' | 'route' | 'offered' | 'maxTokens'> & {
  readonly temperature?: number;
  readonly dynamic?: readonly string[];
  readonly maxThinkingTokens?: number;
  readonly betas?: readonly string[];
  /** Absent: it is the loop that asks. */
  readonly purpose?: 'compaction';
};

/** What of a store a conversation is read from. */
export type ConversationStore = Pick<StoreCalls, 'readChain' | 'restoreArguments' | 'getText'>;

export async function conversationAt(
  store: ConversationStore,
  inquiry: Inquiry,
  head: string,
): Promise<Conversation> {
  return conversationOf(store, inquiry, await chainAt(store, inquiry.run.tenant, head));
}

/** Messages from the root to a head. */
export interface MessageChain {
  readonly root: HashedNode;
  readonly nodes: readonly HashedNode[];
}

export async function chainAt(
  store: ConversationStore,
  tenant: string,
  head: string,
): Promise<MessageChain> {
  const chain = await store.readChain(tenant, head);
  const [root] = chain;
  if (root === undefined || root.role !== 'root') throw noRoot(head);
  return { root, nodes: chain.slice(1) };
}

export async function conversationOf(
  store: ConversationStore,
  inquiry: Inquiry,
  { root, nodes }: MessageChain,
): Promise<Conversation> {
  const { tenant, runId } = inquiry.run;
  const { route } = inquiry;
  const offers = root.tools ?? [];
  const known = rememberedUpTo(offers, nodes);
  const kinds = kindsOf(known, nodes);
  const sent = kinds.hasAttachments ? sentOf(nodes, route) : NOTHING_SENT;
  const reader: Reader = { store, tenant, offers, route, sent };
  const messages = await messagesOf(reader, nodes, { ...known, ...kinds });
  const { temperature, dynamic, purpose, call, betas, maxThinkingTokens: limit } = inquiry;
  const container = kinds.hasContainers ? containerIn(nodes, inquiry) : undefined;
  return {
    offers: reader.offers,
    request: {
      model: route.model,
      system: await systemOf(reader, root),
      ...(dynamic !== undefined && { dynamic }),
      ...toolsOf(inquiry, reader.offers, messages),
      messages,
      maxTokens: inquiry.maxTokens,
      ...(route.temperatureAllowed && temperature !== undefined && { temperature }),
      ...(route.parallelCalls === false && { parallelCalls: false }),
      ...(limit !== undefined &&
        route.thinkingAllowed !== false && {
          thinking: { maxTokens: limit, adaptive: route.thinkingAdaptive ?? false },
        }),
      ...(betas !== undefined && { betas }),
      ...(container !== undefined && { container }),
      metadata: { runId, call, ...(purpose !== undefined && { purpose }) },
    },
  };
}

/** Of this run's own replies by this route: a fork shares no files with the run that it began in. */
function containerIn(
  nodes: readonly HashedNode[],
  { run, route, purpose }: Inquiry,
): VendorContainer | undefined {
  if (purpose !== undefined) return undefined;
  const newest = nodes.findLast(
    ({ container, origin, messageId }) =>
      container !== undefined &&
      origin?.route === route.name &&
      messageId.startsWith(`${run.runId}:`),
  );
  return newest?.container;
}

/** Without an offer, vendors still want the declaration of every tool that the conversation has used. */
function toolsOf(
  { offered, route }: Inquiry,
  all: readonly ToolOffer[],
  messages: readonly RequestMessage[],
): Pick<ModelRequest, 'tools' | 'toolChoice'> {
  // Another vendor can make nothing of what this one runs itself.
  const foreign = all.some(({ hosted }) => hosted && hosted.provider !== route.provider);
  const offers = foreign
    ? all.filter(({ hosted }) => !hosted || hosted.provider === route.provider)
    : all;
  if (offered === undefined) return { tools: offers };
  if (offered.length > 0) return { tools: offers.filter(({ name }) => offered.includes(name)) };
  const blocks = messages.flatMap((message) => message.blocks);
  const used = new Set(blocks.map((block) => (block.type === 'tool_use' ? block.tool : '')));
  return { tools: offers.filter(({ wireName }) => used.has(wireName)), toolChoice: 'none' };
}

/** Newer nodes than those of a remembered conversation: a turn adds two or three. */
const NEWER_MAX = 8;

/** The messages up to a node, under the newest node alone: each turn adds to those of the turn before. */
const conversations = new WeakMap<TranscriptNode, Remembered<Assembled>>();

/** What a message may have that few have: without any of them nobody looks for them in all. */
interface Kinds {
  readonly hasAttachments: boolean;
  readonly hasContainers: boolean;
}

interface Assembled extends Kinds {
  readonly messages: readonly RequestMessage[];
}

interface Known extends Assembled {
  /** How many of the nodes are in it. */
  readonly from: number;
}

const NOTHING_SENT: FileReader['sent'] = new Set();

function kindsOf({ from, ...before }: Known, nodes: readonly HashedNode[]): Kinds {
  const added = nodes.slice(from);
  return {
    hasAttachments:
      before.hasAttachments || added.some(({ blocks }) => blocks.some(hasAttachments)),
    hasContainers: before.hasContainers || added.some(({ container }) => container !== undefined),
  };
}

async function messagesOf(
  reader: Reader,
  nodes: readonly HashedNode[],
  { from, messages: before, ...kinds }: Known,
): Promise<readonly RequestMessage[]> {
  const messages = [...before];
  for (const node of nodes.slice(from))
    messages.push(remembered(messagesOfNodes, node, reader) ?? (await messageOf(reader, node)));
  const newest = nodes.at(-1);
  const last = nodes[from - 1];
  if (newest === undefined || last === newest) return messages;
  if (last !== undefined) conversations.delete(last);
  // With a text that stays in the store nothing is remembered.
  if (nodes.slice(from).every((node) => messagesOfNodes.has(node)))
    conversations.set(newest, { offers: reader.offers, value: { messages, ...kinds } });
  return messages;
}

/** The longest part of the conversation that is remembered. */
function rememberedUpTo(offers: readonly ToolOffer[], nodes: readonly HashedNode[]): Known {
  for (let from = nodes.length; from > Math.max(0, nodes.length - NEWER_MAX); from -= 1) {
    const before = remembered(conversations, nodes[from - 1]!, { offers });
    // A summary is asked for without turns that do not fit: another conversation may end with the same node.
    if (before?.messages.length === from) return { from, ...before };
  }
  return { from: 0, messages: [], hasAttachments: false, hasContainers: false };
}

interface Reader extends FileReader {
  readonly store: ConversationStore;
  readonly offers: readonly ToolOffer[];
}

/**
 * Messages by their node, as long as the store remembers the node: a conversation is rebuilt for every call,
 * and only its end is new. A message also depends on the tools of its root, which is part of its chain.
 */
const messagesOfNodes = new WeakMap<TranscriptNode, Remembered<RequestMessage>>();

interface Remembered<T> {
  readonly offers: readonly ToolOffer[];
  readonly value: T;
}

function remembered<T>(
  all: WeakMap<TranscriptNode, Remembered<T>>,
  node: TranscriptNode,
  { offers }: Pick<Reader, 'offers'>,
): T | undefined {
  const known = all.get(node);
  return known?.offers === offers ? known.value : undefined;
}

async function messageOf(reader: Reader, node: TranscriptNode): Promise<RequestMessage> {
  const message = await buildMessage(reader, node);
  // Large texts stay in the store: what is remembered must not outgrow the store's own memory.
  const hasBlobs = JSON.stringify(node.blocks).includes('"$blob"');
  if (!hasBlobs) messagesOfNodes.set(node, { offers: reader.offers, value: message });
  return message;
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

async function systemOf(reader: Reader, root: TranscriptNode): Promise<string> {
  const texts: string[] = [];
  for (const block of root.blocks) {
    if (block.type === 'text') texts.push(await textOf(reader, block.text));
  }
  return texts.join('\n\n');
}

async function textOf({ store, tenant }: Reader, text: string | BlobRef): Promise<string> {
  return typeof text === 'string' ? text : store.getText(tenant, { ...text, preview: '' });
}

function noRoot(head: string): HoldfastError {
  return new HoldfastError('TranscriptMissing', `The conversation ${head} has no beginning.`, {
    hint: 'Restore the store from a backup that is at least as new as the Temporal database.',
    details: { hash: head },
  });
}
