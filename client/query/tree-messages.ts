/**
 * The messages of a run, and among them those of the sub-agents below it.
 * Invariants: each run is folded by itself; messages of a sub-agent have the session of the run that is read, and stand between
 * the messages of the call that started it; the run's own first and last message are the first and the last of all.
 */
import type { SDKMessage } from '../../pure/sdk/message.js';
import type { Projection } from '../../pure/sdk/projection.js';
import { showChunk, type PartialMessage } from '../../pure/sdk/stream-messages.js';
import { followTree } from '../runs/follow-tree.js';
import type { TreeRun } from '../runs/tree-branch.js';
import type { ReadingStore } from '../link.js';
import type { RunHandle } from '../runs/run-handle.js';
import {
  attemptAt,
  MessageFold,
  type Reading,
  type Seen,
  type SeenChunk,
} from './read-messages.js';

export interface TreeReading {
  readonly run: RunHandle;
  readonly handle: (runId: string) => RunHandle;
  readonly store: ReadingStore;
  readonly circumstances: Reading['circumstances'];
  /** `seq` of the last message of a run that was seen; -1: none. */
  readonly seen: (runId: string) => number;
  /** With tokens, those of the run itself from behind this cursor. */
  readonly tokens?: { readonly after?: string };
  readonly signal: AbortSignal;
}

/** What is told at one moment; `of`: the run that tells it. */
export interface Told {
  readonly of: RunHandle;
  readonly isRoot: boolean;
  /** Absent: tokens. */
  readonly seen?: Seen;
  readonly messages: readonly SDKMessage[];
}

export async function* readTree(reading: TreeReading): AsyncGenerator<Told, void, undefined> {
  const { run, handle, seen, tokens, signal } = reading;
  const after = tokens?.after;
  const told = new Map<string, Teller>();
  let root: Projection | undefined;
  const moments = followTree(run.runId, {
    handle: (runId) => (runId === run.runId ? run : handle(runId)),
    seen,
    signal,
    ...(tokens !== undefined && {
      tokens: after === undefined ? {} : { own: { after: attemptAt(after) } },
    }),
  });
  for await (const moment of moments) {
    if (moment.kind === 'absent' || moment.kind === 'left_out') continue;
    const { of } = moment;
    let teller = told.get(of.runId);
    if (teller === undefined) {
      teller = new Teller(of, reading, root?.sessionId);
      told.set(of.runId, teller);
    }
    for (const item of await teller.fold.take(moment)) {
      const now = teller.tell(item);
      if (now.isRoot) root = now.seen?.state ?? root;
      yield now;
    }
  }
}

class Teller {
  readonly fold: MessageFold;
  private readonly run: RunHandle;
  private partial: PartialMessage | undefined;
  private state: Projection | undefined;
  private seq = -1;
  private readonly isRoot: boolean;

  constructor(
    { runId, depth }: TreeRun,
    { run, handle, store, circumstances, seen, tokens, signal }: TreeReading,
    sessionId: string | undefined,
  ) {
    this.isRoot = depth === 0;
    this.run = this.isRoot ? run : handle(runId);
    const { after } = tokens ?? {};
    this.fold = new MessageFold({
      run: this.run,
      store,
      circumstances: { ...circumstances, ...(sessionId !== undefined && { sessionId }) },
      afterSeq: seen(runId),
      ...(this.isRoot && after !== undefined && { afterCursor: after }),
      signal,
    });
  }

  tell(item: Seen | SeenChunk): Told {
    const { run: of, isRoot } = this;
    if ('chunk' in item) return { of, isRoot, messages: this.pieces(item) };
    this.state = item.state;
    this.seq = item.event.stamp.seq;
    const messages = isRoot ? item.messages : item.messages.filter((one) => !isFrame(one));
    return { of, isRoot, seen: item, messages };
  }

  private pieces({ chunk, isNew }: SeenChunk): readonly SDKMessage[] {
    const { runId } = this.run;
    const { sessionId = runId, parentToolUseId = null } = this.state ?? {};
    const to = { runId, sessionId, parentToolUseId, seq: this.seq };
    const { partial, messages } = showChunk(this.partial, chunk, to);
    this.partial = partial;
    return isNew ? messages : [];
  }
}

/** A stream begins and ends once. */
function isFrame(message: SDKMessage): boolean {
  return message.type === 'result' || (message.type === 'system' && message.subtype === 'init');
}
