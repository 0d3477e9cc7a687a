/** Refusing an action, with the reason. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { Form, textIn } from '../parts/form.js';
import type { Desk } from './desk.js';

export function RejectForm({ desk }: { readonly desk: Desk }): VNode {
  const [reason, setReason] = useState('');
  const submit = (): void => {
    const text = reason.trim();
    if (text === '') desk.complain('Say why, in a few words: the model and the record are told.');
    else void desk.decide({ decision: 'reject', reason: text });
  };
  return (
    <Form label="Reject" submit={submit}>
      <label for="reject-reason">Why not? The model is told.</label>
      <textarea
        id="reject-reason"
        rows={2}
        maxLength={2_000}
        value={reason}
        onInput={(event) => setReason(textIn(event))}
      />
      <div class="choices">
        <button type="submit" class="button danger">
          Reject
        </button>
        <Button label="Back" press={() => desk.open(undefined)} />
      </div>
    </Form>
  );
}
