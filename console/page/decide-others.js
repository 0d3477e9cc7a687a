/** Answers to the other kinds of question: what happened, how much more, and what the model wants to know. */
import { budgetValue } from './budget-words.js';
import { button, el } from './dom.js';

/** @typedef {import('./data/api-types.ts').Ask} Ask */
/** @typedef {import('./decide.js').Desk} Desk */

/** @param {Desk} desk */
export function outcomeChoices(desk) {
  return [
    button('It happened …', { kind: 'primary', press: () => desk.open(happenedForm(desk)) }),
    button('It did not happen', { press: () => desk.open(confirmForm(desk, NOT_HAPPENED)) }),
    button('Stop the run', { kind: 'danger', press: () => desk.open(confirmForm(desk, STOP)) }),
  ];
}

const NOT_HAPPENED = {
  decision: 'not_happened',
  text: 'It will be done again, under the same key. If it did happen after all, it may happen twice.',
  label: 'It did not happen',
};
const STOP = {
  decision: 'stop',
  text: 'The run ends here, and the outcome stays unknown.',
  label: 'Stop the run',
};

/**
 * @param {Desk} desk
 * @param {typeof STOP} choice
 */
function confirmForm(desk, { decision, text, label }) {
  return el(
    'div',
    { class: 'confirm' },
    el('p', {}, text),
    el(
      'div',
      { class: 'choices' },
      button(label, { kind: 'danger', press: () => desk.decide({ decision }) }),
      button('Back', { press: () => desk.open(undefined) }),
    ),
  );
}

/** @param {Desk} desk */
function happenedForm(desk) {
  const value = el('textarea', { id: 'happened-value', rows: 3, spellcheck: 'false' });
  return el(
    'form',
    {
      'aria-label': 'It happened',
      onsubmit: (event) => {
        event.preventDefault();
        const text = value.value.trim();
        void desk.decide({ decision: 'happened', ...(text !== '' && { value: valueOf(text) }) });
      },
    },
    el(
      'label',
      { for: 'happened-value' },
      'What would the tool have returned? JSON or text; the model is told. (optional)',
    ),
    value,
    el(
      'div',
      { class: 'choices' },
      el('button', { type: 'submit', class: 'button primary' }, 'It happened'),
      button('Back', { press: () => desk.open(undefined) }),
    ),
  );
}

/**
 * @param {string} text
 * @returns {unknown}
 */
function valueOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * @param {Ask} ask
 * @param {Desk} desk
 */
export function budgetChoices({ args }, desk) {
  const { budget = '', amount: wanted } = /** @type {{ budget?: string, amount?: number }} */ (
    args ?? {}
  );
  const amount = el('input', {
    id: 'budget-amount',
    class: 'number',
    type: 'text',
    inputmode: 'numeric',
    autocomplete: 'off',
    value: typeof wanted === 'number' ? wanted : '',
  });
  const shown = el('span', { class: 'help', 'aria-live': 'polite' });
  const show = () => {
    const text = budgetValue(budget, Number(amount.value));
    shown.textContent = text === amount.value.trim() ? '' : `= ${text}`;
  };
  amount.addEventListener('input', show);
  show();
  const allow = el(
    'form',
    {
      class: 'inline-form',
      'aria-label': 'Allow more',
      onsubmit: (event) => {
        event.preventDefault();
        const more = Number(amount.value.trim());
        if (!Number.isSafeInteger(more) || more <= 0)
          desk.complain('How much more? A whole number.');
        else void desk.decide({ decision: 'approve', amount: more });
      },
    },
    el('label', { for: 'budget-amount' }, 'Allow more:'),
    amount,
    shown,
    el('button', { type: 'submit', class: 'button primary' }, 'Allow'),
  );
  return [
    allow,
    button('No more', { kind: 'danger', press: () => desk.decide({ decision: 'reject' }) }),
  ];
}

/** @param {Desk} desk */
export function questionForm(desk) {
  const answer = el('textarea', { id: 'answer', rows: 3, maxlength: 8_000 });
  return el(
    'form',
    {
      'aria-label': 'Answer',
      onsubmit: (event) => {
        event.preventDefault();
        const text = answer.value.trim();
        if (text === '') desk.complain('Write an answer.');
        else void desk.answer(text);
      },
    },
    el('label', { for: 'answer' }, 'Your answer. The model reads it.'),
    answer,
    el(
      'div',
      { class: 'choices' },
      el('button', { type: 'submit', class: 'button primary' }, 'Answer'),
    ),
  );
}
