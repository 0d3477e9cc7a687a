/**
 * Decisions that came by signal, signed with a key that the run has not been told of. Nobody hears of a refusal, and only
 * the store knows the key: they wait for the next segment, whose `open_run` brings the keys, however long that takes.
 * Invariants: nothing of them is looked at before they are proven; each waits once; a few at a time.
 */
import { follows } from '../step/changes.js';
import { isOpen, type Run } from '../state/run.js';
import type { Decision } from '../state/ask.js';

const WAITING_MAX = 4;

/** The run with this decision waiting; undefined: it does not wait. */
export function awaitingKeys(run: Run, decision: Decision): Run | undefined {
  if (!follows(run, 'keysAwaited') || !isOpen(run)) return undefined;
  const { unjudged = [] } = run;
  const isSame = (one: Decision): boolean =>
    one.by === decision.by && one.nonce === decision.nonce && one.proof === decision.proof;
  if (unjudged.some(isSame)) return run;
  if (unjudged.length >= WAITING_MAX) return undefined;
  return {
    ...run,
    unjudged: [...unjudged, decision],
    segment: { ...run.segment, full: true },
  };
}
