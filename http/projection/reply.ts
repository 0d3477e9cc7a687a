/**
 * One reply of a model as parts of a UI message.
 * Invariants: a reply is a step of its own; when its event is told, the text that the client shows of it is that of
 * the event, whatever pieces came before; what an attempt said that died is taken back or named as superseded.
 */
import type { Besides, EventOf } from '../../pure/sdk/projection.js';
import type { StreamChunk } from '../../pure/stream.js';
import type { UiChunk } from './chunk.js';
import { sourceParts } from './source.js';
import type { ReplyShown, UiFold, UiTold } from './state.js';
import { wholeText } from './text.js';

/** A piece of a reply. */
export function tellPiece(state: UiFold, chunk: StreamChunk): UiTold {
  switch (chunk.kind) {
    case 'attempt_started':
      return beginReply(state, chunk);
    case 'delta': {
      const { type, text } = chunk.delta;
      // Arguments come whole, when they are checked.
      if (type === 'tool_use') return { state, chunks: [] };
      if (type === 'thinking' && !state.reasoning) return { state, chunks: [] };
      const begun = isShown(state.reply, chunk) ? { state, chunks: [] } : beginReply(state, chunk);
      return after(begun, (now) =>
        grown(now, { kind: KINDS[type], block: chunk.delta.block, text }),
      );
    }
    case 'attempt_ended':
      return closeOpen(state);
    case 'attempt_reset':
      return isShown(state.reply, chunk) ? takeBack(state) : { state, chunks: [] };
    // The event of the reply has what is missing.
    case 'gap':
      return { state, chunks: [] };
  }
}

const KINDS = { text: 'text', thinking: 'reasoning' } as const;

/** The reply as it counts, and behind it its sources. `attempt`: of its parts. */
export function tellReply(
  state: UiFold,
  event: EventOf<'model_response'> & Besides,
): UiTold & { readonly attempt: number } {
  const { messageId, sources } = event;
  const said = tellWords(state, event);
  const { attempt = 1 } = said.state.reply ?? {};
  const providerMetadata = { holdfast: { messageId, attempt } };
  const cited = sourceParts(messageId, sources).map((part) => ({ ...part, providerMetadata }));
  return { ...withoutReply({ ...said, chunks: [...said.chunks, ...cited] }), attempt };
}

function tellWords(state: UiFold, event: EventOf<'model_response'> & Besides): UiTold {
  const text = event.text === undefined ? '' : wholeText(event.text);
  const { reply } = state;
  if (reply?.messageId === event.messageId) {
    const rest = restOf(text, reply.texts);
    if (rest === '') return closeOpen(state);
    if (rest !== undefined && reply.texts.length > 0) {
      const more = { kind: 'text', block: reply.parts, text: rest } as const;
      return after(grown(state, more), closeOpen);
    }
    if (reply.parts > 0) return after(takeBack(state), (now) => whole(now, event));
  }
  return whole(state, event);
}

/** What the text has behind these blocks of it, which it joins by line breaks; undefined: it has other words. */
function restOf(text: string, blocks: readonly string[]): string | undefined {
  let at = 0;
  for (const block of blocks) {
    while (!text.startsWith(block, at)) {
      if (text[at] !== '\n') return undefined;
      at += 1;
    }
    at += block.length;
  }
  return text.slice(at);
}

function whole(state: UiFold, event: EventOf<'model_response'> & Besides): UiTold {
  const attempt = state.reply?.messageId === event.messageId ? state.reply.attempt : 1;
  const thoughts = state.reasoning ? (event.thinking ?? []) : [];
  const said = event.text === undefined ? [] : [wholeText(event.text)];
  const blocks = [
    ...thoughts.map((text) => ({ kind: 'reasoning', text }) as const),
    ...said.map((text) => ({ kind: 'text', text }) as const),
  ].filter(({ text }) => text !== '');
  const isBegun = state.reply?.messageId === event.messageId;
  let told: UiTold = isBegun
    ? { state, chunks: [] }
    : beginReply(state, { messageId: event.messageId, attempt });
  for (const [block, one] of blocks.entries()) {
    told = after(told, (now) => grown(now, { ...one, block }));
  }
  return after(told, closeOpen);
}

