/** What the model says at this moment, before it is an event. It decides nothing, and goes when the event comes. */
import { pathOf } from './api.js';
import { el, fill } from './dom.js';
import { inertBlock } from './inert.js';
import { follow } from './stream.js';

/** @typedef {import('./api-types.js').StreamChunk} StreamChunk */
/** @typedef {import('./api-types.js').RunEvent} RunEvent */

const CHARS_SHOWN = 6_000;
const DRAW_MS = 60;

/**
 * @param {string} runId
 * @param {AbortSignal} signal
 */
export function liveText(runId, signal) {
  const text = el('div', { class: 'live-text' });
  const element = el(
    'section',
    { class: 'live', 'aria-label': 'What the model says now', hidden: true },
    el('h3', {}, 'The model is speaking …'),
    text,
  );
  const leaving = new AbortController();
  /** Messages that came as events: what is late of their tokens is not shown. @type {Set<string>} */
  const told = new Set();
  let messageId = '';
  let said = '';
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const draw = () => {
    timer = undefined;
    element.hidden = said === '';
    fill(text, inertBlock(said.slice(-CHARS_SHOWN), { charsMax: CHARS_SHOWN, linesMax: 200 }));
  };
  const take = (/** @type {StreamChunk} */ chunk) => {
    if (told.has(chunk.messageId)) return;
    if (chunk.messageId !== messageId || chunk.kind === 'attempt_started') said = '';
    messageId = chunk.messageId;
    if (chunk.kind === 'attempt_reset') said = '';
    if (chunk.kind === 'gap') said += '…';
    if (chunk.kind === 'delta') said += wordsOf(chunk.delta);
    timer ??= setTimeout(draw, DRAW_MS);
  };
  const either = AbortSignal.any([signal, leaving.signal]);
  void follow(pathOf('runs', runId, 'tokens'), {
    signal: either,
    entry: ({ event, data }) => event === 'chunk' && take(/** @type {StreamChunk} */ (data)),
  });
  return {
    element,
    /** @param {RunEvent} event */
    take(event) {
      if (event.type !== 'model_response') return;
      told.add(event.messageId);
      if (event.messageId !== messageId) return;
      said = '';
      draw();
    },
    end() {
      leaving.abort();
      element.hidden = true;
    },
  };
}

/** @param {Extract<StreamChunk, { kind: 'delta' }>['delta']} delta */
function wordsOf(delta) {
  const begins = delta.type === 'tool_use' && delta.tool !== undefined;
  return begins ? `\n→ ${delta.tool} ${delta.text}` : delta.text;
}
