/**
 * Puts the events of one streamed reply together. Strict where doubt could make a tool run: what cannot
 * belong to one well-ordered message is a BadStream, never a guess. Lenient where it cannot: unknown events
 * are skipped, a repeated block stop is nothing new, a block of an unknown type is kept verbatim.
 */
import type { Json } from '../../core/json/json.js';
import { isRecord, listAt, textAt, type JsonRecord, type MutableRecord } from '../json-record.js';
import type { SseEvent } from '../sse.js';
import { BadStream, StreamError } from '../stream-errors.js';
import { clearedIn } from './context-edits.js';
import { NO_REPORT, withReport, type Report } from './usage.js';

export interface OpenBlock {
  readonly type: string;
  /** The vendor's block, deltas merged in. */
  readonly raw: MutableRecord;
  /** Pieces of the JSON text of a tool's input. */
  readonly json: string[];
  stopped: boolean;
}

export interface Assembly {
  started: boolean;
  /** message_stop has arrived: the message is complete. */
  stopped: boolean;
  /** A message whose beginning says how it ends: nothing else need come before message_stop. */
  whole: JsonRecord | undefined;
  model: string;
  readonly blocks: OpenBlock[];
  stopReason: string | null;
  stopSequence: string | null;
  stopDetails: Json;
  report: Report;
  /** Input tokens that the vendor says to have left out; undefined: it has said nothing of that. */
  clearedTokens: number | undefined;
  /** As the vendor tells it, undefined or null when it does not. */
  container: Json | undefined;
  /** The vendor's final usage has arrived. */
  usageFinal: boolean;
  outputBytes: number;
}

const BLOCKS_MAX = 1000;
/** Deltas that a block of a known type may get; blocks of other types may get any. */
const DELTAS: ReadonlyMap<string, readonly string[]> = new Map([
  ['text', ['text_delta', 'citations_delta']],
  ['thinking', ['thinking_delta', 'signature_delta']],
  ['redacted_thinking', []],
  ['tool_use', ['input_json_delta']],
  ['server_tool_use', ['input_json_delta']],
  ['mcp_tool_use', ['input_json_delta']],
  ['compaction', ['compaction_delta']],
  ['fallback', []],
]);

/** Reasons after which every block of a message is whole. */
const WHOLE: readonly string[] = ['end_turn', 'tool_use', 'stop_sequence', 'pause_turn'];

export function newAssembly(): Assembly {
  return {
    started: false,
    stopped: false,
    whole: undefined,
    model: '',
    blocks: [],
    stopReason: null,
    stopSequence: null,
    stopDetails: null,
    report: NO_REPORT,
    clearedTokens: undefined,
    container: undefined,
    usageFinal: false,
    outputBytes: 0,
  };
}

/** Takes one event; returns whether it brought content (a ping does not). */
export function acceptEvent(assembly: Assembly, event: SseEvent): boolean {
  const data = parseRecord(event.data);
  const type = data['type'];
  if (event.event === 'error' || type === 'error') throw new StreamError(data);
  if (assembly.stopped) return false;
  switch (type) {
    case 'message_start':
      startMessage(assembly, data);
      return true;
    case 'content_block_start':
      startBlock(assembly, data);
      return true;
    case 'content_block_delta':
      extendBlock(assembly, data);
      return true;
    case 'content_block_stop':
      stopBlock(assembly, data);
      return true;
    case 'message_delta':
      finishMessage(assembly, data);
      return true;
    case 'message_stop':
      endMessage(assembly);
      return true;
    default:
      return false;
  }
}

/** A message that came whole although a stream was asked for; whether it is one. */
export function acceptWholeMessage(assembly: Assembly, body: JsonRecord): boolean {
  if (body['type'] !== 'message' || !Array.isArray(body['content'])) return false;
  startMessage(assembly, { message: body });
  endMessage(assembly);
  return true;
}

function endMessage(assembly: Assembly): void {
  const { whole } = assembly;
  if (assembly.stopReason === null && whole !== undefined) {
    const { usage = null, context_management: edits = null } = whole;
    finishMessage(assembly, { delta: whole, usage, context_management: edits });
  }
  const { stopReason, blocks } = assembly;
  if (stopReason === null) throw new BadStream('its end without a stop reason');
  // A model that says that it is done has ended its calls: what has no end here was lost on the way.
  const open = blocks.some((block) => block.type === 'tool_use' && !block.stopped);
  if (open && WHOLE.includes(stopReason)) throw new BadStream('a tool call without its end');
  assembly.stopped = true;
}

