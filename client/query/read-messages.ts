/**
 * The events of a run as messages, with their texts put back in.
 * Invariants: the whole line of events is folded, also what was seen before, so that the last message of a
 * reader that comes back is the same as that of one that stayed; a missing event is an error, never a gap.
 */
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import { previewOf, type BlobRef, type Json, type StoredText } from '../../core/json/json.js';
import type { StoredBlock } from '../../core/state/transcript.js';
import { messageOf, resetMessage, textsOf } from '../../pure/sdk/event-message.js';
import type { SDKMessage } from '../../pure/sdk/message.js';
import {
  advanceProjection,
  startProjection,
  type Circumstances,
  type EventOf,
  type Projection,
  type WholeEvent,
} from '../../pure/sdk/projection.js';
import type { ReadText } from '../../pure/sdk/result-message.js';
import { cursorOf, isBefore, placeOf, STREAM_START, type StreamChunk } from '../../pure/stream.js';
import { followRun, type RunMoment } from '../runs/follow-run.js';
import type { ReadingStore } from '../link.js';
import type { RunHandle } from '../runs/run-handle.js';

export interface Reading {
  readonly run: Pick<RunHandle, 'runId' | 'tenant' | 'events' | 'stream'>;
  readonly store: Pick<ReadingStore, 'getText' | 'readChain' | 'restoreArguments'>;
  readonly circumstances: Circumstances;
  /** Of the last message that was seen; -1: none. */
  readonly afterSeq: number;
  /** With the tokens of its models, from behind this cursor. */
  readonly tokens?: { readonly after?: string };
  readonly signal: AbortSignal;
}

/** One event, what is known after it, and its messages unless they were seen before. */
export interface Seen {
  readonly event: RunEvent;
  readonly state: Projection;
  readonly messages: readonly SDKMessage[];
}

/** A piece of a reply. What was seen is told as well: the pieces after it go on from there. */
export interface SeenChunk {
  readonly chunk: StreamChunk;
  readonly isNew: boolean;
}

/** Tokens of messages that were seen, kept until it is known that they were. */
const EARLY_CHUNKS_MAX = 20_000;

export async function* readMessages(
  reading: Reading,
): AsyncGenerator<Seen | SeenChunk, void, undefined> {
  const isNew = newnessOf(reading);
  let state = startProjection(reading.circumstances);
  let last = -1;
  let { afterSeq } = reading;
  let early: StreamChunk[] = [];
  for await (const moment of momentsOf(reading)) {
    if (moment.kind === 'chunk') {
      // Nothing comes before the first event, which tells of the session.
      if (last >= Math.max(afterSeq, 0)) yield { chunk: moment.chunk, isNew: isNew(moment.chunk) };
      else if (early.push(moment.chunk) > EARLY_CHUNKS_MAX) early.shift();
      continue;
    }
    const event = await withWholeReply(reading, moment.event);
    const { seq } = event.stamp;
    const isReset = seq <= last;
    if (isReset) {
      state = await stateBefore(reading, seq);
      afterSeq = Math.min(afterSeq, seq - 1);
    } else if (seq !== last + 1) throw missing(reading.run.runId, last + 1, seq - 1);
    last = seq;
    state = advanceProjection(state, event);
    const messages = seq <= afterSeq ? [] : await messagesOf(reading, state, event);
    yield {
      event,
      state,
      messages: isReset ? [resetMessage(state, event), ...messages] : messages,
    };
    if (event.type === 'model_response') {
      const { messageId } = event;
      early = early.filter((chunk) => chunk.messageId !== messageId);
    }
    if (seq < afterSeq) continue;
    for (const chunk of early.splice(0)) yield { chunk, isNew: isNew(chunk) };
  }
}

async function* momentsOf({ run, tokens, signal }: Reading): AsyncGenerator<RunMoment> {
  if (tokens !== undefined) {
    const after = tokens.after === undefined ? {} : { after: attemptAt(tokens.after) };
    return yield* followRun(run, { ...after, signal });
  }
  for await (const event of run.events({ since: 0, signal })) yield { kind: 'event', event };
}

