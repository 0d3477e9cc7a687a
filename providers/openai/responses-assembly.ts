/**
 * Puts the events of one streamed response together. Strict where doubt could make a tool run: what cannot
 * belong to one well-ordered response is a BadStream. Lenient where it cannot: unknown events are skipped,
 * items of unknown types kept verbatim, items that never came are named. What the vendor says at the end that the
 * response is, it is.
 */
import type { Json } from '../../core/json/json.js';
import { NO_USAGE, type Usage } from '../../core/state/model.js';
import {
  isRecord,
  listAt,
  recordAt,
  textAt,
  type JsonRecord,
  type MutableRecord,
} from '../json-record.js';
import type { SseEvent } from '../sse.js';
import { BadStream, StreamError } from '../stream-errors.js';
import { count, newNumbering, saysTheSame, type Numbering } from './responses-identity.js';
import { missingOf } from './responses-missing.js';
import { usageOfReport } from './usage.js';

export interface OpenItem {
  /** Its place in the response, as the vendor counts. */
  readonly at: number;
  /** The vendor's item: as it was begun, then as it was done. */
  raw: MutableRecord;
  done: boolean;
  /** What arrived of a message's text, of its refusal, of a call's arguments, before the item was done. */
  readonly text: string[];
  readonly refusal: string[];
  readonly json: string[];
}

export interface ResponseAssembly {
  started: boolean;
  /** The response is complete, or cut off for a reason that the vendor tells. */
  finished: boolean;
  /** Empty: nothing can be referred to by it. */
  id: string;
  model: string;
  readonly numbering: Numbering;
  /** By their places; some may be lacking. */
  readonly items: OpenItem[];
  /** Places that events have named. */
  places: number;
  /** What was announced and never came, in words. */
  missing: string | undefined;
  status: string;
  incompleteReason: string;
  usage: Usage;
  usageFinal: boolean;
  outputBytes: number;
}

const ITEMS_MAX = 1000;
const FINAL: readonly string[] = ['response.completed', 'response.incomplete'];

export function newResponseAssembly(): ResponseAssembly {
  return {
    started: false,
    finished: false,
    id: '',
    model: '',
    numbering: newNumbering(),
    items: [],
    places: 0,
    missing: undefined,
    status: '',
    incompleteReason: '',
    usage: NO_USAGE,
    usageFinal: false,
    outputBytes: 0,
  };
}

/** Takes one event; returns whether it brought content. */
export function acceptResponseEvent(assembly: ResponseAssembly, event: SseEvent): boolean {
  if (assembly.finished || event.data.trim() === '[DONE]') return false;
  const data = parsed(event.data);
  const type = textAt(data, 'type') || event.event;
  count(assembly.numbering, data);
  if (type === 'error' || type === 'response.failed') throw new StreamError(errorOf(data));
  if (type === 'response.created') start(assembly, recordAt(data, 'response'));
  else if (FINAL.includes(type)) finish(assembly, recordAt(data, 'response'));
  else if (type === 'response.output_item.added') addItem(assembly, data);
  else if (type === 'response.output_item.done') endItem(assembly, data);
  else if (type.endsWith('.delta')) extendItem(assembly, type, data);
  else return type.startsWith('response.');
  return true;
}

/** A response that came whole although a stream was asked for. */
export function acceptWholeResponse(assembly: ResponseAssembly, body: JsonRecord): boolean {
  if (!Array.isArray(body['output'])) return false;
  if (textAt(body, 'status') === 'failed')
    throw new StreamError(errorOf({ response: body as Json }));
  start(assembly, body);
  finish(assembly, body);
  return true;
}

/** In the form that the API's error answers have. */
function errorOf(data: JsonRecord): Json {
  const inner = recordAt(recordAt(data, 'response'), 'error');
  if (Object.keys(inner).length > 0) return { error: inner };
  return isRecord(data['error']) ? data : { error: { ...data, type: textAt(data, 'code') } };
}

function start(assembly: ResponseAssembly, response: JsonRecord): void {
  if (assembly.started) throw new BadStream('a second response');
  assembly.started = true;
  assembly.id = textAt(response, 'id');
  assembly.model = textAt(response, 'model');
}

function addItem(assembly: ResponseAssembly, data: JsonRecord): void {
  putItem(assembly, { at: placeOf(assembly, data), item: recordAt(data, 'item'), done: false });
}

interface Arrived {
  readonly at: number;
  readonly item: JsonRecord;
  readonly done: boolean;
}

