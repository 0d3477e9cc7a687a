/** A run in a list: small, and the same from the store and from Temporal. */
import type { RunRow } from '../../store/runs.js';
import type { ReadingStore } from '../link.js';

export interface RunSummary {
  readonly runId: string;
  readonly agent: string;
  readonly status: string;
  readonly stopReason?: string;
  /** Its end is decided, and its last record is not stored yet. */
  readonly closing?: true;
  /** It has no result, and Temporal knows nothing of it, or nothing any more. */
  readonly unknown?: true;
  /** It has ended by itself, and the store has no result of it: an older copy has taken the store's place. */
  readonly notStored?: true;
  /** Of a sub-agent, as the store has it: run id of the root of its tree. */
  readonly root?: string;
  /** Of a sub-agent: names of the agents from the root to it. */
  readonly agentPath?: readonly string[];
  /** Of a fork, as the store has it: the run that it began from, and after which step. */
  readonly forked?: { readonly runId: string; readonly step: number };
  readonly goal?: string;
  readonly startedAt: number;
  readonly updatedAt?: number;
  readonly costMicroUsd?: number;
  /** Of a run that is open, where that was asked for: what it has cost so far without its sub-agents, of a call under way its bound. */
  readonly spentMicroUsd?: number;
  /** Why somebody should look at it: its cost or tokens kept doubling. Temporal does not tell it. */
  readonly alarm?: string;
}

/** As the store has it, with what Temporal says of it where that was asked. */
type SummedRow = Omit<RunRow, 'status'> & Pick<RunSummary, 'status' | 'unknown' | 'notStored'>;

export function summaryOf(row: SummedRow): RunSummary {
  return {
    runId: row.runId,
    agent: row.agent,
    status: row.status,
    ...(row.unknown !== undefined && { unknown: row.unknown }),
    ...(row.notStored !== undefined && { notStored: row.notStored }),
    ...(row.stopReason !== undefined && { stopReason: row.stopReason }),
    ...(row.root !== undefined && { root: row.root }),
    ...(row.agentPath !== undefined && { agentPath: row.agentPath }),
    ...(row.forked !== undefined && { forked: row.forked }),
    goal: row.goalPreview,
    startedAt: row.startedAt,
    updatedAt: row.updatedAt,
    ...(row.costMicroUsd !== undefined && { costMicroUsd: row.costMicroUsd }),
    ...(row.alarm !== undefined && { alarm: row.alarm }),
  };
}

/** With what open runs have cost so far. */
export async function withSpent(
  store: Pick<ReadingStore, 'attemptedCost'>,
  tenant: string,
  runs: readonly RunSummary[],
): Promise<readonly RunSummary[]> {
  return Promise.all(
    runs.map(async (run) =>
      run.costMicroUsd === undefined
        ? { ...run, spentMicroUsd: (await store.attemptedCost(tenant, run.runId)).costMicroUsd }
        : run,
    ),
  );
}
