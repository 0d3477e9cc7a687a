/**
 * Puts the chunks of one streamed chat completion together. Strict where doubt could make a tool run: what
 * cannot belong to one message is a BadStream, never a guess. Lenient where it cannot: unknown fields are
 * kept, other choices and unknown chunks skipped. The protocol has no end of a call: a call is whole when
 * the next one began or the message gave its finish reason.
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
import { usageOfReport } from './usage.js';

export interface ChatCall {
  readonly id: string;
  name: string;
  /** Pieces of the JSON text of its arguments. */
  readonly json: string[];
  /** What gateways add, to be returned with the call. */
  readonly extras: MutableRecord;
}

export interface ChatAssembly {
  started: boolean;
  /** `[DONE]` has arrived. */
  done: boolean;
  id: string;
  model: string;
  readonly text: string[];
  readonly refusal: string[];
  readonly reasoning: string[];
  readonly calls: ChatCall[];
  /** The newest call of each index that the stream uses. */
  readonly callAt: Map<number, ChatCall>;
  /** Fields of the message that are not ours. */
  readonly extras: MutableRecord;
  finishReason: string | null;
  usage: Usage;
  usageFinal: boolean;
  outputBytes: number;
}

const CALLS_MAX = 1000;
const DONE = '[DONE]';
const MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'reasoning_content',
  'reasoning',
]);
const CALL_FIELDS: ReadonlySet<string> = new Set(['index', 'id', 'type', 'function']);

export function newChatAssembly(): ChatAssembly {
  return {
    started: false,
    done: false,
    id: '',
    model: '',
    text: [],
    refusal: [],
    reasoning: [],
    calls: [],
    callAt: new Map(),
    extras: {},
    finishReason: null,
    usage: NO_USAGE,
    usageFinal: false,
    outputBytes: 0,
  };
}

/** Takes one event; returns whether it brought content. */
export function acceptChunk(assembly: ChatAssembly, event: SseEvent): boolean {
  if (assembly.done) return false;
  if (event.data.trim() === DONE) {
    if (assembly.finishReason === null) throw new BadStream('its end without a finish reason');
    assembly.done = true;
    return true;
  }
  const chunk = parsed(event.data);
  if (event.event === 'error' || isRecord(chunk['error'])) throw new StreamError(chunk);
  return acceptCompletion(assembly, chunk, 'delta');
}

/** A completion that came whole although a stream was asked for. */
export function acceptWholeCompletion(assembly: ChatAssembly, body: JsonRecord): boolean {
  const [choice] = listAt(body, 'choices');
  if (!isRecord(choice) || !isRecord(choice['message'])) return false;
  acceptCompletion(assembly, body, 'message');
  if (assembly.finishReason === null) throw new BadStream('a message without a finish reason');
  assembly.done = true;
  return true;
}

function acceptCompletion(
  assembly: ChatAssembly,
  chunk: JsonRecord,
  carrier: 'delta' | 'message',
): boolean {
  identify(assembly, chunk);
  for (const choice of listAt(chunk, 'choices')) {
    if (!isRecord(choice) || (choice['index'] ?? 0) !== 0) continue;
    assembly.started = true;
    extend(assembly, recordAt(choice, carrier));
    finish(assembly, choice['finish_reason']);
  }
  const report = chunk['usage'];
  if (isRecord(report)) {
    // Reports in a stream are cumulative: the newest counts.
    assembly.usage = usageOfReport(report);
    assembly.usageFinal ||= typeof report['completion_tokens'] === 'number';
  }
  return true;
}

/** Chunks of two messages in one stream: none of them can be believed. */
function identify(assembly: ChatAssembly, chunk: JsonRecord): void {
  const id = textAt(chunk, 'id');
  if (assembly.id !== '' && id !== '' && id !== assembly.id) {
    throw new BadStream('a chunk of another message');
  }
  assembly.id ||= id;
  assembly.model ||= textAt(chunk, 'model');
}

