/**
 * Whose model is heard while several speak at once: one at a time, so that no words are mixed. What a sub-agent says meanwhile comes
 * whole, with its event.
 * Invariant: the run that is followed is always heard.
 */
import type { TreeMoment } from '../../client/index.js';
import type { RunEvent } from '../../core/state/event.js';
import type { StreamChunk } from '../../pure/stream.js';

export interface Speakers {
  mayBeHeard(chunk: StreamChunk, of: TreeMoment['of']): boolean;
  /** An event of a run: its message is told, or the run has ended. */
  told(event: RunEvent): void;
}

export function speakers(): Speakers {
  let heard: string | undefined;
  return {
    mayBeHeard({ kind }, { runId, depth }) {
      if (kind === 'attempt_started' && (depth === 0 || heard === undefined)) heard = runId;
      const isHeard = heard === runId || depth === 0;
      if (isHeard && (kind === 'attempt_ended' || kind === 'attempt_reset')) heard = undefined;
      return isHeard;
    },
    told({ type, stamp: { runId } }) {
      const isOver = type === 'model_response' || type === 'run_result';
      if (isOver && heard === runId) heard = undefined;
    },
  };
}
