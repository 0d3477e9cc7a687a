/** A run as lists and its own page show it. */
import type { ListedRow } from '../client/read/joined-page.js';

export function runShown(row: ListedRow) {
  const { caller, completedAt, stopReason, detail, costMicroUsd, alarm } = row;
  const { root, agentPath, forked } = row;
  return {
    runId: row.runId,
    ...(root !== undefined && { root }),
    ...(agentPath !== undefined && { agentPath }),
    ...(forked !== undefined && { forked }),
    agent: row.agent,
    status: row.status,
    ...(row.unknown !== undefined && { unknown: row.unknown }),
    ...(row.notStored !== undefined && { notStored: row.notStored }),
    goal: row.goalPreview,
    model: row.model,
    ...(caller !== undefined && { caller }),
    startedAt: row.startedAt,
    updatedAt: row.updatedAt,
    ...(completedAt !== undefined && { completedAt }),
    ...(stopReason !== undefined && { stopReason }),
    ...(detail !== undefined && { detail }),
    ...(costMicroUsd !== undefined && { costMicroUsd }),
    ...(alarm !== undefined && { alarm }),
    lastSeq: row.lastSeq,
  };
}
