/**
 * Approving a call together with later ones like it: a standing grant. Invariants: what it allows is said in
 * words before it is sent, and again before it is confirmed; what is sent is what was confirmed.
 */
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Ask, Grounds } from '../data/api-types.js';
import { Button } from '../parts/button.js';
import { Exact } from '../parts/folded.js';
import { Form } from '../parts/form.js';
import { useFocusOnChange } from '../parts/use-focus.js';
import type { Desk } from './desk.js';
import { GrantFields } from './grant-fields.js';
import { unboundOf } from './grant-rows.js';
import { GrantSummary } from './grant-summary.js';
import { USES_ID, useGrant, type Grant, type Granting } from './use-grant.js';

export interface GrantFormProps {
  readonly ask: Ask;
  readonly desk: Desk;
  readonly grounds: Grounds;
}

export function GrantForm({ ask, desk, grounds }: GrantFormProps): VNode {
  const granting = useGrant(ask, grounds);
  const [reviewed, setReviewed] = useState<Grant>();
  const place = useRef<HTMLDivElement>(null);
  useFocusOnChange(reviewed, () =>
    reviewed === undefined
      ? document.getElementById(USES_ID)
      : place.current?.querySelector<HTMLElement>('.grant-words p'),
  );
  const review = (): void => {
    const { read } = granting;
    if (read.ok) {
      desk.complain('');
      return setReviewed(read.grant);
    }
    if (read.fieldId !== undefined) document.getElementById(read.fieldId)?.focus();
    return desk.complain(read.fault);
  };
  const change = (): void => setReviewed(undefined);
  return (
    <div class="grant" ref={place}>
      {reviewed !== undefined ? (
        <Confirmation grant={reviewed} granting={granting} desk={desk} change={change} />
      ) : (
        <Form label="Approve more like it" submit={review}>
          <GrantFields granting={granting} />
          <div class="choices">
            <button type="submit" class="button primary">
              Look it over …
            </button>
            <Button label="Back" press={() => desk.open(undefined)} />
          </div>
        </Form>
      )}
    </div>
  );
}

const BOUNDS =
  'A standing grant cannot be taken back. The grant ends with its last call, with its time or with the run. A freeze, the limits of the tool, what the policy denies and the question about doing the same twice still hold.';

interface ConfirmationProps {
  readonly grant: Grant;
  readonly granting: Granting;
  readonly desk: Desk;
  readonly change: () => void;
}

function Confirmation({ grant, granting, desk, change }: ConfirmationProps): VNode {
  const { rows, draft, alarm, card } = granting;
  const unbound = unboundOf(rows, draft.rows, card);
  const label = `Approve this and ${grant.uses === 1 ? 'one more' : `up to ${grant.uses} more`}`;
  return (
    <div class="confirm" role="group" aria-label="Confirm">
      <div class="grant-words">
        <GrantSummary grant={grant} unbound={unbound} card={card} alarm={alarm} isListed />
      </div>
      <p class="help">{BOUNDS}</p>
      <Exact title="Exactly what is sent" value={grant} />
      <div class="choices">
        <Button
          label={label}
          kind="primary"
          press={() => desk.decide({ decision: 'approve', grant })}
        />
        <Button label="Change it" press={change} />
      </div>
    </div>
  );
}
