/**
 * Puts the parts of one streamed reply of an AI SDK model together. The object that sends them is not ours:
 * each part is looked at before it is used, and all that it may send is bounded. What cannot belong to one
 * message is a BadStream; unknown parts are skipped.
 */
import type { Json } from '../../core/json/json.js';
import type { Usage } from '../../core/state/model.js';
import { isRecord, type JsonRecord } from '../json-record.js';
import { BadStream } from '../stream-errors.js';
import { endingOf, type Ending } from './ending.js';
import { jsonValue } from './json-value.js';

export interface TextPart {
  readonly type: 'text' | 'reasoning';
  readonly id: string;
  text: string;
  /** The vendor's own about the part, signatures of thoughts for instance: it goes back with the part. */
  meta: Json | undefined;
  closed: boolean;
}

export interface CallPart {
  readonly type: 'tool-call';
  readonly id: string;
  readonly name: string;
  /** JSON text; some packages send the value itself. */
  readonly input: unknown;
  readonly meta: Json | undefined;
  /** The vendor has run it, or will. */
  readonly executed: boolean;
}

export interface ResultPart {
  readonly id: string;
  readonly isError: boolean;
  readonly result: Json;
}

export interface CustomPart {
  readonly type: 'custom';
  readonly kind: string;
  readonly meta: Json | undefined;
}

/** What the reply cites: its packages have no other form for it, and it does not go back. */
export interface SourcePart {
  readonly type: 'source';
  readonly about: JsonRecord;
}

export type Part = TextPart | CallPart | CustomPart | SourcePart;

export interface Assembly {
  /** Content has arrived, or news of the answer: the input is billed. */
  started: boolean;
  model: string;
  readonly parts: Part[];
  readonly results: ResultPart[];
  /** Tools whose input was begun, by id. */
  readonly begun: Map<string, { readonly tool: string; chars: number }>;
  /** Files of the reply: they are not kept. */
  files: number;
  ending: Ending | undefined;
  usage: Usage;
  usageFinal: boolean;
  outputBytes: number;
  metaBytes: number;
}

const PARTS_MAX = 1000;
const REPLY_BYTES_MAX = 16 * 1024 * 1024;
const META_BYTES_MAX = 4 * 1024 * 1024;
const NAME_CHARS_MAX = 256;
const ID_CHARS_MAX = 1024;

export type StreamPart = { readonly type: string } & Record<string, unknown>;

export function newAssembly(): Assembly {
  return {
    started: false,
    model: '',
    parts: [],
    results: [],
    begun: new Map(),
    files: 0,
    ending: undefined,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    usageFinal: false,
    outputBytes: 0,
    metaBytes: 0,
  };
}

/** What arrived, as a part; BadStream when it is none. An `error` part is its reader's affair. */
export function streamPart(value: unknown): StreamPart {
  const part: unknown = value;
  if (!isRecord(part) || typeof part['type'] !== 'string')
    throw new BadStream('a part without a type');
  return part as unknown as StreamPart;
}

/** Takes one part; whether it brought content (a ping does not). */
export function acceptPart(assembly: Assembly, part: StreamPart): boolean {
  switch (part.type) {
    case 'text-start':
    case 'reasoning-start':
      openText(assembly, part);
      return true;
    case 'text-delta':
    case 'reasoning-delta':
      return extendText(assembly, part);
    case 'text-end':
    case 'reasoning-end':
      closeText(assembly, part);
      return true;
    case 'tool-input-start':
      beginInput(assembly, part);
      return true;
    case 'tool-input-delta':
      return extendInput(assembly, part);
    case 'tool-call':
      addCall(assembly, part);
      return true;
    case 'tool-result':
      addResult(assembly, part);
      return true;
    case 'finish':
      assembly.started = true;
      assembly.ending = endingOf(part);
      ({ usage: assembly.usage, usageFinal: assembly.usageFinal } = assembly.ending);
      return true;
    default:
      return acceptOther(assembly, part);
  }
}

function acceptOther(assembly: Assembly, part: StreamPart): boolean {
  switch (part.type) {
    case 'response-metadata':
      assembly.started = true;
      assembly.model = textOf(part['modelId'], NAME_CHARS_MAX) || assembly.model;
      return true;
    case 'custom':
      push(assembly, {
        type: 'custom',
        kind: textOf(part['kind'], NAME_CHARS_MAX),
        meta: metaOf(assembly, part),
      });
      return true;
    case 'source':
      addSource(assembly, part);
      return true;
    case 'file':
    case 'reasoning-file':
      assembly.started = true;
      assembly.files += 1;
      return true;
    default:
      return false;
  }
}

/** Beyond so many, or longer: no source. */
const SOURCES_MAX = 100;
const SOURCE_CHARS_MAX = 3_000;

