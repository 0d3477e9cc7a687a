/**
 * The events of a run as messages, with their texts put back in.
 * Invariants: the whole line of events is folded, also what was seen before, so that the last message of a
 * reader that comes back is the same as that of one that stayed; a missing event is an error, never a gap.
 */
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import { messageOf, resetMessage, textsOf } from '../../pure/sdk/event-message.js';
import type { SDKMessage } from '../../pure/sdk/message.js';
import {
  advanceProjection,
  startProjection,
  withPaid,
  type Circumstances,
  type Projection,
  type WholeEvent,
} from '../../pure/sdk/projection.js';
import { cursorOf, isBefore, placeOf, STREAM_START, type StreamChunk } from '../../pure/stream.js';
import { addedRoutes, type RouteCost } from '../../store/route-costs.js';
import { rowsBelow } from '../../store/rows-below.js';
import type { RunMoment } from '../runs/follow-run.js';
import { wholeTexts, withWholeReply, type WholeStore } from '../read/whole-event.js';
import type { ReadingStore } from '../link.js';
import type { RunHandle } from '../runs/run-handle.js';

export interface Reading {
  readonly run: Pick<RunHandle, 'runId' | 'tenant' | 'events'>;
  readonly store: WholeStore & Pick<ReadingStore, 'listChildren' | 'routeCosts'>;
  readonly circumstances: Circumstances;
  /** Of the last message that was seen; -1: none. */
  readonly afterSeq: number;
  /** Tokens up to this cursor were seen. */
  readonly afterCursor?: string;
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
/** Sub-agents whose costs are added. */
const BELOW_MAX = { depth: 8, count: 200 };

/** The messages of one run, moment by moment. */
export class MessageFold {
  private readonly isNew: (chunk: StreamChunk) => boolean;
  private state: Projection;
  private last = -1;
  private afterSeq: number;
  private early: StreamChunk[] = [];

  constructor(private readonly reading: Reading) {
    this.isNew = newnessOf(reading);
    this.state = startProjection(reading.circumstances);
    this.afterSeq = reading.afterSeq;
  }

  /** What this moment tells, in order. Errors: StoreUnavailable for a missing event. */
  async take(moment: RunMoment): Promise<readonly (Seen | SeenChunk)[]> {
    if (moment.kind === 'event') return this.takeEvent(moment.event);
    const { chunk } = moment;
    // Nothing comes before the first event, which tells of the session.
    if (this.last >= Math.max(this.afterSeq, 0)) return [this.shown(chunk)];
    if (this.early.push(chunk) > EARLY_CHUNKS_MAX) this.early.shift();
    return [];
  }

  private async takeEvent(told: RunEvent): Promise<readonly (Seen | SeenChunk)[]> {
    const { reading, last } = this;
    const event = await withWholeReply(reading, told);
    const { seq } = event.stamp;
    const isReset = seq <= last;
    if (isReset) {
      this.state = await stateBefore(reading, seq);
      this.afterSeq = Math.min(this.afterSeq, seq - 1);
    } else if (seq !== last + 1) throw missing(reading.run.runId, last + 1, seq - 1);
    this.last = seq;
    const state = advanceProjection(this.state, event);
    this.state = state;
    const messages = seq <= this.afterSeq ? [] : await messagesOf(reading, state, event);
    const whole = isReset ? [resetMessage(state, event), ...messages] : messages;
    if (event.type === 'model_response') {
      const { messageId } = event;
      this.early = this.early.filter((chunk) => chunk.messageId !== messageId);
    }
    const waited = seq < this.afterSeq ? [] : this.early.splice(0);
    return [{ event, state, messages: whole }, ...waited.map((chunk) => this.shown(chunk))];
  }

  private shown(chunk: StreamChunk): SeenChunk {
    return { chunk, isNew: this.isNew(chunk) };
  }
}

/** The beginning of the attempt that this cursor is in; what is no cursor is for the stream to refuse. */
export function attemptAt(cursor: string): string {
  const place = placeOf(cursor);
  return place === undefined ? cursor : cursorOf({ fence: place.fence, index: 0 });
}

function newnessOf({ afterCursor }: Reading): (chunk: StreamChunk) => boolean {
  const after = afterCursor === undefined ? undefined : placeOf(afterCursor);
  if (after === undefined) return () => true;
  return ({ cursor }) => isBefore(after, placeOf(cursor) ?? STREAM_START);
}

async function messagesOf(
  reading: Reading,
  state: Projection,
  event: WholeEvent,
): Promise<readonly SDKMessage[]> {
  const read = await wholeTexts(reading, textsOf(state, event));
  const known = event.type === 'run_result' ? withPaid(state, await paidBelow(reading)) : state;
  const message = messageOf(known, event, read);
  return message === undefined ? [] : [message];
}

/** Its sub-agents paid a part of the cost that a result tells. */
async function paidBelow({ run, store }: Reading): Promise<readonly RouteCost[]> {
  const { tenant, runId } = run;
  const { rows } = await rowsBelow(store, { tenant, runId }, BELOW_MAX);
  const costs = await Promise.all(
    rows.map(({ child }) => store.routeCosts({ tenant, runId: child })),
  );
  return addedRoutes(costs.flat());
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

function missing(runId: string, from: number, to: number): HoldfastError {
  return new HoldfastError('StoreUnavailable', `Events ${from} to ${to} of ${runId} are missing.`, {
    hint: 'Connect with the store that the workers write.',
    details: { runId, from, to },
  });
}
