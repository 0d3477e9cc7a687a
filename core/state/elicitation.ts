/**
 * What a server asks a person in the middle of a call. The exchange with the server (its requests, the answers so far, its
 * state byte by byte) lies in the store; the run has a reference.
 */
import type { Json, StoredText } from '../json/json.js';

export interface Elicitation {
  readonly connector: string;
  /** What the server says, which is data from outside. */
  readonly message: string;
  /** 'url': the server wants the person to open an address; nothing here opens it. */
  readonly mode: 'form' | 'url';
  /** With 'form': JSON Schema of the answer, an object of plain values. */
  readonly schema?: Json;
  /** With 'url'. */
  readonly url?: string;
  /** Why the answer before this question was none. */
  readonly problem?: string;
  /** The server's protocol lets no call wait: the call was ended, and an answer begins it anew. */
  readonly again?: true;
}

/** A call that waits for a person, as its tool left it. */
export interface OpenExchange {
  readonly elicitation: Elicitation;
  readonly exchange: StoredText;
}

/** What a call goes on with. */
export interface AnsweredExchange {
  readonly exchange: StoredText;
  /** As the person gave it. */
  readonly answer: Json;
}
