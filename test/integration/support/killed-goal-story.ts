/** What the models say in the story of a goal: each cycle writes a note; the reviewer wants a short pause. */
import type { ScriptedCall } from '../../../providers/scripted/script.js';
import type { Script } from '../../../testing/index.js';
import type { Inside } from './kill-points.js';

export const SAID = 'Begin with the oldest note.';
const REVIEW_MARK = 'objective_valid';
/** In minutes: long enough for a checkpoint to be stored before it is over. */
const PAUSE_MINUTES = 0.05;
const REVIEW = {
  objective_valid: true,
  because: 'Still wanted.',
  pause: PAUSE_MINUTES,
  evidence: [],
};

/** Whether this asks for a review. */
export function isReview(body: string): boolean {
  return body.includes(REVIEW_MARK);
}

const plan = (status: 'doing' | 'done'): ScriptedCall => ({
  id: `plan-${status}`,
  tool: 'goal_plan',
  input: {
    steps: [
      {
        id: 's1',
        title: 'Write three notes',
        status,
        ...(status === 'done' && { evidence: ['c3/write-c3'] }),
      },
    ],
  },
});

/** A function of the run and its conversation alone: a question that is asked again gets the same reply. */
const STORY: Script = ({ runId, assistantMessages }) => {
  const [, cycle = ''] = /:(c\d+)$/.exec(runId) ?? [];
  if (cycle === '') return { text: JSON.stringify(REVIEW) };
  const write = { id: `write-${cycle}`, tool: 'notes.write', input: { item: cycle } };
  const turns: readonly (readonly ScriptedCall[])[] =
    cycle === 'c1'
      ? [[plan('doing')], [write]]
      : cycle === 'c3'
        ? [[write], [plan('done')]]
        : [[write]];
  const calls = turns[assistantMessages];
  if (calls === undefined) return { text: `Written in ${cycle}.` };
  // The person who speaks in the first cycle has the time to.
  return { calls, ...(assistantMessages === 0 && { delayMs: 300 }) };
};

/** A reply that is on its way for minutes, and moves all the time. */
const CHUNKS = 600;
const CHUNK_DELAY_MS = 500;

/** The same; only that the first time, what the worker is to die in takes longer than it lives. */
export function goalStoryWith(what: Inside | undefined): Script {
  return (request) => {
    const reply = STORY(request) as { text?: string };
    const isSlow =
      what === 'in the middle of a review'
        ? !request.runId.includes(':')
        : what === 'in the middle of a reply' && request.runId.endsWith(':c1');
    if (!isSlow || request.assistantMessages > 0) return reply;
    return [{ ...reply, chunks: CHUNKS, chunkDelayMs: CHUNK_DELAY_MS }, reply];
  };
}