function addSource(
  assembly: Assembly,
  { sourceType, url, title, mediaType, filename }: StreamPart,
): void {
  assembly.started = true;
  const about = (jsonValue({ sourceType, url, title, mediaType, filename }) ?? {}) as JsonRecord;
  const { length } = assembly.parts.filter(({ type }) => type === 'source');
  if (length >= SOURCES_MAX || JSON.stringify(about).length > SOURCE_CHARS_MAX) return;
  push(assembly, { type: 'source', about });
}

function push(assembly: Assembly, part: Part): void {
  if (assembly.parts.length >= PARTS_MAX) throw new BadStream(`more than ${PARTS_MAX} parts`);
  assembly.started = true;
  assembly.parts.push(part);
}

function openText(assembly: Assembly, part: StreamPart): TextPart {
  const type = part.type.startsWith('text') ? 'text' : 'reasoning';
  const id = textOf(part['id'], ID_CHARS_MAX);
  const opened: TextPart = { type, id, text: '', meta: metaOf(assembly, part), closed: false };
  push(assembly, opened);
  return opened;
}

function openPart({ parts }: Assembly, part: StreamPart): TextPart | undefined {
  const type = part.type.startsWith('text') ? 'text' : 'reasoning';
  const id = textOf(part['id'], ID_CHARS_MAX);
  const found = parts.findLast((one) => one.type === type && one.id === id && !one.closed);
  return found as TextPart | undefined;
}

function extendText(assembly: Assembly, part: StreamPart): boolean {
  const delta = part['delta'];
  if (typeof delta !== 'string') throw new BadStream('a piece of a text that is no text');
  const open = openPart(assembly, part);
  // Some packages end a part and then send an empty piece of it.
  if (open === undefined && delta === '') return false;
  const target = open ?? openText(assembly, part);
  count(assembly, delta);
  target.text += delta;
  target.meta = metaOf(assembly, part) ?? target.meta;
  return delta !== '' || target.meta !== undefined;
}

function closeText(assembly: Assembly, part: StreamPart): void {
  const open = openPart(assembly, part);
  if (open === undefined) return;
  open.meta = metaOf(assembly, part) ?? open.meta;
  open.closed = true;
}

function beginInput(assembly: Assembly, part: StreamPart): void {
  if (assembly.begun.size >= PARTS_MAX) throw new BadStream(`more than ${PARTS_MAX} tool calls`);
  assembly.started = true;
  const tool = textOf(part['toolName'], NAME_CHARS_MAX);
  assembly.begun.set(textOf(part['id'], ID_CHARS_MAX), { tool, chars: 0 });
}

function extendInput(assembly: Assembly, part: StreamPart): boolean {
  const delta = textOf(part['delta'], REPLY_BYTES_MAX);
  const begun = assembly.begun.get(textOf(part['id'], ID_CHARS_MAX));
  if (begun === undefined || delta === '') return false;
  begun.chars += delta.length;
  count(assembly, delta);
  return true;
}

function addCall(assembly: Assembly, part: StreamPart): void {
  const id = textOf(part['toolCallId'], ID_CHARS_MAX);
  const name = textOf(part['toolName'], NAME_CHARS_MAX);
  const { input } = part;
  const begun = assembly.begun.get(id);
  assembly.begun.delete(id);
  // What came in pieces has been counted.
  if (begun === undefined || begun.chars === 0)
    count(assembly, typeof input === 'string' ? input : (JSON.stringify(input) ?? ''));
  const executed = part['providerExecuted'] === true;
  push(assembly, { type: 'tool-call', id, name, input, meta: metaOf(assembly, part), executed });
}

function addResult(assembly: Assembly, part: StreamPart): void {
  if (part['preliminary'] === true) return;
  if (assembly.results.length >= PARTS_MAX) throw new BadStream(`more than ${PARTS_MAX} results`);
  const result = jsonValue(part['result']) ?? null;
  assembly.metaBytes += Buffer.byteLength(JSON.stringify(result));
  checkMeta(assembly);
  const id = textOf(part['toolCallId'], ID_CHARS_MAX);
  assembly.results.push({ id, isError: part['isError'] === true, result });
}

function metaOf(assembly: Assembly, part: StreamPart): Json | undefined {
  const given = part['providerMetadata'];
  if (!isRecord(given)) return undefined;
  const meta = jsonValue(given);
  if (meta === undefined || Object.keys(meta as object).length === 0) return undefined;
  assembly.metaBytes += Buffer.byteLength(JSON.stringify(meta));
  checkMeta(assembly);
  return meta;
}

function checkMeta({ metaBytes }: Assembly): void {
  if (metaBytes > META_BYTES_MAX) throw new BadStream('more of the vendor’s own than can be kept');
}

function count(assembly: Assembly, text: string): void {
  assembly.outputBytes += Buffer.byteLength(text);
  if (assembly.outputBytes > REPLY_BYTES_MAX) throw new BadStream('it is too large');
}

function textOf(value: unknown, charsMax: number): string {
  return typeof value === 'string' ? value.slice(0, charsMax) : '';
}
