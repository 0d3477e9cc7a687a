/**
 * What a run tells its open sub-agents while they work: how permission modes changed, and what its user says.
 * Invariants: a mode that is told only narrows what the sub-agent may do (permission.ts); a message is told once to each
 * sub-agent that was there when it came, which tells those below it; a letter of another run is no word of the user, and stays
 * with the run that it was written to (lettersStay).
 */
import { modesOver } from '../permission/modes-above.js';
import { modeOf } from '../permission/permission.js';
import type { Effect } from '../state/effect.js';
import type { PermissionMode } from '../state/permission-mode.js';
import type { OpenRun } from '../state/run.js';
import type { RunChild } from '../state/run-child.js';
import { follows } from '../step/changes.js';

/** What a sub-agent that is started now knows; nothing under rules that tell it nothing. */
export function knownBelow(run: OpenRun): Pick<RunChild, 'modes' | 'heard'> {
  return follows(run, 'toldBelow') ? { modes: modesNow(run), heard: run.queue.length } : {};
}

/** Of the run, then of those above it, the nearest first. */
function modesNow(run: OpenRun): readonly PermissionMode[] {
  return [modeOf(run), ...modesOver(run)];
}

interface Told {
  readonly child: RunChild;
  readonly effects: readonly Effect[];
}

export function tellBelow(run: OpenRun, child: RunChild): Told | undefined {
  if (child.modes === undefined || run.stopping !== undefined || run.pausing !== undefined)
    return undefined;
  const { heard = 0, child: to } = child;
  const modes = modesNow(run);
  const isTold = modes.every((mode, index) => mode === child.modes?.[index]);
  const messages = run.queue
    .slice(heard)
    .map(({ text, from }, index) => ({ text, from, id: `${run.runId}:m${heard + index}` }))
    .filter(({ from }) => from === undefined || !follows(run, 'lettersStay'));
  if (isTold && messages.length === 0) return undefined;
  const changed: readonly Effect[] = isTold
    ? []
    : [{ kind: 'tell_child', child: to, message: 'modes', modes }];
  const said = messages.map(({ text, id }): Effect => ({
    kind: 'tell_child',
    child: to,
    message: 'say',
    text,
    id,
  }));
  const told = { ...child, modes, heard: Math.max(heard, run.queue.length) };
  return { child: told, effects: [...changed, ...said] };
}
