/**
 * The scripted model.
 * Invariant: a repetition is counted, never copied, so that a short file cannot become a long list.
 */
import type { WrittenFile } from './format/files.js';
import type { Json } from '../core/json/json.js';
import type { Usage } from '../core/state/model.js';
import type { PolicyCondition } from '../core/state/policy.js';

/** Replies in order; each stands for `times` copies. */
export type Script = readonly { readonly times: number; readonly reply: ScriptedReply }[];

export type ScriptedReply = ScriptedAnswer | ScriptedFailure;

export interface ScriptedAnswer {
  readonly kind: 'answer';
  readonly text?: string;
  readonly thinking?: string;
  readonly calls: readonly ScriptedCall[];
  readonly stopReason: string;
  readonly stopSequence?: string;
  readonly usage: Usage;
  readonly output?: Json;
  readonly refuse?: string;
  readonly escalate?: string;
  readonly delayMs: number;
  /** Pieces in which the text arrives; absent: as the engine likes. */
  readonly chunks?: number;
}

export interface ScriptedFailure {
  readonly kind: 'error';
  readonly error: ScriptedError;
  /** The stream breaks after this much was received. */
  readonly after?: { readonly text?: string; readonly calls: readonly ScriptedCall[] };
  readonly delayMs: number;
}

export type ScriptedError =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly type?: string;
      readonly retryAfterSeconds?: number;
    }
  | { readonly kind: 'network_timeout' | 'prompt_too_long' | 'connection_reset' };

export interface ScriptedCall {
  readonly id: string;
  readonly tool: string;
  /** Arguments as a value, or as a text that nobody has parsed; neither only when incomplete. */
  readonly input?: Json;
  readonly rawInput?: string;
  readonly incomplete: boolean;
  readonly outputPath?: string;
  readonly dependsOn?: readonly string[];
  readonly when?: PolicyCondition;
}

/** Why the model escalates behind its last reply. */
export const SCRIPT_EXHAUSTED = 'script_exhausted';

/** The reply at a position, from 0; undefined when the script is exhausted. */
export function replyAt(script: Script, position: number): ScriptedReply | undefined {
  let passed = 0;
  for (const { times, reply } of script) {
    passed += times;
    if (position < passed) return reply;
  }
  return undefined;
}

export type ScriptedResult = { readonly delayMs: number } & (
  | {
      readonly kind: 'ok';
      readonly value: Json;
      readonly costMicroUsd?: number;
      /** What a server says of its progress before. */
      readonly notes?: readonly string[];
      readonly files?: readonly WrittenFile[];
    }
  /** It returns what does not fit its output schema, whatever that is. */
  | { readonly kind: 'unfit'; readonly value: Json }
  /** An ordinary failure: it says that nothing happened. */
  | { readonly kind: 'error'; readonly message: string; readonly code?: string }
  /** A plain error: of a read a failure, of an effect a doubt about its outcome. */
  | { readonly kind: 'throws'; readonly message: string }
  | { readonly kind: 'retryable_error'; readonly reason: string }
  /** No answer until the call's own timeout. */
  | { readonly kind: 'timeout' }
  /** Answers only when it is cancelled. */
  | { readonly kind: 'hang' }
  /** The worker dies before or after the effect happened. */
  | { readonly kind: 'lost'; readonly when: 'before' | 'after' }
  | ServerResult
);

/** What only a tool of a server answers. */
export type ServerResult =
  | {
      readonly kind: 'input_required';
      readonly questions: ServerQuestions;
      readonly state?: string;
    }
  /** The server does not take the call: nothing happened. */
  | { readonly kind: 'refused'; readonly message: string }
  /** This in place of a result; a text: in place of the whole message. */
  | { readonly kind: 'malformed'; readonly result: Json }
  /** A result of so many characters. */
  | { readonly kind: 'oversized'; readonly chars: number };

export type ServerQuestions = {
  readonly [key: string]: {
    readonly message: string;
    readonly schema?: Json;
    readonly url?: string;
  };
};
