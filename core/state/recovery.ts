/**
 * What was done to find out what became of a call that nobody heard of again, step by step.
 * Invariants: bounded in number and text; an account for people, by which nothing is decided.
 */
import type { StoredText } from '../json/json.js';
import type { Attachment } from './attachment.js';

export const RECOVERY_STEPS_MAX = 8;
export const RECOVERY_TEXT_CHARS_MAX = 200;
export const RECOVERY_NAMES_MAX = 10;

export const RECOVERY_STEPS = [
  'attempt_lost',
  // What the ledger lacks of it may have been in the store before.
  'store_restored',
  // From now on whoever held the attempt can neither start nor record under it.
  'claim_burned',
  'ledger_told',
  'probe_told',
  'person_told',
  'outcome_recorded',
  // No ledger row and no probe can tell.
  'nobody_told',
  // Nobody can tell, and the tool repeats with its key.
  'repetition_due',
] as const;
export type RecoveryStepKind = (typeof RECOVERY_STEPS)[number];

export interface RecoveryStep {
  readonly step: RecoveryStepKind;
  /** ms; absent: whoever tells of the step has not measured it. */
  readonly durationMs?: number;
  /** With 'attempt_lost': its number, and whether it had made its claim. */
  readonly attempt?: number;
  readonly claimed?: boolean;
  readonly answer?: 'happened' | 'not_happened' | 'unknown';
  /** From outside. */
  readonly message?: string;
  /** With 'person_told'. */
  readonly by?: readonly string[];
}

const ANSWERS = {
  happened: 'says that it happened',
  not_happened: 'says that it did not happen',
  unknown: 'could not tell',
} as const;

/** A step in words, without its duration. Texts from outside are quoted as they are. */
export function recoveryWords(step: RecoveryStep): string {
  const answer = ANSWERS[step.answer ?? 'unknown'];
  const because = step.message === undefined ? '' : `: “${step.message}”`;
  switch (step.step) {
    case 'attempt_lost': {
      const begun = step.claimed === false ? ', which had claimed nothing' : '';
      return `nobody heard how attempt ${step.attempt ?? 1} ended${begun}`;
    }
    case 'store_restored':
      return 'an older copy of the store has taken its place';
    case 'claim_burned':
      return 'its claim was taken away';
    case 'ledger_told':
      return `the ledger ${answer}${because}`;
    case 'probe_told':
      return `the probe ${answer}${because}`;
    case 'person_told':
      return `${step.by?.join(', ') || 'a person'} ${answer}${because}`;
    case 'outcome_recorded':
      return 'the ledger has learned it';
    case 'nobody_told':
      return `nobody could tell${because}`;
    case 'repetition_due':
      return 'it is called again with the same key';
    default:
      return step.step satisfies never;
  }
}

export type Finding =
  | {
      readonly kind: 'happened';
      readonly source: 'tool' | 'probe' | 'person';
      readonly content: StoredText;
      readonly attachments?: readonly Attachment[];
      /** The content does not fit the tool's output schema: what the model is told instead (G73). */
      readonly malformed?: string;
      /** As with an outcome. */
      readonly proves?: readonly string[];
    }
  | { readonly kind: 'not_happened' }
  /** Nobody knows; the tool says that its service recognises the key, so it may be called once more. */
  | { readonly kind: 'repeat' }
  | { readonly kind: 'unknown'; readonly message: string };