function extend(assembly: ChatAssembly, delta: JsonRecord): void {
  const pieces: readonly (readonly [string[], string])[] = [
    [assembly.text, textAt(delta, 'content')],
    [assembly.refusal, textAt(delta, 'refusal')],
    // One vendor's word or the other's; gateways send both with the same text.
    [assembly.reasoning, textAt(delta, 'reasoning_content') || textAt(delta, 'reasoning')],
  ];
  const calls = listAt(delta, 'tool_calls');
  const empty = calls.length === 0 && pieces.every(([, piece]) => piece === '');
  if (!empty && assembly.finishReason !== null) throw new BadStream('content after its end');
  for (const [into, piece] of pieces) {
    if (piece === '') continue;
    into.push(piece);
    assembly.outputBytes += Buffer.byteLength(piece);
  }
  for (const call of calls) extendCall(assembly, call);
  keepExtras(assembly.extras, delta, MESSAGE_FIELDS);
}

function extendCall(assembly: ChatAssembly, given: Json): void {
  if (!isRecord(given)) throw new BadStream('a tool call that is no object');
  const call = callOf(assembly, given);
  const said = recordAt(given, 'function');
  const name = textAt(said, 'name');
  if (call.name === '') call.name = name;
  else if (name !== '' && name !== call.name) throw new BadStream('two names of one tool call');
  const piece = argumentPiece(said['arguments']);
  call.json.push(piece);
  assembly.outputBytes += Buffer.byteLength(piece) + Buffer.byteLength(name);
  keepExtras(call.extras, given, CALL_FIELDS);
}

/** Some gateways send arguments as an object, whole. */
function argumentPiece(given: Json | undefined): string {
  if (typeof given === 'string') return given;
  return isRecord(given) ? JSON.stringify(given) : '';
}

function callOf(assembly: ChatAssembly, given: JsonRecord): ChatCall {
  const id = textAt(given, 'id');
  const index = indexOf(assembly, given, id);
  const known = assembly.callAt.get(index);
  // Some gateways give every call the same index: another id is another call.
  if (known !== undefined && (id === '' || id === known.id)) {
    return known;
  }
  if (known === undefined && index !== assembly.callAt.size) {
    throw new BadStream('tool calls out of order');
  }
  if (assembly.calls.length >= CALLS_MAX) throw new BadStream(`more than ${CALLS_MAX} calls`);
  const call: ChatCall = { id, name: '', json: [], extras: {} };
  assembly.calls.push(call);
  assembly.callAt.set(index, call);
  return call;
}

function indexOf({ callAt }: ChatAssembly, given: JsonRecord, id: string): number {
  const { index } = given;
  if (Number.isSafeInteger(index)) return index as number;
  // Without an index a call comes whole, or goes on with the last one.
  return id === '' && callAt.size > 0 && textAt(recordAt(given, 'function'), 'name') === ''
    ? callAt.size - 1
    : callAt.size;
}

function finish(assembly: ChatAssembly, reason: Json | undefined): void {
  if (typeof reason !== 'string' || reason === '') return;
  if (assembly.finishReason !== null && assembly.finishReason !== reason) {
    throw new BadStream('two finish reasons');
  }
  assembly.finishReason = reason;
}

function keepExtras(extras: MutableRecord, delta: JsonRecord, ours: ReadonlySet<string>): void {
  for (const [key, value] of Object.entries(delta)) {
    if (ours.has(key) || key === '__proto__' || value === null) continue;
    const before = Object.hasOwn(extras, key) ? extras[key] : undefined;
    if (Array.isArray(before) && Array.isArray(value)) extras[key] = [...before, ...value] as Json;
    else if (isRecord(before) && isRecord(value)) extras[key] = { ...before, ...value };
    else if (typeof before === 'string' && typeof value === 'string') extras[key] = before + value;
    else extras[key] = value;
  }
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
