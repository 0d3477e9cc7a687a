/**
 * Why the loop went on, and what each reason does to the counters. What it says is checked
 * against played cases; where a count changes, the code that decides changes it.
 */
import type { TransitionReason } from '../core/state/event.js';

export interface TransitionMeaning {
  /** For people. */
  readonly words: string;
  readonly turnCount: '+1' | 'keeps';
  readonly recoveryCount: '+1' | 'becomes 0' | 'keeps';
  /** The session's one reactive compaction: only these two use it up. */
  readonly reactiveGuard: 'set' | 'keeps';
}

const KEEPS = { turnCount: 'keeps', recoveryCount: 'keeps', reactiveGuard: 'keeps' } as const;

export const TRANSITIONS: { readonly [reason in TransitionReason]: TransitionMeaning } = {
  next_turn: {
    words: 'the results are with the model',
    turnCount: '+1',
    recoveryCount: 'becomes 0',
    reactiveGuard: 'keeps',
  },
  max_output_tokens_recovery: {
    ...KEEPS,
    words: 'a reply that was cut off is continued',
    recoveryCount: '+1',
  },
  max_tokens_compact_retry: {
    ...KEEPS,
    words: 'a reply was cut off in a full context, which was summarised',
    reactiveGuard: 'set',
  },
  reactive_compact_retry: {
    ...KEEPS,
    words: 'the prompt was too long, and was summarised',
    reactiveGuard: 'set',
  },
  proactive_compact: { ...KEEPS, words: 'the context was nearly full, and was summarised' },
  stop_hook_blocking: { ...KEEPS, words: 'a Stop hook objects to the answer' },
  token_budget_continuation: { ...KEEPS, words: 'the answer came well before the token target' },
  model_fallback: { ...KEEPS, words: 'another model takes over' },
  completion_rejected: { ...KEEPS, words: 'the answer lacks evidence or a criterion' },
  output_schema_retry: { ...KEEPS, words: 'the output does not match its schema' },
  empty_response_retry: { ...KEEPS, words: 'the reply was empty' },
  pause_turn_resume: { ...KEEPS, words: 'the vendor paused its reply' },
  continued_as_new: { ...KEEPS, words: 'the run goes on in a new segment' },
};
