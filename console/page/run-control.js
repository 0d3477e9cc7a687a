/** Writing to a run, and stopping it. */
import { newKey, pathOf, post, wordsOf } from './api.js';
import { button, el, fill } from './dom.js';

/** @typedef {(done: string, work: () => Promise<unknown>) => Promise<void>} Send Does it, and says that it is done, or why not. */

/**
 * @param {string} runId
 * @param {() => void} changed
 */
export function controlPanel(runId, changed) {
  const said = el('p', { class: 'said', role: 'status' });
  const fault = el('p', { class: 'fault', role: 'alert' });
  /** @type {Send} */
  const send = async (done, work) => {
    fault.textContent = '';
    try {
      await work();
      said.textContent = done;
    } catch (error) {
      fault.textContent = wordsOf(error);
    }
    changed();
  };
  const element = el(
    'details',
    { class: 'controls' },
    el('summary', {}, 'Write to it, or stop it'),
    messageForm(runId, send),
    stopPanel(runId, send),
    said,
    fault,
  );
  return {
    element,
    /** @param {boolean} isOpen */
    refresh: (isOpen) => void (element.hidden = !isOpen),
  };
}

/**
 * @param {string} runId
 * @param {Send} send
 */
function messageForm(runId, send) {
  const text = el('textarea', { id: 'message', rows: 2, maxlength: 8_000 });
  // The same message again, after a lost answer, counts once.
  let id = newKey();
  const onsubmit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const message = text.value.trim();
    if (message === '') return;
    void send('The message is sent.', async () => {
      await post(pathOf('runs', runId, 'messages'), { text: message, id });
      text.value = '';
      id = newKey();
    });
  };
  return el(
    'form',
    { class: 'message-form', 'aria-label': 'Message', onsubmit },
    el('label', { for: 'message' }, 'A message to the run'),
    text,
    el('button', { type: 'submit', class: 'button' }, 'Send'),
  );
}

/**
 * @param {string} runId
 * @param {Send} send
 */
function stopPanel(runId, send) {
  const place = el('div', { class: 'stop' });
  const ask = () => {
    fill(
      place,
      el('p', {}, 'The run ends: what is under way ends in order, and nothing new begins.'),
      el(
        'div',
        { class: 'choices' },
        button('Interrupt the run', { kind: 'danger', press: interrupt }),
        button('Back', { press: rest }),
      ),
    );
    place.querySelector('button')?.focus();
  };
  const interrupt = async () => {
    await send('It is being stopped.', () => post(pathOf('runs', runId, 'interrupt'), {}));
    rest();
  };
  const rest = () => fill(place, button('Interrupt …', { kind: 'danger', press: ask }));
  rest();
  return place;
}
