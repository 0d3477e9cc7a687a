/**
 * A file on its way into a conversation: checked, and in the form in which the store holds it.
 * Invariant: what is given back fits `parseAttachment`.
 */
import { createHash } from 'node:crypto';
import {
  ATTACHMENT_NAME_CHARS_MAX,
  kindOf,
  MEDIA_BYTES_MAX,
  MEDIA_TYPES,
  PAGES_MAX,
  PAGE_TEXT_BYTES,
  SECONDS_MAX,
  type Attachment,
  type MediaType,
} from '../core/state/attachment.js';
import { HoldfastError } from '../core/state/errors.js';
import { pdfPages } from './pdf-pages.js';
import { pdfTextBytes } from './pdf-text.js';
import { pictureSize } from './picture-size.js';
import { soundSeconds } from './sound-seconds.js';
import { isBase64, typeOf } from './sniff.js';

/** Vendors refuse larger ones. */
const PIXELS_MAX = 8_000;
/** Of the largest file, with its line breaks. */
export const BASE64_CHARS_MAX = 14_000_000;

/** A file in memory. */
export interface AttachmentSource {
  /** Bytes, or base64. */
  readonly data: Uint8Array | string;
  /** What it is said to be; it must be that. Absent: found out. */
  readonly mediaType?: string;
  /** Of its file. */
  readonly name?: string;
}

export interface PreparedAttachment {
  readonly attachment: Attachment;
  /** What the store is to hold under `attachment.$blob`. */
  readonly text: string;
}

/** Errors: UnsupportedContent, with what is wrong. */
export function prepareAttachment(source: AttachmentSource): PreparedAttachment {
  const { mediaType: said, name } = source;
  const bytes = bytesOf(source);
  const mediaType = typeOf(bytes);
  if (mediaType === undefined) {
    const types = Object.keys(MEDIA_TYPES).join(', ');
    throw refused(name, 'it is none of the types that are taken', `Attach one of ${types}.`);
  }
  if (said !== undefined && normal(said) !== mediaType) {
    const hint = 'Say what it is, or leave mediaType out.';
    throw refused(name, `it is said to be ${said.slice(0, 60)} and is ${mediaType}`, hint);
  }
  const kind = kindOf({ mediaType });
  if (bytes.byteLength > MEDIA_BYTES_MAX[kind]) {
    const why = `it has ${bytes.byteLength} bytes; ${MEDIA_BYTES_MAX[kind]} are allowed`;
    throw refused(name, why, 'Attach a smaller one.');
  }
  const facts = factsOf(bytes, { mediaType, name });
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  const $blob = createHash('sha256').update(text).digest('hex');
  const shown = name && shownName(name);
  const attachment = {
    $blob,
    bytes: text.length,
    mediaType,
    ...(shown && { name: shown }),
    ...facts,
  };
  return { attachment, text };
}

function bytesOf({ data, name }: AttachmentSource): Uint8Array {
  if (typeof data !== 'string') return data;
  if (data.length > BASE64_CHARS_MAX) {
    const why = `its data has ${data.length} characters; ${BASE64_CHARS_MAX} are allowed`;
    throw refused(name, why, 'Attach a smaller one.');
  }
  const base64 = data.replace(/[\t\n\f\r ]+/g, '');
  if (isBase64(base64)) return Buffer.from(base64, 'base64');
  throw refused(name, 'its data is no base64', 'Give its bytes, or base64.');
}

/** Other names of the same types. */
const ALIASES: { readonly [type: string]: MediaType } = {
  'image/jpg': 'image/jpeg',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/mp3': 'audio/mpeg',
  'audio/x-flac': 'audio/flac',
};

function normal(said: string): string {
  const type = (said.split(';')[0] ?? '').trim().toLowerCase();
  return Object.hasOwn(ALIASES, type) ? ALIASES[type]! : type;
}

interface Found {
  readonly mediaType: MediaType;
  readonly name: string | undefined;
}

function factsOf(
  bytes: Uint8Array,
  found: Found,
): Pick<Attachment, 'pages' | 'textBytes' | 'seconds'> {
  const { mediaType, name } = found;
  switch (kindOf(found)) {
    case 'image':
      checkPixels(bytes, found);
      return {};
    case 'document':
      return factsOfPdf(bytes, name);
    case 'sound':
      return { seconds: Math.min(SECONDS_MAX, soundSeconds(bytes, mediaType)) };
  }
}

function factsOfPdf(bytes: Uint8Array, name: string | undefined) {
  const read = pdfPages(bytes);
  if (!read.ok) {
    const why = read.why === 'encrypted' ? 'it is encrypted' : 'its pages cannot be counted';
    throw refused(name, why, 'Save it anew as a plain PDF.');
  }
  const { pages } = read;
  if (pages > PAGES_MAX) {
    const why = `it has ${pages} pages; ${PAGES_MAX} are allowed`;
    throw refused(name, why, 'Attach a part of it.');
  }
  const textBytes = pdfTextBytes(bytes);
  if (textBytes === undefined) {
    const hint = 'Save it anew as a plain PDF, or attach a part of it.';
    throw refused(name, 'its text cannot be measured, or unpacks to too much', hint);
  }
  return { pages, ...(textBytes > pages * PAGE_TEXT_BYTES && { textBytes }) };
}

function checkPixels(bytes: Uint8Array, { mediaType, name }: Found): void {
  const size = pictureSize(bytes, mediaType);
  if (size === undefined) throw refused(name, 'its size cannot be read', 'Save it anew.');
  if (Math.max(size.width, size.height) <= PIXELS_MAX) return;
  const why = `it has ${size.width} by ${size.height} pixels; ${PIXELS_MAX} are allowed`;
  throw refused(name, why, 'Attach a smaller one.');
}

/** On one line, without control characters or halves of letters. */
function shownName(name: string): string {
  const line = name.replace(/[\p{C}\s]+/gu, ' ').trim();
  const cut = line.slice(0, ATTACHMENT_NAME_CHARS_MAX);
  return cut.replace(/\p{Surrogate}/gu, '');
}

function refused(name: string | undefined, why: string, hint: string): HoldfastError {
  const what = name === undefined ? 'The attachment' : `The attachment ${shownName(name)}`;
  return new HoldfastError('UnsupportedContent', `${what} cannot be used: ${why}.`, { hint });
}
