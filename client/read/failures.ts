/**
 * Runs that ended without completing, in groups of those that ended alike; where that is asked, runs that completed as well.
 * Invariants: groups with the most runs come first; a group's newest run is an example that can be inspected; bounded by
 * the rows that are looked at (find-runs.ts), and the answer says when these were not all.
 */
import type { RunRow } from '../../store/runs.js';
import { rowsOf, SCANNED_MAX, type FindingStore, type RunFilter } from './find-runs.js';
import { endedTrailOf } from './run-trail.js';

export interface FailureGroup {
  readonly stopReason: string;
  readonly detail: string | null;
  /** The rule that ended them; null: none is known. */
  readonly rule: string | null;
  /** Of the last call that failed; null: none did. */
  readonly tool: string | null;
  readonly code: string | null;
  readonly count: number;
  readonly newest: { readonly runId: string; readonly agent: string; readonly endedAt: number };
  readonly oldestEndedAt: number;
  readonly costMicroUsd: number;
  /** How many ended in each of BUCKETS equal parts of the time that was asked about, oldest first. */
  readonly over: readonly number[];
}

export interface Failures {
  /** The time that was looked at, ms since epoch. */
  readonly since: number;
  readonly until: number;
  /** Runs that ended in that time, in any way. */
  readonly ended: number;
  readonly failed: number;
  readonly groups: readonly FailureGroup[];
  /** More runs than could be looked at. */
  readonly truncated: boolean;
}

export const BUCKETS = 24;
/** A run may have begun long before it ended. */
const LONGEST_RUN_MS = 31 * 86_400_000;

export interface FailuresQuery extends Pick<RunFilter, 'agent'> {
  /** Of the end of a run, ms since epoch. */
  readonly since: number;
  readonly until: number;
  /** Also runs that completed: what they did may be wrong all the same. */
  readonly all?: boolean;
}

export async function failuresOf(
  store: FindingStore,
  tenant: string,
  { since, until, agent, all = false }: FailuresQuery,
): Promise<Failures> {
  const groups = new Map<string, FailureGroup>();
  let [scanned, ended, failed] = [0, 0, 0];
  let truncated = false;
  const started = { from: since - LONGEST_RUN_MS, to: until };
  for await (const row of rowsOf(store, tenant, {
    started,
    ...(agent !== undefined && { agent }),
  })) {
    truncated = scanned === SCANNED_MAX;
    if (truncated) break;
    scanned += 1;
    const { completedAt, stopReason } = row;
    if (completedAt === undefined || completedAt < since || completedAt > until) continue;
    ended += 1;
    const completed = stopReason === 'completed';
    if (!completed) failed += 1;
    if (completed && !all) continue;
    const single = await groupOf(store, row, { since, until });
    const { stopReason: reason, detail, rule, tool, code } = single;
    const key = JSON.stringify([reason, detail, rule, tool, code]);
    const known = groups.get(key);
    groups.set(key, known === undefined ? single : together(known, single));
  }
  const sorted = [...groups.values()].toSorted(
    (one, other) => other.count - one.count || other.newest.endedAt - one.newest.endedAt,
  );
  return { since, until, ended, failed, groups: sorted, truncated };
}

async function groupOf(
  store: FindingStore,
  row: RunRow,
  { since, until }: Pick<FailuresQuery, 'since' | 'until'>,
): Promise<FailureGroup> {
  const { rule, lastError } = await endedTrailOf(store, row);
  const endedAt = row.completedAt ?? row.updatedAt;
  const part = Math.floor(((endedAt - since) / Math.max(1, until - since)) * BUCKETS);
  const bucket = Math.min(BUCKETS - 1, Math.max(0, part));
  return {
    stopReason: row.stopReason ?? 'failed',
    detail: row.detail ?? null,
    rule: rule ?? null,
    tool: lastError?.tool ?? null,
    code: lastError?.code ?? null,
    count: 1,
    newest: { runId: row.runId, agent: row.agent, endedAt },
    oldestEndedAt: endedAt,
    costMicroUsd: row.costMicroUsd ?? 0,
    over: Array.from({ length: BUCKETS }, (_, index) => (index === bucket ? 1 : 0)),
  };
}

function together(known: FailureGroup, single: FailureGroup): FailureGroup {
  return {
    ...known,
    count: known.count + single.count,
    costMicroUsd: known.costMicroUsd + single.costMicroUsd,
    newest: single.newest.endedAt > known.newest.endedAt ? single.newest : known.newest,
    oldestEndedAt: Math.min(known.oldestEndedAt, single.oldestEndedAt),
    over: known.over.map((count, index) => count + single.over[index]!),
  };
}
