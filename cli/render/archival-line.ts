/** A closed segment whose history is not archived, on one line. */
import type { Archival } from '../../store/archivals.js';
import { dateTimeText, durationText } from './amounts.js';
import { inert } from './inert.js';

/** Younger ones that have not failed are on their way. */
const DUE_MS = 60_000;

/** Undefined: the worker that has found it closed may still be at it. */
export function archivalLine(archival: Archival, now: number): string | undefined {
  const { runId, segment, state, since, lostAt, fault } = archival;
  const what = `run ${inert(runId)}, segment ${segment}`;
  const why = fault === undefined ? '' : `: ${inert(fault)}`;
  if (state === 'history_lost') {
    return `history_lost: Temporal deleted ${what} before it was archived; found ${dateTimeText(lostAt ?? since)}${why}`;
  }
  if (fault === undefined && now - since < DUE_MS) return undefined;
  return `not archived for ${durationText(Math.max(0, now - since))}: ${what}${why}`;
}
