/**
 * One message of a run, chunk by chunk, from the run's events and tokens as they come.
 * Invariants: a message that is read again has the same parts in the same order; the stream ends with its run, when the
 * run waits for a person, when the next message of its user begins, or at a limit, and says which; nothing is read after that,
 * and nothing that is older than the message.
 */
import type { MessagePlace, WholeTreeMoment } from '../client/index.js';
import type { WholeEvent } from '../pure/sdk/projection.js';
import type { Chat } from './chat.js';
import type { Span, Speaking } from './deliveries.js';
import { endOf } from './end-of-message.js';
import { paced, type Paced } from './paced.js';
import { refusedChunk } from './projection/asks.js';
import { hasLeftOut, untilClosed } from './run-end.js';
import {
  isWaiting,
  leaveMessage,
  startMessage,
  tellMoment,
  type UiChunk,
  type UiFold,
  type UiOptions,
  type UiRefused,
} from './projection/index.js';

export interface Telling extends Speaking {
  readonly chat: Chat;
  readonly options: UiOptions;
  /** The client has the message up to this event; absent: nothing of it. */
  readonly seen?: number;
  /** Questions whose end is on its way. */
  readonly decided?: ReadonlySet<string>;
  readonly refused?: readonly UiRefused[];
  /** Ends the stream in order. */
  readonly limit: AbortSignal;
  /** Nobody reads any more. */
  readonly left: AbortSignal;
}

/** `never_begun`: the run has ended and says that it did not hear the message. */
export type Ending = 'told' | 'never_begun';

/** Sub-agents of one stream whose words are told. */
const SUB_AGENTS_MAX = 200;

export async function* tellMessage(telling: Telling): AsyncGenerator<UiChunk, Ending, undefined> {
  const { chat, runId, left } = telling;
  const reading = new AbortController();
  const stop = (): void => reading.abort();
  left.addEventListener('abort', stop, { once: true });
  if (left.aborted) stop();
  try {
    const begun = await beginningOf(telling);
    const { since, after } = begun.place;
    const { seen = -1 } = telling;
    const moments = chat.client.followTree(runId, {
      since,
      ...(after !== undefined && { after }),
      tokensSince: seen + 1,
      childrenMax: SUB_AGENTS_MAX,
      signal: reading.signal,
    });
    return yield* told(new Message(telling, begun), paced(moments, telling.limit), telling);
  } finally {
    stop();
    left.removeEventListener('abort', stop);
  }
}

async function* told(
  message: Message,
  moments: AsyncGenerator<Paced, void, undefined>,
  telling: Telling,
): AsyncGenerator<UiChunk, Ending, undefined> {
  const { chat, runId } = telling;
  yield* message.begin();
  for await (const moment of moments) {
    if (moment.kind === 'quiet' && !message.waits()) continue;
    if (moment.kind === 'quiet' || moment.kind === 'limit') {
      yield* message.leave();
      return 'told';
    }
    const chunks = message.take(moment);
    if (message.hasEnded()) await untilClosed(telling);
    yield* message.hasEnded() ? await endOf(chat, runId, chunks) : chunks;
    if (message.isOver) break;
  }
  if (message.hasBegun) {
    if (!message.isOver) yield* message.leave();
    return 'told';
  }
  if (telling.left.aborted || (await hasLeftOut(telling))) return 'never_begun';
  yield { type: 'error', errorText: 'The run has ended. Load the conversation again.' };
  return 'told';
}

/** `seq` of the event that the message begins with; -1: it is the run's first. Else the words of the user that it follows. */
type Beginning = number | Extract<Span, { named: string }>;

interface Begun {
  readonly begins: Beginning;
  readonly place: MessagePlace;
}

async function beginningOf({ chat, runId, span, seen }: Telling): Promise<Begun> {
  const { conversations } = chat.client;
  const at = async (since: number, begins: Beginning): Promise<Begun> => ({
    begins,
    place: await conversations.place(runId, { since, ...(seen !== undefined && { seen }) }),
  });
  if (span === 'first') return at(0, -1);
  if (typeof span === 'object' && 'seq' in span) return at(span.seq, span.seq);
  if (typeof span === 'object') {
    const [own] = await conversations.named(span.named, runId);
    if (own?.runId === runId) return at(own.seq, own.seq);
    // On its way, or of a run that tells no names: it follows what was there when it was sent.
    const before = await conversations.last(runId, span.after);
    return at(before?.seq ?? 0, span);
  }
  // What the client has seen belongs to the message that it goes on with.
  const { seq } = (await conversations.last(runId, seen)) ?? {};
  return at(seq ?? 0, seq ?? -1);
}

