/**
 * Writes what the core has decided to say as nodes of the transcript.
 * Invariants: idempotent, as nodes are named by their content, so doing it twice gives the same head; every call
 * of a message has its result in the next one.
 */
import type { BlobRef, StoredText } from '../../core/json/json.js';
import type { Attachment } from '../../core/state/attachment.js';
import type {
  NodeFlag,
  ResultItem,
  StoredBlock,
  TranscriptItem,
  TranscriptNode,
} from '../../core/state/transcript.js';
import { resultsOfAll } from '../../core/step/conversation.js';
import type { StoreCalls } from '../../store/store.js';

export interface TranscriptPlace {
  readonly tenant: string;
  /** Newest node in the store. */
  readonly head: string;
}

/** What of a store messages are written to. */
export type MessageStore = Pick<
  StoreCalls,
  'readChain' | 'putNode' | 'getText' | 'putText' | 'putBlob'
>;

/** The new head after the items. */
export async function appendItems(
  store: MessageStore,
  place: TranscriptPlace,
  items: readonly TranscriptItem[],
): Promise<string> {
  let head = place.head;
  for (const item of items) {
    head = await store.putNode(place.tenant, await nodeOf(store, { ...place, head }, item));
  }
  return head;
}

async function nodeOf(
  store: MessageStore,
  { tenant, head }: TranscriptPlace,
  item: TranscriptItem,
): Promise<TranscriptNode> {
  const node = { v: 1, parent: head, role: 'user', messageId: item.messageId } as const;
  if (item.kind === 'user') {
    return {
      ...node,
      blocks: [
        { type: 'text', text: textInBlock(item.content) },
        ...(item.attachments ?? []).map(attachmentBlock),
      ],
      ...flagsOf(item),
    };
  }
  const blocks: StoredBlock[] = [];
  const answered = (await store.readChain(tenant, head)).at(-1);
  const results = resultsOfAll(answered?.blocks.filter(isUse) ?? [], item.results);
  for (const result of results) blocks.push(await resultBlock(store, tenant, result));
  return { ...node, blocks };
}

function attachmentBlock(attachment: Attachment): StoredBlock {
  return { type: 'attachment', attachment };
}

function isUse(block: StoredBlock): block is Extract<StoredBlock, { type: 'tool_use' }> {
  return block.type === 'tool_use';
}

function flagsOf(item: Extract<TranscriptItem, { kind: 'user' }>): Pick<TranscriptNode, 'flags'> {
  const flags: NodeFlag[] = [];
  if (item.synthetic === true) flags.push('synthetic');
  if (item.asSystem === true) flags.push('system');
  return flags.length === 0 ? {} : { flags };
}

type ResultBlock = Extract<StoredBlock, { type: 'tool_result' }>;

async function resultBlock(
  store: MessageStore,
  tenant: string,
  result: ResultItem,
): Promise<ResultBlock> {
  const { note, evidence, attachments } = result;
  const block = {
    ...(await contentBlock(store, tenant, result)),
    ...(evidence !== undefined && { evidence }),
    ...(attachments !== undefined && { attachments }),
  };
  if (note === undefined) return block;
  const { text } = block;
  const content =
    typeof text === 'string' ? text : await store.getText(tenant, { ...text, preview: '' });
  const noted = await store.putText(tenant, `${note}\n${content}`);
  return { ...block, text: textInBlock(noted) };
}

/** A result as the model sees it, cut where it is too long. */
async function contentBlock(
  store: MessageStore,
  tenant: string,
  result: ResultItem,
): Promise<ResultBlock> {
  const { callId: id, isError, code, content, maxChars } = result;
  const whole = {
    type: 'tool_result',
    id,
    isError,
    ...(code !== undefined && { code }),
    text: textInBlock(content),
  } as const;
  // A text never has more characters than bytes, so most need not be read to be known to fit.
  if (maxChars === undefined || sizeOf(content) <= maxChars) return whole;
  const text = await store.getText(tenant, content);
  if (text.length <= maxChars) return whole;
  const hash = '$blob' in content ? content.$blob : (await store.putBlob(tenant, text)).$blob;
  const shown = beginning(text, maxChars);
  const notice = `[truncated: ${shown.length} of ${text.length} characters shown; ref ${hash}]`;
  const cut = await store.putText(tenant, `${shown}\n${notice}`);
  return { ...whole, text: textInBlock(cut), originalChars: text.length, ref: hash };
}

/** A text as blocks hold it. */
export function textInBlock(content: StoredText): string | BlobRef {
  return 'text' in content ? content.text : { $blob: content.$blob, bytes: content.bytes };
}

function sizeOf(content: StoredText): number {
  return 'text' in content ? content.text.length : content.bytes;
}

/** The first characters, one less where that would split a surrogate pair. */
export function beginning(text: string, chars: number): string {
  const splits = /[\uD800-\uDBFF]/.test(text.charAt(chars - 1));
  return text.slice(0, splits ? chars - 1 : chars);
}
