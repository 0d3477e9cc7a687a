/** Saying once more what cannot be taken back. */
import type { VNode } from 'preact';
import { Button } from '../parts/button.js';
import type { Desk } from './desk.js';

const CHOICES = {
  'not happened': {
    decision: 'not_happened',
    text: 'The call will be made again: under the same key, and in a fork under a key of the fork. A call that happened after all may then happen twice.',
    label: 'The call did not happen',
  },
  stop: {
    decision: 'stop',
    text: 'The run ends here, and the outcome stays unknown.',
    label: 'Stop the run',
  },
} as const;

export interface ConfirmFormProps {
  readonly desk: Desk;
  readonly choice: keyof typeof CHOICES;
}

export function ConfirmForm({ desk, choice }: ConfirmFormProps): VNode {
  const { decision, text, label } = CHOICES[choice];
  return (
    <div class="confirm">
      <p tabIndex={-1}>{text}</p>
      <div class="choices">
        <Button label={label} kind="danger" press={() => desk.decide({ decision })} />
        <Button label="Back" press={() => desk.open(undefined)} />
      </div>
    </div>
  );
}
