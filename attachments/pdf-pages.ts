/**
 * How many pages a PDF has, at most.
 * Invariants: total, and bounded in bytes and in work, whatever the bytes are; object streams are looked into, so that a
 * page that is packed away counts too. Pages of replaced versions count as well: the figure is a bound. What could hide
 * pages from the count makes a PDF unreadable.
 */
import { inflateSync } from 'node:zlib';
import { isNamed, nameOf } from './pdf-names.js';
import { newPageCount, type PageCount } from './pdf-tree.js';

/** Of all object streams together. */
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;
const STREAMS_MAX = 4_000;
/** Of a stream: on either side of its type. */
const DICTIONARY_CHARS = 2_000;
const OBJECT_STREAM = nameOf('ObjStm');
const ENCRYPT = nameOf('Encrypt');

export type PdfPages =
  | { readonly ok: true; readonly pages: number }
  | { readonly ok: false; readonly why: 'encrypted' | 'unreadable' };

export function pdfPages(bytes: Uint8Array): PdfPages {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = data.toString('latin1');
  if (isNamed(text, ENCRYPT)) return { ok: false, why: 'encrypted' };
  const count = newPageCount();
  const read = count.add(text) && addPacked(count, { data, text });
  const pages = count.pages();
  return read && pages > 0 ? { ok: true, pages } : { ok: false, why: 'unreadable' };
}

interface Source {
  readonly data: Buffer;
  readonly text: string;
}

/** Whether all object streams could be looked into. */
function addPacked(count: PageCount, { data, text }: Source): boolean {
  let unpackedLeft = UNPACKED_BYTES_MAX;
  // Streams do not lie in each other.
  let packedLeft = data.length;
  let streams = 0;
  for (const { index: at } of text.matchAll(new RegExp(OBJECT_STREAM, 'g'))) {
    streams += 1;
    const packed = packedAt({ data, text }, at);
    packedLeft -= packed?.bytes.length ?? 0;
    if (packed === undefined || packedLeft < 0 || streams > STREAMS_MAX) return false;
    const unpacked = unpack(packed, unpackedLeft);
    unpackedLeft -= unpacked?.length ?? 0;
    if (unpacked === undefined || unpackedLeft <= 0) return false;
    if (!count.add(unpacked.toString('latin1'))) return false;
  }
  return true;
}

interface Packed {
  readonly bytes: Buffer;
  /** Of the stream. */
  readonly dictionary: string;
}

/** undefined: there is no whole stream with this type. */
function packedAt({ data, text }: Source, at: number): Packed | undefined {
  const start = /stream\r?\n/.exec(text.slice(at, at + DICTIONARY_CHARS));
  if (start === null) return undefined;
  const before = text.slice(Math.max(0, at - DICTIONARY_CHARS), at);
  const object = [...before.matchAll(/(?<![A-Za-z])obj(?![A-Za-z])/g)].at(-1);
  const from = at + start.index + start[0].length;
  const end = text.indexOf('endstream', from);
  if (object === undefined || end === -1) return undefined;
  const dictionary = before.slice(object.index) + text.slice(at, at + start.index);
  return { bytes: data.subarray(from, end), dictionary };
}

const FILTER = nameOf('Filter');
const FLATE = nameOf('FlateDecode');
const PREDICTOR = nameOf('Predictor');

/** undefined: it cannot be unpacked within the limit. */
function unpack({ bytes, dictionary }: Packed, left: number): Buffer | undefined {
  if (isNamed(dictionary, PREDICTOR)) return undefined;
  if (!isNamed(dictionary, FLATE)) return isNamed(dictionary, FILTER) ? undefined : bytes;
  try {
    return inflateSync(bytes, { maxOutputLength: left, finishFlush: 2 });
  } catch {
    return undefined;
  }
}
