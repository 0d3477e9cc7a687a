/** A scripted message in the vendor's form: as server-sent events, or as one JSON message. */
import type { Json } from '../../core/json/json.js';
import type { Usage } from '../../core/state/model.js';
import { wireNameOf } from '../wire-names.js';
import type { ScriptedCall, ScriptedMessage, ScriptedRequest } from './script.js';

/** What a reply is rendered from. `bodyBytes` stands for the input tokens that a script does not state. */
export interface RenderContext {
  readonly request: ScriptedRequest;
  readonly message: ScriptedMessage;
  readonly bodyBytes: number;
}

export const BYTES_PER_TOKEN = 4;
export const CHUNKS_MAX = 10_000;

interface WireUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
}

/** The events of a streamed reply, each a complete SSE frame. */
export function renderEvents(context: RenderContext): readonly string[] {
  const { message, request } = context;
  const usage = usageOf(context);
  const deltas = Math.min(message.chunks ?? 1, CHUNKS_MAX);
  const start = { ...envelope(context), content: [], stop_reason: null, stop_sequence: null };
  const events = [
    frame('message_start', { message: { ...start, usage: { ...usage, output_tokens: 1 } } }),
  ];
  let index = 0;
  const block = (content: Json, frames: readonly Json[]): void => {
    events.push(frame('content_block_start', { index, content_block: content }));
    for (const delta of frames) events.push(frame('content_block_delta', { index, delta }));
    events.push(frame('content_block_stop', { index }));
    index += 1;
  };
  if (message.thinking !== undefined) {
    const pieces = split(message.thinking, deltas).map((thinking) => ({
      type: 'thinking_delta',
      thinking,
    }));
    const signature = { type: 'signature_delta', signature: signatureOf(message.thinking) };
    block({ type: 'thinking', thinking: '', signature: '' }, [...pieces, signature]);
  }
  if (message.text !== undefined) {
    const pieces = split(message.text, deltas).map((text) => ({ type: 'text_delta', text }));
    block({ type: 'text', text: '' }, pieces);
  }
  (message.calls ?? []).forEach((call, position) => {
    const pieces = split(inputText(call), deltas).map((partial_json) => ({
      type: 'input_json_delta',
      partial_json,
    }));
    block({ ...callHead(call, request, position), input: {} }, pieces);
  });
  const end = { delta: stopOf(message), usage, ...editsOf(message) };
  events.push(frame('message_delta', end), frame('message_stop', {}));
  return events;
}

/** The reply to a request that did not ask for a stream. */
export function renderMessage(context: RenderContext): string {
  const { message, request } = context;
  const content: Json[] = [];
  if (message.thinking !== undefined) {
    const { thinking } = message;
    content.push({ type: 'thinking', thinking, signature: signatureOf(thinking) });
  }
  if (message.text !== undefined) content.push({ type: 'text', text: message.text });
  (message.calls ?? []).forEach((call, position) => {
    content.push({ ...callHead(call, request, position), input: call.input ?? {} });
  });
  return JSON.stringify({
    ...envelope(context),
    content,
    ...stopOf(message),
    usage: usageOf(context),
    ...editsOf(message),
  });
}

/** One SSE frame; its data repeats the event's name as `type`, as the vendor does. */
export function frame(event: string, data: { readonly [key: string]: unknown }): string {
  return `event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`;
}

/** A signature that depends on the thinking, so that a test notices when either was changed. */
export function signatureOf(thinking: string): string {
  let hash = 0;
  for (let at = 0; at < thinking.length; at += 1)
    hash = (hash * 31 + thinking.charCodeAt(at)) >>> 0;
  return `scripted-${hash.toString(16)}-${thinking.length}`;
}

function envelope({ request }: RenderContext): { readonly [key: string]: Json } {
  return {
    id: `msg_${request.assistantMessages}`,
    type: 'message',
    role: 'assistant',
    model: request.model,
  };
}

function callHead(call: ScriptedCall, request: ScriptedRequest, position: number) {
  return {
    type: 'tool_use',
    // The number of the reply is in it: ids must be unique in a whole conversation.
    id: call.id ?? `toolu_${request.assistantMessages}_${position}`,
    name: callName(call, request),
  };
}

export function callName(call: ScriptedCall, request: ScriptedRequest): string {
  return request.tools.includes(call.tool) ? call.tool : wireNameOf(call.tool);
}

export function inputText(call: ScriptedCall): string {
  return call.rawInput ?? (call.input === undefined ? '' : JSON.stringify(call.input));
}

function stopOf(message: ScriptedMessage): { readonly [key: string]: Json } {
  const byContent = (message.calls ?? []).length > 0 ? 'tool_use' : 'end_turn';
  return {
    stop_reason: message.stopReason ?? byContent,
    stop_sequence: message.stopSequence ?? null,
    ...(message.stopDetails === undefined ? {} : { stop_details: message.stopDetails }),
  };
}

function editsOf({ contextManagement }: ScriptedMessage): { readonly [key: string]: Json } {
  return contextManagement === undefined ? {} : { context_management: contextManagement };
}

function usageOf(context: RenderContext): WireUsage {
  const { input, output, cacheRead, cacheWrite } = countedUsage(context);
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
  };
}

/** What the script states, else what the sizes suggest. */
export function countedUsage({ message, bodyBytes }: RenderContext): Usage {
  const stated: Partial<Usage> = message.usage ?? {};
  const written = (message.calls ?? []).reduce((sum, call) => sum + inputText(call).length + 16, 0);
  const chars = (message.text ?? '').length + (message.thinking ?? '').length + written;
  return {
    input: stated.input ?? Math.ceil(bodyBytes / BYTES_PER_TOKEN),
    output: stated.output ?? Math.max(1, Math.ceil(chars / BYTES_PER_TOKEN)),
    cacheRead: stated.cacheRead ?? 0,
    cacheWrite: stated.cacheWrite ?? 0,
  };
}

export function split(text: string, pieces: number): readonly string[] {
  if (pieces <= 1) return [text];
  const size = Math.max(1, Math.ceil(text.length / pieces));
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += size) parts.push(text.slice(at, at + size));
  return parts.length === 0 ? [''] : parts;
}