class Message {
  hasBegun = false;
  isOver = false;
  private state: UiFold;
  private last = -1;
  /** Questions that the client has had before this stream. */
  private known: ReadonlySet<string> = new Set();
  private readonly begins: Beginning;

  constructor(
    private readonly telling: Telling,
    { begins, place }: Begun,
  ) {
    const { options, runId } = telling;
    this.begins = begins;
    const { state } = startMessage({ ...options, runId, messageId: runId });
    this.state = { ...state, asks: openIn(place, runId) };
  }

  begin(): readonly UiChunk[] {
    return this.begins === -1 ? this.opened(-1) : [];
  }

  /** With its run. */
  hasEnded(): boolean {
    return this.state.ended;
  }

  /** Its run goes on when a person has said something. */
  waits(): boolean {
    const { state, telling } = this;
    // The message that is on its way is what the run waits for.
    const now = this.hasBegun ? state : { ...state, awaitsUser: false };
    return isWaiting(now, telling.decided);
  }

  take(moment: WholeTreeMoment): readonly UiChunk[] {
    const { state, begins } = this;
    if (moment.of.depth > 0) return this.below(moment);
    if (moment.kind === 'event') {
      const { event } = moment;
      const { seq } = event.stamp;
      // The run was reset in Temporal: what was told of it is partly superseded.
      if (seq <= this.last) return this.brokenOff();
      this.last = seq;
      if (event.type === 'user_message' && event.from === undefined) {
        this.state = tellMoment(state, moment).state;
        if (this.hasBegun) return this.ended();
        return isBeginning(begins, event) ? this.opened(seq) : [];
      }
    }
    const { state: now, chunks } = tellMoment(state, moment);
    this.state = now;
    if (now.ended) this.isOver = true;
    if (this.isNew(moment)) return chunks;
    this.known = new Set(now.asks.keys());
    return [];
  }

  /** Of a sub-agent. */
  private below(moment: WholeTreeMoment): readonly UiChunk[] {
    const { state, chunks } = tellMoment(this.state, moment);
    this.state = state;
    return this.hasBegun ? chunks : [];
  }

  leave(): readonly UiChunk[] {
    this.isOver = true;
    const { runId } = this.telling;
    const opening: readonly UiChunk[] = this.hasBegun
      ? []
      : [{ type: 'start', messageId: `${runId}:queued` }];
    const now = this.hasBegun
      ? this.state
      : { ...this.state, hasStep: false, asks: elsewhere(this.state) };
    return [...opening, ...leaveMessage(now, this.known)];
  }

  private isNew(moment: WholeTreeMoment): boolean {
    const { seen = -1 } = this.telling;
    if (!this.hasBegun) return false;
    return moment.kind === 'chunk' ? this.last >= seen : moment.event.stamp.seq > seen;
  }

  private opened(seq: number): readonly UiChunk[] {
    const { options, runId, seen, refused = [] } = this.telling;
    this.hasBegun = true;
    const messageId = seq === -1 ? runId : `${runId}:u${seq}`;
    const { state, chunks } = startMessage({ ...options, runId, messageId, seq });
    this.state = { ...state, asks: elsewhere(this.state) };
    const begun = seen === undefined ? chunks : chunks.slice(0, 1);
    return [...begun, ...refused.map(refusedChunk)];
  }

  /** The next word of the user has been heard: what follows answers it. */
  private ended(): readonly UiChunk[] {
    this.isOver = true;
    return leaveMessage({ ...this.state, asks: new Map(), awaitsUser: false });
  }

  private brokenOff(): readonly UiChunk[] {
    this.isOver = true;
    this.hasBegun = true;
    return [{ type: 'error', errorText: 'The run was reset. Load the conversation again.' }];
  }
}

function isBeginning(
  begins: Beginning,
  { stamp: { seq }, text, clientMessageId }: Extract<WholeEvent, { type: 'user_message' }>,
): boolean {
  if (typeof begins === 'number') return seq === begins;
  if (clientMessageId !== undefined) return clientMessageId === begins.named;
  return seq > begins.after && 'text' in text && text.text === begins.text;
}

/** Those that were open before the message; which message comes next is nothing to decide on. */
function openIn({ asks }: MessagePlace, runId: string): UiFold['asks'] {
  const shown = asks.filter(({ kind }) => kind !== 'user_message');
  return new Map(shown.map((ask) => [ask.askId, { ask, of: runId, atCall: false }]));
}

/** Questions that are open, at calls of the message before. */
function elsewhere({ asks }: UiFold): UiFold['asks'] {
  return new Map([...asks].map(([id, { ask, of }]) => [id, { ask, of, atCall: false }]));
}
