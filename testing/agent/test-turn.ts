/** What a scripted model says. */
import type { Json } from '../../core/json/json.js';
import type { ReplyStop, Usage } from '../../core/state/model.js';

/** A reply of the scripted model. */
export interface TestReply {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly TestReplyCall[];
  /** The answer as JSON, for a run that is asked for an output. */
  readonly output?: Json;
  /** Default: `tool_use` with calls, else `end_turn`. */
  readonly stop?: ReplyStop;
  /** Default: 1,000 tokens in, 100 out. */
  readonly usage?: Partial<Usage>;
  /** Virtual ms until it comes; Infinity: never. */
  readonly takesMs?: number;
}

export interface TestReplyCall {
  /** As the agent names it: `orders.read`. */
  readonly tool: string;
  readonly input?: Json;
  readonly id?: string;
}

/** A vendor that answers with an error status: 408, 409, 429 and those from 500 are tried again. */
export interface TestFailure {
  readonly status: number;
  /** What the vendor says: the run is told of it in the words of production. */
  readonly message?: string;
  readonly retryAfterMs?: number;
  /** Virtual ms until it comes; Infinity: never. */
  readonly takesMs?: number;
}

/** A text is a reply with that text; a list has an entry for each attempt at its request, the last one repeats. */
export type TestTurn =
  string | TestReply | TestFailure | readonly (string | TestReply | TestFailure)[];
