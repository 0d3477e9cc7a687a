/** What a tool tells of its progress (`ctx.note`): an event for each note, and the call goes on as without it. */
import type { OpenRun } from '../state/run.js';
import { follows } from '../step/changes.js';
import { emit } from '../step/outbox.js';

const NOTES_MAX = 10;
const NOTE_CHARS_MAX = 200;

export function tellNotes(run: OpenRun, effectId: string, notes: readonly string[]): OpenRun {
  const call = run.turn?.calls.find(
    (one) => one.stage === 'executing' && one.effectId === effectId,
  );
  if (call === undefined || !follows(run, 'toldProgress')) return run;
  const { id: callId, tool } = call;
  return notes.slice(0, NOTES_MAX).reduce<OpenRun>((next, text) => {
    const message = text.slice(0, NOTE_CHARS_MAX);
    return emit(next, { type: 'tool_note', callId, tool, message });
  }, run);
}
