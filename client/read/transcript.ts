/**
 * A conversation as people and programs read it, from the store.
 * Invariants: only live messages: what was taken back (a tombstone) is under no head; texts of the
 * store are put back in; what follows what is never changed.
 */
import { HoldfastError } from '../../core/state/errors.js';
import type { BlobRef, Json } from '../../core/json/json.js';
import type { Attachment } from '../../core/state/attachment.js';
import type { NodeFlag } from '../../core/state/transcript.js';
import { sourcesOf, type Source } from '../../pure/sources.js';
import type { SessionEntry } from '../../store/sessions.js';
import type { HashedNode } from '../../store/transcripts.js';
import type { ReadingStore } from '../link.js';
import type { RunHandle } from '../runs/run-handle.js';

/** A conversation as people read it. */
export interface Transcript {
  /** Of the session, or of the run. */
  readonly id: string;
  readonly kind: 'session' | 'run';
  readonly agent: string;
  readonly title: string;
  /** ms since epoch. */
  readonly updatedAt: number;
  readonly session?: SessionEntry;
  readonly messages: readonly TranscriptMessage[];
}

/** One message of a conversation. */
export interface TranscriptMessage {
  /** Names the message for a fork. */
  readonly messageId: string;
  readonly role: 'user' | 'assistant';
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly { readonly id: string; readonly tool: string; readonly args: Json }[];
  readonly results?: readonly {
    readonly id: string;
    readonly isError: boolean;
    readonly text: string;
    readonly attachments?: readonly Attachment[];
  }[];
  /** Beside the text: pictures, documents and sounds, whose bytes lie in the store. */
  readonly attachments?: readonly Attachment[];
  /** What the text rests on, as its vendor says. */
  readonly sources?: readonly Source[];
  readonly model?: string;
  /** `synthetic`: said by the runtime; `partial`: cut off; `compactSummary`: stands for what was before it. */
  readonly flags?: readonly NodeFlag[];
}

export type Reader = Pick<
  ReadingStore,
  'getSession' | 'getRun' | 'readChain' | 'getText' | 'restoreArguments'
>;

/** Asks a run that goes on how far its conversation is stored; undefined when nobody can say. */
export type HeadOfOpenRun = (runId: string) => Promise<string | undefined>;

/** A session's conversation, else that of a run, so far as it is stored. Errors: SessionNotFound. */
export async function readTranscript(
  store: Reader,
  { tenant, id }: { readonly tenant: string; readonly id: string },
  headOfOpenRun: HeadOfOpenRun,
): Promise<Transcript> {
  const session = await store.getSession(tenant, id);
  if (session !== undefined) {
    const { carry: _, before: __, ...entry } = session;
    const { agent, title, updatedAt, head } = entry;
    const messages = await messagesAt(store, tenant, head);
    return { id, kind: 'session', agent, title, updatedAt, session: entry, messages };
  }
  const run = await store.getRun(tenant, id);
  if (run === undefined) throw noConversation(id, false);
  const head = run.head ?? (await headOfOpenRun(id));
  if (head === undefined) throw noConversation(id, true);
  const { agent, goalPreview: title, updatedAt } = run;
  const messages = await messagesAt(store, tenant, head);
  return { id, kind: 'run', agent, title, updatedAt, messages };
}

/** Of a run under way, from a worker. */
export async function headOf(run: Pick<RunHandle, 'state'>): Promise<string | undefined> {
  try {
    return (await run.state()).head;
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return undefined;
  }
}

function noConversation(id: string, isRun: boolean): HoldfastError {
  return isRun
    ? new HoldfastError('SessionNotFound', `Run ${id} has no stored conversation yet.`, {
        hint: `While it goes on, its workers must be asked: is one running? Follow it with \`holdfast watch ${id}\`.`,
        details: { id },
      })
    : new HoldfastError('SessionNotFound', `There is no session and no run ${id}.`, {
        hint: 'List them with `holdfast sessions` and `holdfast list`.',
        details: { id },
      });
}

export async function messagesAt(
  store: Reader,
  tenant: string,
  head: string,
): Promise<readonly TranscriptMessage[]> {
  const messages: TranscriptMessage[] = [];
  for (const node of await store.readChain(tenant, head)) {
    const { role } = node;
    if (role !== 'root') messages.push(await messageOf(store, tenant, { ...node, role }));
  }
  return messages;
}

async function messageOf(
  store: Reader,
  tenant: string,
  node: HashedNode & { readonly role: 'user' | 'assistant' },
): Promise<TranscriptMessage> {
  const read = (text: string | BlobRef): Promise<string> =>
    typeof text === 'string'
      ? Promise.resolve(text)
      : store.getText(tenant, { ...text, preview: '' });
  const said = { text: [] as string[], thinking: [] as string[] };
  const attachments: Attachment[] = [];
  const calls: NonNullable<TranscriptMessage['calls']>[number][] = [];
  const results: NonNullable<TranscriptMessage['results']>[number][] = [];
  for (const block of node.blocks) {
    if (block.type === 'tool_use') {
      const { id, tool } = block;
      calls.push({ id, tool, args: await store.restoreArguments(tenant, block.args) });
    } else if (block.type === 'tool_result') {
      const { id, isError, attachments: files } = block;
      const text = await read(block.text);
      results.push({ id, isError, text, ...(files !== undefined && { attachments: files }) });
    } else if (block.type === 'attachment') attachments.push(block.attachment);
    else said[block.type].push(await read(block.text));
  }
  const sources = sourcesOf(node.raw);
  return {
    messageId: node.messageId,
    role: node.role,
    ...(said.text.length > 0 && { text: said.text.join('\n\n') }),
    ...(said.thinking.length > 0 && { thinking: said.thinking.join('\n\n') }),
    ...(attachments.length > 0 && { attachments }),
    ...(calls.length > 0 && { calls }),
    ...(results.length > 0 && { results }),
    ...(sources.length > 0 && { sources }),
    ...(node.origin !== undefined && { model: node.origin.model }),
    ...(node.flags !== undefined && { flags: node.flags }),
  };
}