/** Places may be left out, and are never gone back to. */
function putItem(assembly: ResponseAssembly, { at, item, done }: Arrived): void {
  const last = assembly.items.at(-1)?.at ?? -1;
  if (at <= last) throw new BadStream('items out of order');
  assembly.items.push(openItem({ at, item, done }));
}

function openItem({ at, item, done }: Arrived): OpenItem {
  return { at, raw: { ...item }, done, text: [], refusal: [], json: [] };
}

function extendItem(assembly: ResponseAssembly, type: string, data: JsonRecord): void {
  const delta = textAt(data, 'delta');
  assembly.outputBytes += Buffer.byteLength(delta);
  const piles: { readonly [key: string]: 'text' | 'refusal' | 'json' } = {
    'response.output_text.delta': 'text',
    'response.refusal.delta': 'refusal',
    'response.function_call_arguments.delta': 'json',
  };
  const pile = piles[type];
  // The rest (reasoning, code, audio) counts once its item is done.
  if (pile === undefined) return;
  const item = itemAt(assembly, placeOf(assembly, data));
  if (item?.done === true) throw new BadStream('a delta after the end of its item');
  // Pieces of an item that was never begun count once it is done.
  item?.[pile].push(delta);
}

function endItem(assembly: ResponseAssembly, data: JsonRecord): void {
  const at = placeOf(assembly, data);
  const raw = recordAt(data, 'item');
  const item = itemAt(assembly, at);
  if (item === undefined) {
    putItem(assembly, { at, item: raw, done: true });
    return;
  }
  const other = item.done
    ? !saysTheSame(raw, item.raw)
    : textAt(raw, 'type') !== textAt(item.raw, 'type');
  if (other) throw new BadStream('an item that changed');
  item.raw = { ...raw };
  item.done = true;
}

function itemAt({ items }: ResponseAssembly, at: number): OpenItem | undefined {
  return items.findLast((item) => item.at === at);
}

/** The place that an event is about. */
function placeOf(assembly: ResponseAssembly, data: JsonRecord): number {
  if (!assembly.started) throw new BadStream('an item outside of a response');
  const at = data['output_index'];
  if (typeof at !== 'number' || !Number.isSafeInteger(at) || at < 0) {
    throw new BadStream('an event without its place');
  }
  if (at >= ITEMS_MAX) throw new BadStream(`more than ${ITEMS_MAX} items`);
  assembly.places = Math.max(assembly.places, at + 1);
  return at;
}

function finish(assembly: ResponseAssembly, response: JsonRecord): void {
  if (!assembly.started) throw new BadStream('an end without a response');
  const output = listAt(response, 'output').filter(isRecord);
  checkIdentity(assembly, textAt(response, 'id'), output);
  if (output.length > 0) {
    // An item that was begun and is not among them is no part of the response.
    const whole = output.map((item, at) =>
      openItem({ at, item, done: textAt(item, 'status') !== 'incomplete' }),
    );
    assembly.items.splice(0, assembly.items.length, ...whole);
  } else {
    assembly.missing = missingOf(assembly, textAt(response, 'status') === 'completed');
  }
  assembly.finished = true;
  assembly.model = textAt(response, 'model') || assembly.model;
  assembly.status = textAt(response, 'status');
  assembly.incompleteReason = textAt(recordAt(response, 'incomplete_details'), 'reason');
  const open = assembly.items.some(
    ({ raw, done }) => textAt(raw, 'type') === 'function_call' && !done,
  );
  if (open && assembly.status === 'completed') throw new BadStream('a tool call without its end');
  const report = response['usage'];
  if (!isRecord(report)) return;
  assembly.usage = usageOfReport(report);
  assembly.usageFinal = typeof report['output_tokens'] === 'number';
}

/** The end of another response is none; with an id that changes the response cannot be referred to. */
function checkIdentity(
  assembly: ResponseAssembly,
  id: string,
  output: readonly JsonRecord[],
): void {
  if (assembly.id === '' || id === '' || id === assembly.id) return;
  const { items, numbering } = assembly;
  const repeats =
    output.length > 0 &&
    output.length === items.length &&
    output.every((item, index) => saysTheSame(item, items[index]?.raw ?? {}));
  if (!repeats && !numbering.consecutive) throw new BadStream('the end of another response');
  assembly.id = '';
}

function parsed(text: string): MutableRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadStream('an event that is not JSON');
  }
  if (!isRecord(value)) throw new BadStream('an event that is not a JSON object');
  return value;
}
