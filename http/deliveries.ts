/**
 * What this process has handed over: which part of which run answers a message, and which runs are on their way.
 * Invariants: messages of one chat are handed over one after the other; every memory is bounded, and its oldest entry
 * goes first. What another process must know as well is in the store.
 */
/**
 * Which part of a run is one message: all up to its first follow-up, what follows the last one, what follows the event
 * `seq`, or what follows the message that is named so. Runs of rules before 19 tell no names: there it is the first message
 * with this text whose event is newer than `after`.
 */
export type Span =
  | 'first'
  | 'last'
  | { readonly seq: number }
  | { readonly named: string; readonly text: string; readonly after: number };

export interface Speaking {
  readonly runId: string;
  readonly span: Span;
}

interface Unopened {
  readonly runId: string;
  /** Digest of the words that it was started with. */
  readonly words: string;
  /** Their beginning, for whoever looks before a worker has opened the run. */
  readonly text: string;
}

export interface Deliveries {
  /** By the id of the message's own run. */
  of(key: string): Speaking | undefined;
  remember(key: string, at: Speaking): void;
  /** Forgets this one delivery, and a later one of the message stays; without `at` whatever it is. */
  forget(key: string, at?: Speaking): void;
  /** Of each chat the run that was started and that no worker has opened yet, as far as is known. */
  readonly unopened: Pick<Map<string, Unopened>, 'get' | 'delete'> & {
    set(sessionId: string, run: Unopened): void;
  };
  /** Of each chat the session that a change of this process began last. */
  readonly branches: Pick<Map<string, string>, 'get'> & {
    set(base: string, sessionId: string): void;
  };
  /** Does the work after all that was asked for before it in this chat. */
  inTurn<T>(sessionId: string, work: () => Promise<T>): Promise<T>;
}

const REMEMBERED_MAX = 10_000;
const UNOPENED_MAX = 1_000;
const TEXT_CHARS_MAX = 20_000;

/** `max`: entries of each memory. */
export function deliveries(max = REMEMBERED_MAX): Deliveries {
  const known = new Map<string, Speaking>();
  const unopened = new Map<string, Unopened>();
  const branches = new Map<string, string>();
  const turns = new Map<string, Promise<unknown>>();
  return {
    of: (key) => known.get(key),
    remember: (key, at) => put(known, max, [key, at]),
    forget(key, at) {
      if (at === undefined || known.get(key) === at) known.delete(key);
    },
    unopened: {
      get: (sessionId) => unopened.get(sessionId),
      delete: (sessionId) => unopened.delete(sessionId),
      set: (sessionId, run) =>
        put(unopened, Math.min(max, UNOPENED_MAX), [
          sessionId,
          { ...run, text: run.text.slice(0, TEXT_CHARS_MAX) },
        ]),
    },
    branches: {
      get: (base) => branches.get(base),
      set: (base, sessionId) => put(branches, max, [base, sessionId]),
    },
    async inTurn(sessionId, work) {
      const before = turns.get(sessionId) ?? Promise.resolve();
      const done = before.then(work, work);
      const turn = done.catch(() => undefined);
      turns.set(sessionId, turn);
      try {
        return await done;
      } finally {
        if (turns.get(sessionId) === turn) turns.delete(sessionId);
      }
    },
  };
}

function put<T>(
  map: Map<string, T>,
  max: number,
  [key, value]: readonly [key: string, value: T],
): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= max) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
