/**
 * Pictures, documents and sounds, by reference: what lies in the store is their bytes as base64, a text like any other.
 * Invariant: no history, event or state of a run holds the bytes.
 */
import type { BlobRef } from '../json/json.js';

/** What each media type is, and how large one of it may be, in bytes of the file itself. */
export const MEDIA_TYPES = {
  'image/png': 'image',
  'image/jpeg': 'image',
  'image/gif': 'image',
  'image/webp': 'image',
  'application/pdf': 'document',
  'audio/wav': 'sound',
  'audio/mpeg': 'sound',
  'audio/ogg': 'sound',
  'audio/flac': 'sound',
} as const;

export type MediaType = keyof typeof MEDIA_TYPES;
export type MediaKind = (typeof MEDIA_TYPES)[MediaType];

/** Vendors refuse larger ones; a picture of this size has 5 MB as base64. */
export const MEDIA_BYTES_MAX: { readonly [kind in MediaKind]: number } = {
  image: 3_750_000,
  document: 10_000_000,
  sound: 10_000_000,
};
/** Of one message, and of the results of one turn. */
export const ATTACHMENTS_MAX = 20;
/** Of one request: with more of them vendors take smaller pictures only. */
export const SENT_MAX = 20;
/** Of one result. */
export const RESULT_ATTACHMENTS_MAX = 8;
/** Bytes of the files of one message together. */
export const ATTACHED_BYTES_MAX = 20_000_000;
export const ATTACHMENT_NAME_CHARS_MAX = 100;
export const PAGES_MAX = 600;
export const SECONDS_MAX = 36_000;
/** Most bytes of text that a page has as a rule; what a route counts for a page is with them. */
export const PAGE_TEXT_BYTES = 8_000;
export const TEXT_BYTES_MAX = 64 * 1024 * 1024;

/** `$blob`, `bytes`: of the base64 text. */
export interface Attachment extends BlobRef {
  readonly mediaType: MediaType;
  /** Of its file, shown to people and to the model. */
  readonly name?: string;
  /** Of a document. */
  readonly pages?: number;
  /** Of a document whose pages have more text than {@link PAGE_TEXT_BYTES} each: of all of its text. */
  readonly textBytes?: number;
  /** Of a sound: at most so many. */
  readonly seconds?: number;
}

/** What a model reads beside text, and most that it counts for each, in tokens; a kind that is absent it does not read. */
export interface MediaTaken {
  readonly image?: number;
  readonly documentPage?: number;
  /** Most pages that one request has, of all documents together. Absent: as many as documents may have. */
  readonly documentPages?: number;
  readonly soundSecond?: number;
}

/** How much of each kind a conversation holds. */
export interface MediaCount {
  readonly images: number;
  readonly documents: number;
  readonly pages: number;
  /** Of documents: bytes beyond {@link PAGE_TEXT_BYTES} a page. Absent: none. */
  readonly text?: number;
  readonly sounds: number;
  readonly seconds: number;
}

export function kindOf({ mediaType }: Pick<Attachment, 'mediaType'>): MediaKind {
  return MEDIA_TYPES[mediaType];
}

/** Bytes of the file itself. */
export function fileBytes({ bytes }: Pick<Attachment, 'bytes'>): number {
  return Math.ceil(bytes / 4) * 3;
}
