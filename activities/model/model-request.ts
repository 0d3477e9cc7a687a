/** A conversation in the store as one request to a model. */
import type { CallModelInput } from '../../core/state/effect.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { ToolOffer, TranscriptNode, VendorContainer } from '../../core/state/transcript.js';
import type { ModelRequest, RequestMessage } from '../../providers/provider.js';
import type { HashedNode } from '../../store/transcripts.js';
import { sentOf, type FileReader } from './attached-files.js';
import { hasAttachments } from './node-attachments.js';
import {
  isRemembered,
  messageOf,
  remembered,
  textOf,
  type ConversationStore,
  type Reader,
  type Remembered,
} from './request-message.js';
import { NEWER_BACKUP } from '../../store/newer-backup.js';

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
  const added = nodes.slice(known.from);
  const hasContainers = known.hasContainers || added.some(({ container }) => container);
  const sent = added.some(({ blocks }) => blocks.some(hasAttachments))
    ? sentOf(nodes, route)
    : NOTHING_SENT;
  const reader: Reader = { store, tenant, offers, route, sent };
  const messages = await messagesOf(reader, nodes, { ...known, hasContainers });
  const { temperature, dynamic, purpose, call, betas, maxThinkingTokens: limit } = inquiry;
  const container = hasContainers ? containerIn(nodes, inquiry) : undefined;
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
  const { provider } = route;
  if (offered === undefined) return { tools: someOf(all, { provider }) };
  if (offered.length > 0) return { tools: someOf(all, { provider, offered }) };
  const blocks = messages.flatMap((message) => message.blocks);
  const used = new Set(blocks.map((block) => (block.type === 'tool_use' ? block.tool : '')));
  const tools = someOf(all, { provider }).filter(({ wireName }) => used.has(wireName));
  return { tools, toolChoice: 'none' };
}

interface Some {
  /** Another vendor can make nothing of what this one runs itself. */
  readonly provider: string;
  /** Names; default: all. */
  readonly offered?: readonly string[];
}

/** Lists of the offers of one root. */
const LISTS_MAX = 16;

/** One list for all requests with the same tools: providers know by the list that a message stands as it stood before. */
const lists = new WeakMap<readonly ToolOffer[], Map<string, readonly ToolOffer[]>>();

function someOf(all: readonly ToolOffer[], { provider, offered }: Some): readonly ToolOffer[] {
  const isOurs = ({ hosted }: ToolOffer): boolean => !hosted || hosted.provider === provider;
  if (offered === undefined && all.every(isOurs)) return all;
  const known = lists.get(all) ?? new Map<string, readonly ToolOffer[]>();
  lists.set(all, known);
  const key = JSON.stringify([provider, offered]);
  const list =
    known.get(key) ?? all.filter((one) => isOurs(one) && (offered?.includes(one.name) ?? true));
  if (known.size >= LISTS_MAX) known.clear();
  known.set(key, list);
  return list;
}

/** Newer nodes than those of a remembered conversation: a turn adds two or three. */
const NEWER_MAX = 8;

/** The messages up to a node, under the newest node alone: each turn adds to those of the turn before. */
const conversations = new WeakMap<TranscriptNode, Remembered<Assembled>>();

interface Assembled {
  readonly messages: readonly RequestMessage[];
  /** Some of them name a container: without any nobody looks for the newest in all. */
  readonly hasContainers: boolean;
}

interface Known extends Assembled {
  /** How many of the nodes are in it; none of these has an attachment, whose bytes stay in the store. */
  readonly from: number;
}

const NOTHING_SENT: FileReader['sent'] = new Set();

async function messagesOf(
  reader: Reader,
  nodes: readonly HashedNode[],
  { from, messages: before, hasContainers }: Known,
): Promise<readonly RequestMessage[]> {
  const messages = [...before];
  for (const node of nodes.slice(from)) messages.push(await messageOf(reader, node));
  const newest = nodes.at(-1);
  const last = nodes[from - 1];
  if (newest === undefined || last === newest) return messages;
  if (last !== undefined) conversations.delete(last);
  // With a text that stays in the store nothing is remembered.
  if (nodes.slice(from).every(isRemembered))
    conversations.set(newest, { offers: reader.offers, value: { messages, hasContainers } });
  return messages;
}

/** The longest part of the conversation that is remembered. */
function rememberedUpTo(offers: readonly ToolOffer[], nodes: readonly HashedNode[]): Known {
  for (let from = nodes.length; from > Math.max(0, nodes.length - NEWER_MAX); from -= 1) {
    const before = remembered(conversations, nodes[from - 1]!, { offers });
    // A summary is asked for without turns that do not fit: another conversation may end with the same node.
    if (before?.messages.length === from) return { from, ...before };
  }
  return { from: 0, messages: [], hasContainers: false };
}

async function systemOf(reader: Reader, root: TranscriptNode): Promise<string> {
  const texts: string[] = [];
  for (const block of root.blocks) {
    if (block.type === 'text') texts.push(await textOf(reader, block.text));
  }
  return texts.join('\n\n');
}

function noRoot(head: string): HoldfastError {
  return new HoldfastError('TranscriptMissing', `The conversation ${head} has no beginning.`, {
    hint: NEWER_BACKUP,
    details: { hash: head },
  });
}
