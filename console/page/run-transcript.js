/** The conversation: as it is stored when the run has ended, and until then as its events tell it. */
import { ApiProblem, get, pathOf, wordsOf } from './api.js';
import { el, fill } from './dom.js';
import { inertBlock, inertLine } from './inert.js';
import { blobText, exact, resultText } from './json-view.js';
import { excerptOf } from './run-timeline.js';

/** @typedef {import('./api-types.js').RunEvent} RunEvent */
/** @typedef {import('../../client/transcript.js').TranscriptMessage} Message */

/**
 * @param {string} runId
 * @param {AbortSignal} signal
 */
export function transcriptPanel(runId, signal) {
  const note = el('p', { class: 'help' });
  const list = el('ol', { class: 'messages' });
  const element = el('div', { class: 'transcript' }, note, list);
  return {
    element,
    /** @param {readonly RunEvent[]} events */
    async open(events) {
      note.textContent = 'Fetching …';
      try {
        const found = await get(pathOf('runs', runId, 'transcript'), signal);
        const { messages } = /** @type {{ messages: Message[] }} */ (found);
        note.textContent = '';
        fill(list, ...messages.map(storedMessage));
      } catch (error) {
        if (error instanceof ApiProblem && error.code === 'not_ended') {
          note.textContent =
            'So far, as the events tell it. The conversation itself is stored when the run ends.';
          fill(list, ...events.flatMap((event) => eventMessage(event, runId)));
        } else note.textContent = wordsOf(error);
      }
    },
  };
}

/** @param {Message} message */
function storedMessage({ role, text, thinking, calls = [], results = [], model, flags = [] }) {
  const who = role === 'user' ? (results.length > 0 ? 'Results' : 'User') : 'Model';
  return messageRow(
    { who, about: [model, ...flags].filter((word) => word !== undefined).join(', ') },
    thinking !== undefined &&
      el('details', { class: 'thinking' }, el('summary', {}, 'Thinking'), inertBlock(thinking)),
    text !== undefined && inertBlock(text),
    ...calls.map(({ tool, args }) => callRow(tool, args)),
    ...results.map(({ isError, text: result }) => resultText({ text: result }, '', isError)),
  );
}

/**
 * @param {RunEvent} event
 * @param {string} runId
 * @returns {HTMLElement[]}
 */
function eventMessage(event, runId) {
  switch (event.type) {
    case 'session_init':
      return [messageRow({ who: 'User' }, blobText(excerptOf(event.goal), runId))];
    case 'user_message':
      return [messageRow({ who: 'User' }, blobText(excerptOf(event.text), runId))];
    case 'model_response':
      return [
        messageRow(
          { who: 'Model', about: event.model },
          event.text !== undefined && blobText(excerptOf(event.text), runId),
          ...event.calls.map(({ tool, args }) => callRow(tool, args)),
        ),
      ];
    case 'tool_finished':
      return [
        messageRow(
          { who: 'Results', about: event.tool },
          resultText(excerptOf(event.content), runId, event.status !== 'ok'),
        ),
      ];
    default:
      return [];
  }
}

/**
 * @param {{ readonly who: string, readonly about?: string }} head
 * @param {...(Node | false)} parts
 */
function messageRow({ who, about = '' }, ...parts) {
  return el(
    'li',
    { class: `message ${who.toLowerCase()}` },
    el(
      'p',
      { class: 'message-who' },
      el('b', {}, who),
      about !== '' && el('span', { class: 'help' }, inertLine(about, 100)),
    ),
    ...parts,
  );
}

/**
 * @param {string} tool
 * @param {unknown} args
 */
function callRow(tool, args) {
  return el(
    'div',
    { class: 'call' },
    el('span', { class: 'call-tool' }, inertLine(tool, 128)),
    exact('Arguments', args),
  );
}
