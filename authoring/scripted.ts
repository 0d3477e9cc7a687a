/**
 * A model that answers from code: for development and demonstrations without a vendor. Agents name it `scripted/NAME`.
 * Invariant: a script is asked as a vendor would be; what it says passes the same checks as any reply.
 */
import type { Json } from '../core/json/json.js';
import { HoldfastError } from '../core/state/errors.js';

/** What a script sees of a request. */
export interface ScriptedQuestion {
  /** What stands behind `scripted/` in the name of the model. */
  readonly model: string;
  readonly system: string;
  /** The conversation so far, as Anthropic's Messages API writes it. */
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | readonly Json[];
  }[];
  /** Replies so far: 0 asks for the first one. */
  readonly assistantMessages: number;
  /** Names of the tools that are offered, as models see them. */
  readonly tools: readonly string[];
  readonly runId: string;
}

/** One reply: words, calls of tools, or both. */
export interface ScriptedWords {
  readonly text?: string;
  readonly calls?: readonly { readonly tool: string; readonly input?: Json }[];
  /** The reply begins after this, ms. */
  readonly delayMs?: number;
  /** The text comes in so many pieces. */
  readonly chunks?: number;
  /** Between two pieces, ms. */
  readonly chunkDelayMs?: number;
}

/**
 * Answers a request; the same request gets the same answer. An exception is a failure of the vendor. A reply with a field that
 * there is not, or with a value of another kind, is an `InvalidRequest`, which is not tried again.
 */
export type ModelScript = (question: ScriptedQuestion) => ScriptedWords;

/** Errors: InvalidConfig. */
export function checkedScript(script: ModelScript | undefined): ModelScript | undefined {
  if (script === undefined || typeof script === 'function') return script;
  throw new HoldfastError(
    'InvalidConfig',
    'The configuration cannot be used. `scripted` is no function.',
    { hint: 'Write scripted: (question) => ({ text: "…" }), or leave it out.' },
  );
}
