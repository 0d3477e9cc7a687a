/** What the model says in the story: a read, a summary, a payment, another read, an answer. */
import { SUMMARY_REQUEST } from '../../../core/context/compaction.js';
import type { Script } from '../../../testing/index.js';
import type { Inside } from './kill-points.js';
import { pay, read, say } from './world.js';

const SUMMARY = 'What happened so far: a lamp was looked at.';
const ASKS_FOR_SUMMARY = SUMMARY_REQUEST.slice(0, 40);

/** Whether this asks for the summary. */
export function isSummary(body: string): boolean {
  return body.includes(ASKS_FOR_SUMMARY);
}

/** A function of the conversation alone: a question that is asked again gets the same reply. */
const STORY: Script = ({ messages }) => {
  const text = JSON.stringify(messages);
  if (isSummary(text)) return say(SUMMARY);
  // Long enough to need a summary.
  if (!text.includes(SUMMARY)) return { ...read(), text: 'Let me see. '.repeat(400) };
  if (!text.includes('under')) return pay('pay.asked');
  return text.includes('"cup') || text.includes('cup\\"') ? say('Finished.') : read('cup');
};

/** A reply that is on its way for minutes, and moves all the time. */
const CHUNKS = 600;
const CHUNK_DELAY_MS = 500;

/** The same; only that the first time, what the worker is to die in takes longer than it lives. */
export function storyWith(what: Inside | undefined): Script {
  const isSlow = (body: string): boolean =>
    what === 'in the middle of a summary'
      ? isSummary(body)
      : what === 'in the middle of a reply' && !isSummary(body) && !body.includes(SUMMARY);
  return (request) => {
    const reply = STORY(request) as { text?: string };
    if (!isSlow(JSON.stringify(request.messages))) return reply;
    return [{ ...reply, chunks: CHUNKS, chunkDelayMs: CHUNK_DELAY_MS }, reply];
  };
}
