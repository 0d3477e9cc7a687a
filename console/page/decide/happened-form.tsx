/** Saying that a call of unknown outcome did happen, and what its tool would have returned. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { Form, textIn } from '../parts/form.js';
import type { Desk } from './desk.js';

const LABEL = 'Result of the tool, as JSON or text; the model is told. (optional)';

export function HappenedForm({ desk }: { readonly desk: Desk }): VNode {
  const [value, setValue] = useState('');
  const submit = (): void => {
    const text = value.trim();
    void desk.decide({ decision: 'happened', ...(text !== '' && { value: valueOf(text) }) });
  };
  return (
    <Form label="The call happened" submit={submit}>
      <label for="happened-value">{LABEL}</label>
      <textarea
        id="happened-value"
        rows={3}
        spellcheck={false}
        value={value}
        onInput={(event) => setValue(textIn(event))}
      />
      <div class="choices">
        <button type="submit" class="button primary">
          The call happened
        </button>
        <Button label="Back" press={() => desk.open(undefined)} />
      </div>
    </Form>
  );
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
