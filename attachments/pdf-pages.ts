/**
 * How many pages a PDF has, at most.
 * Invariants: total and bounded, whatever the bytes are; object streams are looked into, so that a page that is packed away
 * counts too. Pages of replaced versions count as well: the figure is a bound.
 */
import { inflateSync } from 'node:zlib';

/** Of all object streams together. */
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;
const STREAMS_MAX = 20_000;
const PAGE = /\/Type\s{0,10}\/Page(?![A-Za-z])/g;
/** What an inner node of the page tree says. */
const COUNT = /\/Count\s{1,10}(\d{1,9})/g;
const OBJECT_STREAM = '/ObjStm';
/** Between the dictionary of a stream and its bytes. */
const DICTIONARY_CHARS = 2_000;

export type PdfPages =
  | { readonly ok: true; readonly pages: number }
  | { readonly ok: false; readonly why: 'encrypted' | 'unreadable' };

export function pdfPages(bytes: Uint8Array): PdfPages {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = data.toString('latin1');
  if (/\/Encrypt[\s<]/.test(text)) return { ok: false, why: 'encrypted' };
  let found = pagesIn(text);
  let left = UNPACKED_BYTES_MAX;
  let at = text.indexOf(OBJECT_STREAM);
  for (let streams = 0; at !== -1; streams += 1) {
    if (streams >= STREAMS_MAX || left <= 0) return { ok: false, why: 'unreadable' };
    const unpacked = streamAfter({ data, text, at, left });
    if (unpacked === undefined) return { ok: false, why: 'unreadable' };
    left -= unpacked.length;
    const inside = pagesIn(unpacked.toString('latin1'));
    found = { pages: found.pages + inside.pages, count: Math.max(found.count, inside.count) };
    at = text.indexOf(OBJECT_STREAM, at + OBJECT_STREAM.length);
  }
  const pages = Math.max(found.pages, found.count);
  return pages > 0 ? { ok: true, pages } : { ok: false, why: 'unreadable' };
}

function pagesIn(text: string): { readonly pages: number; readonly count: number } {
  let pages = 0;
  let count = 0;
  for (const _ of text.matchAll(PAGE)) pages += 1;
  for (const [, number] of text.matchAll(COUNT)) count = Math.max(count, Number(number));
  return { pages, count };
}

interface StreamPlace {
  readonly data: Buffer;
  readonly text: string;
  readonly at: number;
  /** Most bytes. */
  readonly left: number;
}

/** undefined: it is none that can be unpacked within the limit. */
function streamAfter({ data, text, at, left }: StreamPlace): Buffer | undefined {
  const head = text.slice(at, at + DICTIONARY_CHARS);
  const start = /stream\r?\n/.exec(head);
  if (start === null) return undefined;
  const from = at + start.index + start[0].length;
  const end = text.indexOf('endstream', from);
  const packed = data.subarray(from, end === -1 ? data.length : end);
  const dictionary = text.slice(Math.max(0, at - DICTIONARY_CHARS), at + start.index);
  const own = dictionary.slice(dictionary.lastIndexOf(' obj'));
  if (!own.includes('/FlateDecode')) return own.includes('/Filter') ? undefined : packed;
  try {
    return inflateSync(packed, { maxOutputLength: left, finishFlush: 2 });
  } catch {
    return undefined;
  }
}
