/** What became of an action that was decided, as lines of a terminal: nothing of it unescaped. */
import type { StoredText } from '../../core/json/json.js';
import { dateTimeText } from './amounts.js';
import { inert } from './inert.js';

/** As the desk tells it. */
export interface ShownReceipt {
  readonly state: string;
  readonly at?: number;
  readonly code?: string;
  readonly reference?: string;
  readonly key?: string;
  readonly content?: Pick<Extract<StoredText, { text: string }>, 'text'>;
  readonly next?: { readonly askId: string; readonly outcome: string };
}

const WORDS: { readonly [state: string]: string } = {
  waits: 'approved, not begun',
  asked_again: 'asked about again',
  under_way: 'under way; nobody has heard how it ended',
  done: 'done',
  refused: 'refused; nothing happened',
  failed: 'failed; the tool says that nothing happened',
  in_doubt: 'in doubt; nobody knows whether it happened',
  not_done: 'not done',
};

export function receiptLines(receipt: ShownReceipt): readonly string[] {
  const { state, at, code, reference, key, content, next } = receipt;
  const what = WORDS[state] ?? inert(state);
  const why = code === undefined ? '' : ` (${inert(code)})`;
  const when = at === undefined ? '' : `, ${dateTimeText(at)}`;
  return [
    `Became    ${what}${why}${when}`,
    ...(reference === undefined ? [] : [`Reference ${inert(reference)}`]),
    ...(key === undefined ? [] : [`Key       ${inert(key)}`]),
    ...(content === undefined ? [] : [`Said      ${inert(content.text, 400)}`]),
    ...(next === undefined ? [] : [`Question  ${inert(next.askId, 400)}: ${inert(next.outcome)}`]),
  ];
}
