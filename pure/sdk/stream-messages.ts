/**
 * Tokens of a model call as the events that agent SDKs stream: blocks start, grow and stop.
 * Invariants: one fold per attempt at a message; an attempt that died says so in an event of its own, and what
 * was shown of it no longer counts.
 */
import type { ModelDelta, StreamChunk } from '../stream.js';
import type { SDKPartialAssistantMessage, SDKStreamEvent } from './message.js';
import { uuidOf } from './uuid.js';

/** Blocks of the attempt that is shown. */
export interface PartialMessage {
  readonly messageId: string;
  readonly attempt: number;
  readonly started: readonly number[];
  readonly open?: number;
  /** Of the chunk before. */
  readonly cursor?: string;
}

export interface Shown {
  readonly partial: PartialMessage;
  readonly messages: readonly SDKPartialAssistantMessage[];
}

export interface ShownTo {
  readonly runId: string;
  readonly sessionId: string;
  /** Of a sub-agent. */
  readonly parentToolUseId: string | null;
  /** Of the newest event that was told. */
  readonly seq: number;
}

/** The messages of one chunk; a reader that comes back with the last one's cursor misses nothing. */
export function showChunk(
  before: PartialMessage | undefined,
  chunk: StreamChunk,
  { runId, sessionId, parentToolUseId, seq }: ShownTo,
): Shown {
  const { messageId, attempt, call, cursor } = chunk;
  const isSame = before?.messageId === messageId && before.attempt === attempt;
  const fresh: PartialMessage = { messageId, attempt, started: [], ...cursorBefore(before) };
  const { partial, events } = eventsOf(isSame ? before : fresh, chunk);
  const messages = events.map((event, index): SDKPartialAssistantMessage => {
    const at = index === events.length - 1 ? cursor : partial.cursor;
    return {
      type: 'stream_event',
      uuid: uuidOf(`${runId}:${cursor}:${index}`),
      session_id: sessionId,
      run_id: runId,
      seq,
      event,
      parent_tool_use_id: parentToolUseId,
      message_id: messageId,
      call,
      attempt,
      ...(at !== undefined && { cursor: at }),
    };
  });
  return { partial: { ...partial, cursor }, messages };
}

function cursorBefore(before: PartialMessage | undefined): Pick<PartialMessage, 'cursor'> {
  return before?.cursor === undefined ? {} : { cursor: before.cursor };
}

interface Told {
  readonly partial: PartialMessage;
  readonly events: readonly SDKStreamEvent[];
}

function eventsOf(partial: PartialMessage, chunk: StreamChunk): Told {
  switch (chunk.kind) {
    case 'attempt_started': {
      const message = { id: chunk.messageId, type: 'message', role: 'assistant' } as const;
      return { partial, events: [{ type: 'message_start', message: { ...message, content: [] } }] };
    }
    case 'delta':
      return grown(partial, chunk.delta);
    case 'attempt_ended':
      return { partial, events: [...stopOf(partial), { type: 'message_stop' }] };
    case 'attempt_reset':
      return { partial, events: [{ type: 'attempt_reset', reason: chunk.reason }] };
    case 'gap':
      return { partial, events: [{ type: 'gap' }] };
  }
}

function grown(partial: PartialMessage, delta: ModelDelta): Told {
  const { block: index } = delta;
  const grows: SDKStreamEvent = { type: 'content_block_delta', index, delta: pieceOf(delta) };
  if (partial.started.includes(index)) return { partial, events: [grows] };
  const start: SDKStreamEvent = {
    type: 'content_block_start',
    index,
    content_block: emptyBlock(delta),
  };
  return {
    partial: { ...partial, started: [...partial.started, index], open: index },
    events: [...stopOf(partial), start, grows],
  };
}

function stopOf({ open }: PartialMessage): readonly SDKStreamEvent[] {
  return open === undefined ? [] : [{ type: 'content_block_stop', index: open }];
}

type Piece = Extract<SDKStreamEvent, { type: 'content_block_delta' }>['delta'];
type EmptyBlock = Extract<SDKStreamEvent, { type: 'content_block_start' }>['content_block'];

function pieceOf({ type, text }: ModelDelta): Piece {
  switch (type) {
    case 'text':
      return { type: 'text_delta', text };
    case 'thinking':
      return { type: 'thinking_delta', thinking: text };
    case 'tool_use':
      return { type: 'input_json_delta', partial_json: text };
  }
}

function emptyBlock(delta: ModelDelta): EmptyBlock {
  switch (delta.type) {
    case 'text':
      return { type: 'text', text: '' };
    case 'thinking':
      return { type: 'thinking', thinking: '' };
    case 'tool_use':
      return { type: 'tool_use', id: delta.id ?? '', name: delta.tool ?? '', input: {} };
  }
}