/** A call that code of the vendor's made stands whole in the beginning, and often the end of its message too. */
function startMessage(assembly: Assembly, data: JsonRecord): void {
  if (assembly.started) throw new BadStream('a second message_start');
  const message = recordOf(data['message']);
  assembly.started = true;
  assembly.model = stringOf(message['model']) ?? '';
  assembly.container = message['container'];
  assembly.report = withReport(assembly.report, message['usage']);
  for (const [index, block] of listAt(message, 'content').entries()) {
    startBlock(assembly, { index, content_block: block });
    stopBlock(assembly, { index });
  }
  if (textAt(message, 'stop_reason') !== '') assembly.whole = message;
}

function startBlock(assembly: Assembly, data: MutableRecord): void {
  if (!assembly.started || assembly.stopReason !== null) {
    throw new BadStream('a block outside of a message');
  }
  if (data['index'] !== assembly.blocks.length) throw new BadStream('blocks out of order');
  if (assembly.blocks.length >= BLOCKS_MAX) throw new BadStream(`more than ${BLOCKS_MAX} blocks`);
  const raw = { ...recordOf(data['content_block']) };
  const type = stringOf(raw['type']);
  if (type === undefined) throw new BadStream('a block without a type');
  assembly.blocks.push({ type, raw, json: [], stopped: false });
}

function extendBlock(assembly: Assembly, data: MutableRecord): void {
  const block = blockAt(assembly, data);
  const delta = recordOf(data['delta']);
  const type = stringOf(delta['type']) ?? '';
  if (block.stopped) throw new BadStream('a delta after the end of its block');
  if (DELTAS.get(block.type)?.includes(type) === false) {
    throw new BadStream(`a ${type.slice(0, 50)} in a ${block.type} block`);
  }
  for (const [key, value] of Object.entries(delta)) {
    if (key === 'type' || key === '__proto__') continue;
    if (typeof value === 'string') assembly.outputBytes += Buffer.byteLength(value);
    mergeDelta(block, key, value);
  }
}

function mergeDelta(block: OpenBlock, key: string, value: Json): void {
  const { raw, type } = block;
  // A summary comes whole, not in pieces.
  const grows = type !== 'compaction';
  const before = Object.hasOwn(raw, key) ? raw[key] : undefined;
  if (key === 'partial_json' && typeof value === 'string') block.json.push(value);
  else if (key === 'citation') raw['citations'] = [...listAt(raw, 'citations'), value];
  else if (grows && typeof before === 'string' && typeof value === 'string')
    raw[key] = before + value;
  else raw[key] = value;
}

function stopBlock(assembly: Assembly, data: MutableRecord): void {
  blockAt(assembly, data).stopped = true;
}

function finishMessage(assembly: Assembly, data: MutableRecord): void {
  if (!assembly.started) throw new BadStream('message_delta before message_start');
  const delta = recordOf(data['delta']);
  const before = assembly.stopReason ?? endOfWhole(assembly);
  const reason = stringOf(delta['stop_reason']) ?? before;
  if (before !== null && reason !== before) throw new BadStream('two stop reasons');
  assembly.stopReason = reason;
  assembly.stopSequence = stringOf(delta['stop_sequence']) ?? assembly.stopSequence;
  assembly.stopDetails = delta['stop_details'] ?? assembly.stopDetails;
  assembly.container = delta['container'] ?? assembly.container;
  const usage = data['usage'];
  if (isRecord(usage) && typeof usage['output_tokens'] === 'number') assembly.usageFinal = true;
  assembly.report = withReport(assembly.report, usage);
  assembly.clearedTokens = clearedIn(data['context_management']) ?? assembly.clearedTokens;
}

/** Without content a beginning that names an end says nothing of what follows. */
function endOfWhole({ whole }: Assembly): string | null {
  if (whole === undefined || listAt(whole, 'content').length === 0) return null;
  return textAt(whole, 'stop_reason');
}

function blockAt(assembly: Assembly, data: MutableRecord): OpenBlock {
  const index = data['index'];
  const block = typeof index === 'number' ? assembly.blocks[index] : undefined;
  if (block === undefined || assembly.stopReason !== null) {
    throw new BadStream('an event for a block that is not open');
  }
  return block;
}

function parseRecord(text: string): MutableRecord {
  try {
    return recordOf(JSON.parse(text) as Json);
  } catch {
    throw new BadStream('an event that is not a JSON object');
  }
}

function recordOf(value: Json | undefined): MutableRecord {
  if (!isRecord(value)) throw new BadStream('an event without its object');
  return value;
}

function stringOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
