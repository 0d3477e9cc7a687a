/** Answering what the model wants to know. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Form, textIn } from '../parts/form.js';
import type { Desk } from './desk.js';

export interface AnswerFormProps {
  readonly desk: Desk;
  readonly begun: (isBegun: boolean) => void;
}

export function AnswerForm({ desk, begun }: AnswerFormProps): VNode {
  const [answer, setAnswer] = useState('');
  const write = (text: string): void => {
    setAnswer(text);
    begun(text.trim() !== '');
  };
  const submit = (): void => {
    const text = answer.trim();
    if (text === '') desk.complain('Write an answer.');
    else void desk.answer(text);
  };
  return (
    <Form label="Answer" submit={submit}>
      <label for="answer">Your answer. The model reads it.</label>
      <textarea
        id="answer"
        rows={3}
        maxLength={8_000}
        value={answer}
        onInput={(event) => write(textIn(event))}
      />
      <div class="choices">
        <button type="submit" class="button primary">
          Answer
        </button>
      </div>
    </Form>
  );
}
