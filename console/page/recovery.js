/** What was done to find out what became of a call that nobody heard of again, in words. */
import { el } from './dom.js';
import { duration } from './format.js';
import { inertLine } from './inert.js';

/** @typedef {import('./data/api-types.ts').RecoveryStep} RecoveryStep */

/** @type {{ readonly [answer in NonNullable<RecoveryStep['answer']>]: string }} */
const ANSWERS = {
  happened: 'says that it happened',
  not_happened: 'says that it did not happen',
  unknown: 'could not tell',
};

/** @type {{ readonly [step in RecoveryStep['step']]: (said: RecoveryStep) => string }} */
const WORDS = {
  attempt_lost: ({ attempt = 1, claimed }) =>
    `Nobody heard how attempt ${attempt} ended${claimed === false ? ', which had claimed nothing' : ''}`,
  store_restored: () => 'An older copy of the store has taken its place',
  claim_burned: () => 'Its claim was taken away',
  ledger_told: (said) => `The ledger ${answerOf(said)}`,
  probe_told: (said) => `The tool’s probe ${answerOf(said)}`,
  person_told: (said) => `${said.by?.join(', ') || 'A person'} ${answerOf(said)}`,
  outcome_recorded: () => 'The ledger has learned it',
  nobody_told: () => 'Neither the ledger nor the tool could tell',
  repetition_due: () => 'It is called again with the same key',
};

/** @param {RecoveryStep} said */
function answerOf({ answer = 'unknown' }) {
  return ANSWERS[answer];
}

/**
 * A later release may know other steps.
 * @param {RecoveryStep} said
 */
function wordsOf(said) {
  return WORDS[said.step]?.(said) ?? said.step;
}

/** @param {readonly RecoveryStep[]} steps */
export function recoveryList(steps) {
  return el('ol', { class: 'recovery help' }, ...steps.map(row));
}

/** @param {RecoveryStep} said */
function row(said) {
  const took = said.durationMs === undefined ? '' : ` (${duration(said.durationMs)})`;
  return el(
    'li',
    {},
    inertLine(wordsOf(said), 300),
    took,
    said.message !== undefined && el('span', { class: 'quoted' }, inertLine(said.message, 200)),
  );
}
