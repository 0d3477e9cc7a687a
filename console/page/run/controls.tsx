/** Writing to a run, and stopping it. */
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { newKey, pathOf, post, wordsOf } from '../data/api.js';
import { Button } from '../parts/button.js';
import { Form, textIn } from '../parts/form.js';
import { useFocusOnChange } from '../parts/use-focus.js';

/** Does it, and says that it is done, or why not; gives whether it was done. */
type Send = (done: string, work: () => Promise<unknown>) => Promise<boolean>;

export interface RunControlsProps {
  readonly runId: string;
  readonly changed: () => void;
}

export function RunControls({ runId, changed }: RunControlsProps): VNode {
  const [said, setSaid] = useState('');
  const [fault, setFault] = useState('');
  const send: Send = async (done, work) => {
    setFault('');
    try {
      await work();
      setSaid(done);
      return true;
    } catch (error) {
      setFault(wordsOf(error));
      return false;
    } finally {
      changed();
    }
  };
  return (
    <details class="controls">
      <summary>Write to it, or stop it</summary>
      <MessageForm runId={runId} send={send} />
      <StopPanel runId={runId} send={send} />
      <p class="said" role="status">
        {said}
      </p>
      <p class="fault" role="alert">
        {fault}
      </p>
    </details>
  );
}

interface SendingProps {
  readonly runId: string;
  readonly send: Send;
}

function MessageForm({ runId, send }: SendingProps): VNode {
  const [text, setText] = useState('');
  // The same message again, after a lost answer, counts once.
  const id = useRef(newKey());
  const submit = async (): Promise<void> => {
    const message = text.trim();
    if (message === '') return;
    const body = { text: message, id: id.current };
    const isSent = await send('The message is sent.', () =>
      post(pathOf('runs', runId, 'messages'), body),
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

function StopPanel({ runId, send }: SendingProps): VNode {
  const [isAsked, setAsked] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useFocusOnChange(isAsked, () => place.current?.querySelector('button'));
  const interrupt = async (): Promise<void> => {
    await send('The run is being stopped.', () => post(pathOf('runs', runId, 'interrupt'), {}));
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
