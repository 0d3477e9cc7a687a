/** Writing to a run, and stopping it. */
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { newKey, pathOf, post } from '../data/api.js';
import { Button } from '../parts/button.js';
import { Form, textIn } from '../parts/form.js';
import { Outcome, useAct, type Act } from '../parts/use-act.js';
import { useFocusOnChange } from '../parts/use-focus.js';

export interface RunControlsProps {
  readonly runId: string;
  readonly changed: () => void;
}

export function RunControls({ runId, changed }: RunControlsProps): VNode {
  const { said, fault, act } = useAct(changed);
  return (
    <details class="controls">
      <summary>Write to it, or stop it</summary>
      <MessageForm runId={runId} act={act} />
      <StopPanel runId={runId} act={act} />
      <Outcome said={said} fault={fault} />
    </details>
  );
}

interface SendingProps {
  readonly runId: string;
  readonly act: Act;
}

function MessageForm({ runId, act }: SendingProps): VNode {
  const [text, setText] = useState('');
  // The same message again, after a lost answer, counts once.
  const id = useRef(newKey());
  const submit = async (): Promise<void> => {
    const message = text.trim();
    if (message === '') return;
    const body = { text: message, id: id.current };
    const isSent = await act(
      () => post(pathOf('runs', runId, 'messages'), body),
      'The message is sent.',
    );
    if (!isSent) return;
    id.current = newKey();
    setText('');
  };
  return (
    <Form class="message-form" label="Message" submit={() => void submit()}>
      <label for="message">A message to the run</label>
      <textarea
        id="message"
        rows={2}
        maxLength={8_000}
        value={text}
        onInput={(event) => setText(textIn(event))}
      />
      <button type="submit" class="button">
        Send
      </button>
    </Form>
  );
}

function StopPanel({ runId, act }: SendingProps): VNode {
  const [isAsked, setAsked] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useFocusOnChange(isAsked, () => place.current?.querySelector('button'));
  const interrupt = async (): Promise<void> => {
    await act(() => post(pathOf('runs', runId, 'interrupt'), {}), 'The run is being stopped.');
    setAsked(false);
  };
  return (
    <div class="stop" ref={place}>
      {isAsked ? (
        <>
          <p>The run ends: what is under way ends in order, and nothing new begins.</p>
          <div class="choices">
            <Button label="Interrupt the run" kind="danger" press={interrupt} />
            <Button label="Back" press={() => setAsked(false)} />
          </div>
        </>
      ) : (
        <Button label="Interrupt …" kind="danger" press={() => setAsked(true)} />
      )}
    </div>
  );
}
