/**
 * The transcript: content-addressed messages in the store; a run carries only the hash of the newest.
 * Invariants: a head names everything the model saw; an item that is pending in a run becomes a node
 * before the next model request leaves or when the run closes; message ids are `${runId}:m${n}` (G33).
 */
import type { BlobRef, Json, StoredText } from '../json/json.js';
import type { Attachment, MediaType } from './attachment.js';
import type { ToolResultCode } from './tool-result.js';

/** A picture, document or sound as a request has it. */
export interface AttachedFile {
  readonly mediaType: MediaType;
  /** Base64. */
  readonly data: string;
  readonly name?: string;
}

/** One block as providers see it, normalised. Vendor blocks are kept verbatim in `raw` beside them. */
export type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly tool: string; readonly args: Json }
  | {
      readonly type: 'tool_result';
      readonly id: string;
      readonly isError: boolean;
      /** Of an error; absent in conversations of before rules 2. */
      readonly code?: ToolResultCode;
      readonly text: string;
      /** Beside the text. Absent: none. */
      readonly files?: readonly AttachedFile[];
    }
  /** Of a user's message. */
  | ({ readonly type: 'file' } & AttachedFile);

/** A node of the transcript, stored under sha256 of its canonical form, key `(tenant, hash)`. */
export interface TranscriptNode {
  readonly v: 1;
  /** Hash of the node before, null for the root. */
  readonly parent: string | null;
  readonly role: 'root' | 'user' | 'assistant';
  readonly messageId: string;
  /** Root: one text block, the system prompt. Texts above INLINE_BYTES_MAX are blobs: `{type, $blob, bytes}`. */
  readonly blocks: readonly StoredBlock[];
  readonly origin?: { readonly model: string; readonly route: string; readonly call: number };
  /** The vendor's content blocks, verbatim, so that they return unchanged to the same model (G49). */
  readonly raw?: Json;
  /** In which the vendor has run code. */
  readonly container?: VendorContainer;
  /** Root only: the tools offered, with their JSON Schemas. */
  readonly tools?: readonly ToolOffer[];
  readonly flags?: readonly NodeFlag[];
  /** Of a summary: newest node of the conversation that it stands for, so that a fork may begin there. */
  readonly summarised?: string;
}

/** A container of the vendor's. */
export interface VendorContainer {
  readonly id: string;
  /** ms since epoch. */
  readonly expiresAt: number;
}

/** `compactSummary`: stands for the messages that were there before it. `system`: said by the system. */
export type NodeFlag = 'synthetic' | 'partial' | 'system' | 'compactSummary';

/** A block whose text or arguments may be in the blob store. */
export type StoredBlock =
  | { readonly type: 'text' | 'thinking'; readonly text: string | BlobRef }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly tool: string;
      readonly args: Json;
    }
  | {
      readonly type: 'tool_result';
      readonly id: string;
      readonly isError: boolean;
      readonly code?: ToolResultCode;
      readonly text: string | BlobRef;
      /** Characters of the whole text when the model sees only its beginning (C39). */
      readonly originalChars?: number;
      /** sha256 of the whole text in the blob store, in that case. */
      readonly ref?: string;
      /** Id under which the result is evidence of a goal; a request says it behind the text. */
      readonly evidence?: string;
      readonly attachments?: readonly Attachment[];
    }
  | { readonly type: 'attachment'; readonly attachment: Attachment };

/** What a model is told about a tool. */
export interface ToolOffer {
  readonly name: string;
  readonly version: string;
  readonly wireName: string;
  readonly description: string;
  readonly inputSchema: Json;
  /** The vendor runs it: its declaration, verbatim, for the provider of this name alone (G48). */
  readonly hosted?: HostedDeclaration;
}

export interface HostedDeclaration {
  readonly provider: string;
  readonly declaration: { readonly [key: string]: Json };
}

/** A message that the core has decided on and that an activity will write as a node. */
export type TranscriptItem =
  | {
      readonly kind: 'user';
      readonly messageId: string;
      readonly content: StoredText;
      readonly synthetic?: boolean;
      /** Said by the system where the provider lets it speak later than at the start (C45). */
      readonly asSystem?: boolean;
      readonly attachments?: readonly Attachment[];
    }
  | {
      readonly kind: 'results';
      readonly messageId: string;
      readonly results: readonly ResultItem[];
    };

export interface ResultItem {
  readonly callId: string;
  readonly isError: boolean;
  /** Of an error: vendors without a flag for one are told it in words (G44). */
  readonly code?: ToolResultCode;
  readonly content: StoredText;
  /** Most characters of the content that the model may see. */
  readonly maxChars?: number;
  /** Said to the model before the content. */
  readonly note?: string;
  /** In a cycle of a goal: the id under which the result is evidence, said to the model behind the content. */
  readonly evidence?: string;
  readonly attachments?: readonly Attachment[];
}
