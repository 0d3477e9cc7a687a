/** Which runs of a session have not ended. */
import { HoldfastError } from '../../core/state/errors.js';
import type { SessionEntry } from '../../store/sessions.js';
import { storeOf, type Link } from '../link.js';
import { executionOf } from './execution.js';

export interface SessionNow {
  /** Absent: no run has stored it yet. */
  readonly stored?: SessionEntry;
  /** Run ids, newest first. */
  readonly openRuns: readonly string[];
}

/** Errors: StoreUnavailable. */
export async function sessionNow(link: Link, sessionId: string): Promise<SessionNow> {
  const row = await storeOf(link).getSession(link.tenant, sessionId);
  const openRuns = await openRunsOf(link, sessionId);
  if (row === undefined) return { openRuns };
  const { carry: _, before: __, ...stored } = row;
  return { stored, openRuns };
}

/** Newest first; without a store none are known. */
export async function openRunsOf(link: Link, sessionId: string): Promise<readonly string[]> {
  const open: string[] = [];
  for (const runId of (await link.store?.openRunsOf(link.tenant, sessionId)) ?? []) {
    if (!(await hasClosed(link, runId))) open.push(runId);
  }
  return open;
}

/** A run that Temporal has forgotten is over, whatever the store last heard of it. */
async function hasClosed(link: Link, runId: string): Promise<boolean> {
  try {
    return (await executionOf(link, runId, 'brief')).closed;
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'RunNotFound') return true;
    throw error;
  }
}