/** The beginning of the attempt that this cursor is in; what is no cursor is for the stream to refuse. */
function attemptAt(cursor: string): string {
  const place = placeOf(cursor);
  return place === undefined ? cursor : cursorOf({ fence: place.fence, index: 0 });
}

function newnessOf({ tokens }: Reading): (chunk: StreamChunk) => boolean {
  const after = tokens?.after === undefined ? undefined : placeOf(tokens.after);
  if (after === undefined) return () => true;
  return ({ cursor }) => isBefore(after, placeOf(cursor) ?? STREAM_START);
}

async function messagesOf(
  reading: Reading,
  state: Projection,
  event: WholeEvent,
): Promise<readonly SDKMessage[]> {
  const read = await wholeTexts(reading, textsOf(state, event));
  const message = messageOf(state, event, read);
  return message === undefined ? [] : [message];
}

/** After a reset what was folded is partly superseded, so the line that counts is folded again. */
async function stateBefore(reading: Reading, seq: number): Promise<Projection> {
  let state = startProjection(reading.circumstances);
  if (seq === 0) return state;
  const { signal } = reading;
  for await (const event of reading.run.events({ since: 0, signal, untilNow: true })) {
    if (event.stamp.seq >= seq) break;
    state = advanceProjection(state, await withWholeReply(reading, event));
  }
  return state;
}

async function withWholeReply({ run, store }: Reading, event: RunEvent): Promise<WholeEvent> {
  const restore = async <A extends { readonly args: Json }>(action: A): Promise<A> => ({
    ...action,
    args: await store.restoreArguments(run.tenant, action.args).catch(onlyWhenGone(action.args)),
  });
  if (event.type === 'approval_resolved' && event.corrected !== undefined) {
    return { ...event, corrected: await restore(event.corrected) };
  }
  if (event.type !== 'model_response') return event;
  const said = await nodeOf({ run, store }, event);
  const uses = said.filter((block) => block.type === 'tool_use');
  const shown =
    uses.length === 0 ? event.calls : uses.map(({ id, tool, args }) => ({ id, tool, args }));
  const thinking: string[] = [];
  for (const block of said) {
    if (block.type === 'thinking') thinking.push(await textOf({ run, store }, block.text));
  }
  return {
    ...event,
    calls: await Promise.all(shown.map(restore)),
    ...(thinking.length > 0 && { thinking }),
  };
}

/** The blocks of a reply whose event does not have all of them. */
async function nodeOf(
  { run, store }: Pick<Reading, 'run' | 'store'>,
  { head, messageId }: EventOf<'model_response'>,
): Promise<readonly StoredBlock[]> {
  if (head === undefined) return [];
  const chain = await store.readChain(run.tenant, head).catch(onlyWhenGone([]));
  const node = chain.at(-1);
  return node?.messageId === messageId ? node.blocks : [];
}

async function textOf(
  { run, store }: Pick<Reading, 'run' | 'store'>,
  text: string | BlobRef,
): Promise<string> {
  if (typeof text === 'string') return text;
  const stored = { ...text, preview: '' };
  return store.getText(run.tenant, stored).catch(onlyWhenGone(''));
}

async function wholeTexts(
  { run, store }: Reading,
  texts: readonly StoredText[],
): Promise<ReadText> {
  const whole = new Map<string, string>();
  for (const text of texts) {
    if ('text' in text || whole.has(text.$blob)) continue;
    const shown = previewOf(text);
    whole.set(text.$blob, await store.getText(run.tenant, text).catch(onlyWhenGone(shown)));
  }
  return (text) => ('text' in text ? text.text : (whole.get(text.$blob) ?? previewOf(text)));
}

/** What the store no longer keeps is shown by what the event itself says of it. */
function onlyWhenGone<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof HoldfastError && error.code === 'TranscriptMissing') return instead;
    throw error;
  };
}

function missing(runId: string, from: number, to: number): HoldfastError {
  return new HoldfastError('StoreUnavailable', `Events ${from} to ${to} of ${runId} are missing.`, {
    hint: 'Connect with the store that the workers write.',
    details: { runId, from, to },
  });
}
