/** A run as lists and its own page show it. */
import type { RunRow } from '../store/runs.js';

export function runShown(row: RunRow) {
  const { caller, completedAt, stopReason, detail, costMicroUsd, alarm } = row;
  const { root, agentPath, forked } = row;
  return {
    runId: row.runId,
    ...(root !== undefined && { root }),
    ...(agentPath !== undefined && { agentPath }),
    ...(forked !== undefined && { forked }),
    agent: row.agent,
    status: row.status,
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
