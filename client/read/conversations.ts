/**
 * Where messages of users stand in runs, and where a reader of one message begins.
 * Invariant: what a reader who begins there is told of the message is what one hears who has read the run from its first event.
 */
import type { AskView } from '../../core/state/ask-view.js';
import { CHANGES } from '../../core/step/changes.js';
import { cursorOf } from '../../pure/stream.js';
import type { NotedRequest, RequestsWanted } from '../../store/desk-requests.js';
import type { HeardMessage } from '../../store/user-messages.js';
import { isAnswerRead, type GivenAnswer } from '../decide/heard-answer.js';
import { storeOf, type Link } from '../link.js';
import { eventsOf } from './event-stream.js';
import { runningRuns } from './found-executions.js';

export type { HeardMessage } from '../../store/user-messages.js';

export interface MessagePlace {
  /** Number of the first event to read. */
  readonly since: number;
  /** For `FollowOptions.after`. */
  readonly after?: string;
  /** Questions that are open there. */
  readonly asks: readonly AskView[];
}

/** Who has asked for a place, and when; ms since epoch. */
export interface Beginner {
  readonly name: string;
  readonly at: number;
}

/** No person has such a name. */
const CONVERSATIONS = ' conversations';

/** All of these but `running` need a store. Errors: StoreUnavailable. */
export interface Conversations {
  /**
   * Where messages with this id were heard, in runs whose ids begin with `below`; other senders may use the id too. Runs of
   * rules before 19 do not tell ids.
   */
  named(clientMessageId: string, below?: string): Promise<readonly HeardMessage[]>;
  /** Messages of its user that the run has heard behind its task, so far as their rows are there; the newest last. */
  heardBy(runId: string): Promise<readonly HeardMessage[]>;
  /** Whether the run waits for the next message of its user. */
  awaitsUser(runId: string): Promise<boolean>;
  /** Whether the model reads this answer to a question; undefined: nobody can say. */
  isAnswerRead(runId: string, given: GivenAnswer): Promise<boolean | undefined>;
  /** The newest message of its user that the run has heard behind its task, up to an event. */
  last(runId: string, upTo?: number): Promise<HeardMessage | undefined>;
  /** Number of the newest event; -1: none. */
  lastSeq(runId: string): Promise<number>;
  /**
   * Runs whose ids begin so, sub-agents among them, that Temporal's list has as running: it lags by a moment. Errors:
   * ServerUnavailable.
   */
  running(below: string): Promise<readonly string[]>;
  /** Of the sessions that runs belong to and whose ids begin so, the last one by its id. */
  lastSession(prefix: string): Promise<string | undefined>;
  /**
   * Who begins at a place of a conversation: of all processes, the first that has asked for it. In a store that cannot be written,
   * whoever asks.
   */
  begins(place: string, name: string): Promise<Beginner>;
  /** What was noted at places that begin so with `begins`, the oldest first; `body` is its mark. */
  noted(below: string, wanted: RequestsWanted): Promise<readonly NotedRequest[]>;
  /** Marks what is noted there, unless somebody else has marked it since. */
  mark(noted: Pick<NotedRequest, 'key' | 'body'>, to: string): Promise<boolean>;
  /** Where a reader of a message begins who knows its run up to the event `seen`. */
  place(
    runId: string,
    message: { readonly since: number; readonly seen?: number },
  ): Promise<MessagePlace>;
}

export function conversations(link: Link): Conversations {
  const { tenant } = link;
  return {
    named: async (name, below) => storeOf(link).messagesNamed(tenant, name, below),
    heardBy: async (runId) => storeOf(link).messagesHeardBy(tenant, runId),
    async awaitsUser(runId) {
      const open = { runId, pendingOnly: true, kinds: ['user_message'], limit: 1 } as const;
      return (await storeOf(link).listAsks(tenant, open)).length > 0;
    },
    isAnswerRead: async (runId, given) => isAnswerRead(storeOf(link), { tenant, runId }, given),
    last: (runId, upTo) => lastMessage(link, runId, upTo),
    lastSeq: async (runId) => (await storeOf(link).getRun(tenant, runId))?.lastSeq ?? -1,
    running: (below) => runningRuns(link, below),
    lastSession: async (prefix) => storeOf(link).lastSessionBelow(tenant, prefix),
    async begins(place, name) {
      const own = { tenant, by: CONVERSATIONS, key: place, digest: name, at: Date.now() };
      const taken = await storeOf(link).takeRequest?.(own);
      return taken?.kind === 'other' ? { name: taken.digest, at: taken.at } : { name, at: own.at };
    },
    noted: async (key, wanted) =>
      (await storeOf(link).requestsBelow?.({ tenant, by: CONVERSATIONS, key }, wanted)) ?? [],
    async mark({ key, body: from }, to) {
      const name = { tenant, by: CONVERSATIONS, key, from };
      return (await storeOf(link).markRequest?.(name, to)) ?? false;
    },
    async place(runId, { since, seen = -1 }) {
      const store = storeOf(link);
      const until = Math.max(since, seen + 1);
      // From its beginning the stream of a run is read as it is.
      const place =
        since === 0 && seen < 0
          ? undefined
          : await store.placeInStream(
              { tenant, runId },
              { since: since === 0 ? -1 : since, until },
            );
      const asks = since === 0 ? [] : await store.asksOpenAt({ tenant, runId, seq: since });
      return { since, asks, ...(place !== undefined && { after: cursorOf(place) }) };
    },
  };
}

async function lastMessage(
  link: Link,
  runId: string,
  upTo = Number.MAX_SAFE_INTEGER,
): Promise<HeardMessage | undefined> {
  const store = storeOf(link);
  const known = await store.lastMessageOf(link.tenant, runId, upTo);
  const { rules = 0 } = (await store.getRun(link.tenant, runId)) ?? {};
  if (rules >= CHANGES.clientMessageIds.since) return known;
  // Workers of an older release write events of the run, the first ones or later ones, without noting its messages.
  let last = known;
  const since = known === undefined ? 0 : known.seq + 1;
  for await (const event of eventsOf(link, runId, { since, untilNow: true })) {
    const { seq } = event.stamp;
    if (seq > upTo) break;
    if (event.type !== 'user_message' || event.from !== undefined) continue;
    last = { runId, seq, messageId: event.messageId };
  }
  return last;
}