type Attempt = Pick<ReplyShown, 'messageId' | 'attempt'>;

function beginReply(state: UiFold, { messageId, attempt }: Attempt): UiTold {
  if (isShown(state.reply, { messageId, attempt })) return { state, chunks: [] };
  const fresh: ReplyShown = { messageId, attempt, texts: [], parts: 0 };
  // An attempt before this one that was not said to be dead is dead now.
  const before = state.reply === undefined ? { state, chunks: [] } : takeBack(state);
  const isEmptyStep = before.state.reply?.parts === 0 && before.state.profile === 'v7';
  const chunks: UiChunk[] = [];
  if (!isEmptyStep) {
    if (state.hasStep) chunks.push({ type: 'finish-step' });
    chunks.push({ type: 'start-step' });
  }
  return {
    state: { ...before.state, hasStep: true, reply: fresh },
    chunks: [...before.chunks, ...chunks],
  };
}

/** What is shown of the reply no longer counts. */
function takeBack(state: UiFold): UiTold {
  const { reply, profile } = state;
  if (reply === undefined || reply.parts === 0) return { state, chunks: [] };
  const { messageId, attempt } = reply;
  const empty: ReplyShown = { messageId, attempt, texts: [], parts: 0 };
  if (profile === 'v7') {
    return { state: { ...state, reply: empty }, chunks: [{ type: 'reset-step' }] };
  }
  const closed = closeOpen(state);
  const data = { messageId, attempt };
  return {
    // What follows is another attempt to this client.
    state: { ...closed.state, reply: { ...empty, attempt: attempt + RETAKEN } },
    chunks: [...closed.chunks, { type: 'data-holdfast-superseded', data }],
  };
}

/** Attempts are numbered from 1, and none has so many. */
const RETAKEN = 1_000_000;

function grown(
  state: UiFold,
  {
    kind,
    block,
    text,
  }: { readonly kind: 'text' | 'reasoning'; readonly block: number; readonly text: string },
): UiTold {
  const { reply } = state;
  if (reply === undefined || text === '') return { state, chunks: [] };
  const { messageId, attempt } = reply;
  const id = `${messageId}.${attempt}.${kind}.${block}`;
  const isOpen = reply.open?.id === id;
  const chunks: UiChunk[] = [];
  if (!isOpen) {
    chunks.push(...endOf(reply));
    const providerMetadata = { holdfast: { messageId, attempt } };
    chunks.push({ type: `${kind}-start`, id, providerMetadata });
  }
  chunks.push({ type: `${kind}-delta`, id, delta: text });
  const { texts } = reply;
  const said = isOpen ? [...texts.slice(0, -1), `${texts.at(-1)}${text}`] : [...texts, text];
  const parts = reply.parts + (isOpen ? 0 : 1);
  const shown = { ...reply, texts: kind === 'text' ? said : texts, parts, open: { id, kind } };
  return {
    state: { ...state, reply: shown },
    chunks,
  };
}

function closeOpen(state: UiFold): UiTold {
  const { reply } = state;
  if (reply?.open === undefined) return { state, chunks: [] };
  const { open: _, ...closed } = reply;
  return { state: { ...state, reply: closed }, chunks: endOf(reply) };
}

function endOf({ open }: ReplyShown): readonly UiChunk[] {
  return open === undefined ? [] : [{ type: `${open.kind}-end`, id: open.id }];
}

/** Its event is told: nothing of it comes any more. */
function withoutReply({ state, chunks }: UiTold): UiTold {
  const { reply: _, ...rest } = state;
  return { state: rest, chunks };
}

/** Ends what an attempt left open of which nothing is heard any more. */
export function dropReply(state: UiFold): UiTold {
  return state.reply === undefined ? { state, chunks: [] } : withoutReply(takeBack(state));
}

function isShown(reply: ReplyShown | undefined, { messageId, attempt }: Attempt): boolean {
  return reply?.messageId === messageId && reply.attempt === attempt;
}

function after(told: UiTold, next: (state: UiFold) => UiTold): UiTold {
  const then = next(told.state);
  return { state: then.state, chunks: [...told.chunks, ...then.chunks] };
}
