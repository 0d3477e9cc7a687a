/** Answering what the model wants to know: by one of the choices that it gives, or in words. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Ask } from '../data/api-types.js';
import { Button } from '../parts/button.js';
import { Form, textIn } from '../parts/form.js';
import { inertText } from '../parts/inert-text.js';
import type { Desk } from './desk.js';

const CHOICES_MAX = 12;
const CHOICE_CHARS_MAX = 200;

export interface AnswerFormProps {
  readonly ask: Ask;
  readonly desk: Desk;
  readonly begun: (isBegun: boolean) => void;
}

export function AnswerForm({ ask, desk, begun }: AnswerFormProps): VNode {
  const [answer, setAnswer] = useState('');
  const choices = choicesIn(ask.args);
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
      {choices.length > 0 && (
        <div class="choices" role="group" aria-label="Choices">
          {choices.map((choice) => (
            <Button
              key={choice}
              label={inertText(choice, CHOICE_CHARS_MAX)}
              kind="primary"
              press={() => desk.answer(choice)}
            />
          ))}
        </div>
      )}
      <label for="answer">
        {choices.length > 0 ? 'Or another answer.' : 'Your answer.'} The model reads it.
      </label>
      <textarea
        id="answer"
        rows={3}
        maxLength={8_000}
        value={answer}
        onInput={(event) => write(textIn(event))}
      />
      <div class="choices">
        <button type="submit" class={choices.length > 0 ? 'button quiet' : 'button primary'}>
          Answer
        </button>
      </div>
    </Form>
  );
}

/** Texts that can be told apart when they are shown. */
function choicesIn(args: unknown): readonly string[] {
  const { choices } = (args ?? {}) as { readonly choices?: unknown };
  if (!Array.isArray(choices) || choices.length > CHOICES_MAX) return [];
  const texts = choices.filter(
    (choice): choice is string =>
      typeof choice === 'string' && choice.trim() !== '' && choice.length <= CHOICE_CHARS_MAX,
  );
  const shown = new Set(texts.map((text) => inertText(text, CHOICE_CHARS_MAX)));
  return texts.length === choices.length && shown.size === texts.length ? texts : [];
}
