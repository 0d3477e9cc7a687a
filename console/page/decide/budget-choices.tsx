/** Allowing more of a budget, or not. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { budgetValue } from '../parts/budget-words.js';
import type { Ask } from '../data/api-types.js';
import { Button } from '../parts/button.js';
import { Form, textIn } from '../parts/form.js';
import type { Desk } from './desk.js';

export interface BudgetChoicesProps {
  readonly ask: Ask;
  readonly desk: Desk;
}

interface BudgetQuestion {
  readonly budget?: string;
  /** Of a goal. */
  readonly field?: string;
  readonly amount?: number;
}

export function BudgetChoices({ ask, desk }: BudgetChoicesProps): VNode {
  const { field = '', budget = field, amount: wanted } = (ask.args ?? {}) as BudgetQuestion;
  const [amount, setAmount] = useState(typeof wanted === 'number' ? String(wanted) : '');
  const meaning = budgetValue(budget, Number(amount));
  const submit = (): void => {
    const more = Number(amount.trim());
    const isMore = Number.isSafeInteger(more) && more > 0;
    if (!isMore) desk.complain('How much more? A whole number.');
    else void desk.decide({ decision: 'approve', amount: more });
  };
  return (
    <>
      <Form class="inline-form" label="Allow more" submit={submit}>
        <label for="budget-amount">Allow more:</label>
        <input
          id="budget-amount"
          class="number"
          type="text"
          inputMode="numeric"
          autocomplete="off"
          value={amount}
          onInput={(event) => setAmount(textIn(event))}
        />
        <span class="help" aria-live="polite">
          {meaning !== amount.trim() && `= ${meaning}`}
        </span>
        <button type="submit" class="button primary">
          Allow
        </button>
      </Form>
      <Button label="No more" kind="danger" press={() => desk.decide({ decision: 'reject' })} />
    </>
  );
}
