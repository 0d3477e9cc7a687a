/**
 * How many bytes of text the pages of a PDF show, at most: vendors count the text of a page, however much it is.
 * Invariants: total, and bounded in bytes and in work. What is marked as a picture is none; of a filter that is not
 * unpacked here the packed bytes count.
 */
import { inflateRawSync } from 'node:zlib';
import { nameOf } from './pdf-names.js';
import { shownBytes } from './pdf-show.js';

const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;
const STREAMS_MAX = 50_000;
/** Before a stream. */
const DICTIONARY_CHARS = 2_000;
const STREAM = /(?<!end)stream(?=[\r\n ])[\r\n ]{1,20}/g;

const PICTURE = anyOf(['Image', 'DCTDecode', 'JPXDecode', 'JBIG2Decode', 'CCITTFaxDecode']);
const FILTER = anyOf(['Filter']);
const FLATE = anyOf(['FlateDecode', 'Fl']);
const OTHER = anyOf(['ASCII85Decode', 'A85', 'ASCIIHexDecode', 'AHx', 'LZWDecode', 'LZW']);

/** undefined: there is more than can be looked through, or some of it cannot be unpacked. */
export function pdfTextBytes(bytes: Uint8Array): number | undefined {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = data.toString('latin1');
  let left = UNPACKED_BYTES_MAX;
  let streams = 0;
  let shown = 0;
  STREAM.lastIndex = 0;
  for (let start = STREAM.exec(text); start !== null; start = STREAM.exec(text)) {
    streams += 1;
    const from = STREAM.lastIndex;
    const end = text.indexOf('endstream', from);
    const stream = data.subarray(from, end === -1 ? data.length : end);
    STREAM.lastIndex = from + stream.length;
    const found = textIn(stream, { dictionary: dictionaryBefore(text, start.index), left });
    if (found === undefined || streams > STREAMS_MAX) return undefined;
    left -= found.unpacked;
    shown += found.shown;
  }
  return shown;
}

function dictionaryBefore(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - DICTIONARY_CHARS), at);
  return before.slice(Math.max(0, before.lastIndexOf('obj')));
}

interface Found {
  readonly unpacked: number;
  readonly shown: number;
}

function textIn(
  stream: Buffer,
  { dictionary, left }: { readonly dictionary: string; readonly left: number },
): Found | undefined {
  if (PICTURE.test(dictionary)) return { unpacked: 0, shown: 0 };
  if (!FILTER.test(dictionary)) return { unpacked: 0, shown: shownBytes(stream) };
  if (OTHER.test(dictionary) || !FLATE.test(dictionary))
    return { unpacked: 0, shown: stream.length };
  if (stream.length <= 2) return { unpacked: 0, shown: 0 };
  try {
    // Without the two bytes of its head, so that nobody's wrong checksum hides what was read.
    const unpacked = inflateRawSync(stream.subarray(2), { maxOutputLength: left, finishFlush: 2 });
    return { unpacked: unpacked.length, shown: shownBytes(unpacked) };
  } catch {
    return undefined;
  }
}

function anyOf(names: readonly string[]): RegExp {
  return new RegExp(names.map(nameOf).join('|'));
}
