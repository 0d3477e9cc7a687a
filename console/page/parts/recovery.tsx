/** What was done to find out what became of a call that nobody heard of again, in words. */
import type { VNode } from 'preact';
import type { RecoveryStep } from '../data/api-types.js';
import { duration } from './format.js';
import { InertLine } from './inert.js';

const ANSWERS: { readonly [answer in NonNullable<RecoveryStep['answer']>]: string } = {
  happened: 'says that it happened',
  not_happened: 'says that it did not happen',
  unknown: 'could not tell',
};

const WORDS: { readonly [step in RecoveryStep['step']]: (said: RecoveryStep) => string } = {
  attempt_lost: ({ attempt = 1, claimed }) =>
    `The end of attempt ${attempt} was not heard${claimed === false ? ', which had claimed nothing' : ''}`,
  store_restored: () => 'An older copy of the store has taken its place',
  claim_burned: () => 'The claim of the attempt was taken away',
  ledger_told: (said) => `The ledger ${answerOf(said)}`,
  probe_told: (said) => `The tool’s probe ${answerOf(said)}`,
  person_told: (said) => `${said.by?.join(', ') || 'A person'} ${answerOf(said)}`,
  outcome_recorded: () => 'The ledger has learned it',
  nobody_told: () => 'Neither the ledger nor the tool could tell',
  repetition_due: () => 'The tool is called again with the same key',
};

function answerOf({ answer = 'unknown' }: RecoveryStep): string {
  return ANSWERS[answer];
}

/** A later release may know other steps. */
function wordsOf(said: RecoveryStep): string {
  return WORDS[said.step]?.(said) ?? said.step;
}

export function RecoveryList({ steps }: { readonly steps: readonly RecoveryStep[] }): VNode {
  return (
    <ol class="recovery help">
      {steps.map((said, place) => (
        <li key={place}>
          <InertLine text={wordsOf(said)} max={300} />
          {said.durationMs !== undefined && ` (${duration(said.durationMs)})`}
          {said.message !== undefined && (
            <span class="quoted">
              <InertLine text={said.message} />
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}
