/**
 * What a reply says that it rests on, read from the vendor's own content that its message keeps: one form for all vendors.
 * Total: what cannot be read is left out.
 * Invariants: sources are few and short, whatever a vendor sends; an address is one of the web, with neither user nor password.
 */
import { isRecord, type Fields } from '../core/json/shape.js';

/** Something that a reply cites. */
export type Source =
  | {
      readonly kind: 'url';
      /** http or https. */
      readonly url: string;
      readonly title?: string;
      readonly passages?: readonly Passage[];
    }
  | {
      readonly kind: 'document';
      readonly title: string;
      /** Told by its vendor, else guessed. */
      readonly mediaType: string;
      readonly filename?: string;
      /** The vendor's. */
      readonly fileId?: string;
      readonly passages?: readonly Passage[];
    };

/** A place in a source, and its words there. */
export interface Passage {
  readonly text?: string;
  /** Absent with `from` and `to`: the vendor names no place. */
  readonly unit?: 'characters' | 'pages' | 'blocks';
  readonly from?: number;
  /** The first that is not in it. */
  readonly to?: number;
}

const SOURCES_MAX = 100;
const PASSAGES_MAX = 10;
const URL_CHARS_MAX = 2_048;
const NAME_CHARS_MAX = 300;
const TEXT_CHARS_MAX = 500;

const WEB = /^https?:\/\/[^\s\p{C}/?#@\\"<>]+(?:[/?#][^\s\p{C}"<>]*)?$/iu;
const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/;
const UNITS = [
  ['characters', 'char_index'],
  ['pages', 'page_number'],
  ['blocks', 'block_index'],
] as const;
/** What a vendor calls the citation of a document, and what such a document is. */
const DOCUMENTS: ReadonlyMap<unknown, string> = new Map([
  ['char_location', 'text/plain'],
  ['page_location', 'application/pdf'],
  ['content_block_location', 'text/plain'],
  ['search_result_location', 'text/plain'],
  ['file_citation', 'text/plain'],
  ['container_file_citation', 'application/octet-stream'],
]);
const PAGES: readonly unknown[] = ['web_search_result_location', 'url_citation'];

/** In the order in which they are first cited. `raw`: as a message keeps its vendor's content. */
export function sourcesOf(raw: unknown): readonly Source[] {
  const found = new Map<string, { readonly source: Source; readonly passages: Passage[] }>();
  for (const cited of citationsIn(raw)) {
    const source = sourceOf(cited);
    if (source === undefined) continue;
    const key = JSON.stringify([source, cited['document_index']]);
    let known = found.get(key);
    if (known === undefined) {
      if (found.size >= SOURCES_MAX) continue;
      found.set(key, (known = { source, passages: [] }));
    }
    const passage = passageOf(cited);
    if (passage !== undefined && known.passages.length < PASSAGES_MAX) known.passages.push(passage);
  }
  return [...found.values()].map(({ source, passages }) =>
    passages.length === 0 ? source : { ...source, passages },
  );
}

/** Of Anthropic, of OpenAI's Responses, of models of the AI SDK. */
function citationsIn(raw: unknown): readonly Fields[] {
  if (Array.isArray(raw)) return records(raw).flatMap(({ citations }) => records(citations));
  if (!isRecord(raw)) return [];
  const said = records(raw['output']).flatMap(({ content }) => records(content));
  return [
    ...said.flatMap(({ annotations }) => records(annotations)),
    ...records(raw['parts']).filter(({ type }) => type === 'source'),
  ];
}

function records(list: unknown): readonly Fields[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function sourceOf(cited: Fields): Source | undefined {
  const { type, sourceType, source } = cited;
  const mediaType = DOCUMENTS.get(type);
  if (mediaType === undefined && !PAGES.includes(type) && type !== 'source') return undefined;
  const url = cited['url'] ?? source;
  const name = short(cited['title'] ?? cited['document_title'], NAME_CHARS_MAX);
  if (sourceType !== 'document' && isWebAddress(url))
    return { kind: 'url', url, ...(name !== undefined && { title: name }) };
  const filename = short(cited['filename'], NAME_CHARS_MAX);
  const fileId = short(cited['file_id'], NAME_CHARS_MAX);
  const title = name ?? filename ?? short(url, NAME_CHARS_MAX) ?? fileId ?? 'Document';
  const told = String(cited['mediaType']);
  return {
    kind: 'document',
    title,
    mediaType: MEDIA_TYPE.test(told) ? told : (mediaType ?? 'application/octet-stream'),
    ...(filename !== undefined && { filename }),
    ...(fileId !== undefined && { fileId }),
  };
}

/** Whether following it leads to the web and nowhere else. */
export function isWebAddress(address: unknown): address is string {
  return typeof address === 'string' && address.length <= URL_CHARS_MAX && WEB.test(address);
}

function passageOf(cited: Fields): Passage | undefined {
  const text = short(cited['cited_text'], TEXT_CHARS_MAX);
  const words = text === undefined ? {} : { text };
  for (const [unit, name] of UNITS) {
    const [from, to] = [cited[`start_${name}`], cited[`end_${name}`]];
    if (isPlace(from) && isPlace(to)) return { ...words, unit, from, to };
  }
  return text === undefined ? undefined : words;
}

function isPlace(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Undefined: no text, or an empty one. What is cut says so. */
function short(value: unknown, charsMax: number): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  if (value.length <= charsMax) return value;
  return `${value.slice(0, charsMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Where a passage is, in words; empty: nobody says. */
export function placeWords({ unit, from = 0, to = 0 }: Passage): string {
  if (unit === undefined) return '';
  const last = Math.max(from, to - 1);
  return last === from ? `${unit.slice(0, -1)} ${from}` : `${unit} ${from}–${last}`;
}
