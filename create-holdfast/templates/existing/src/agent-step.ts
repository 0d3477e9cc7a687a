/** The agent as one step of a workflow: a child workflow on the queue of the Holdfast worker. Safe in workflow code. */
import { workflowInfo } from '@temporalio/workflow';
import { runAgent, type RunResult } from 'holdfast/workflows';

export const TEAMS = ['delivery', 'billing', 'quality', 'person'] as const;
export type Team = (typeof TEAMS)[number];

export interface Triage {
  readonly team: Team;
  readonly reason: string;
  /** `holdfast show`, `explain` and `export` take it. */
  readonly runId: string;
  readonly costMicroUsd: number;
}

export async function triageStep(complaint: string): Promise<Triage> {
  const result = await runAgent(
    { agent: 'triage', task: { goal: complaint } },
    { runId: `${workflowInfo().workflowId}.triage` },
  );
  return { ...readTriage(result), runId: result.runId, costMicroUsd: result.costMicroUsd };
}

/** The words of a model are input from outside: a person gets what cannot be read. */
export function readTriage(
  result: Pick<RunResult, 'completed' | 'stopReason' | 'answer'>,
): Pick<Triage, 'team' | 'reason'> {
  const { completed, stopReason, answer } = result;
  if (!completed) return { team: 'person', reason: `The agent stopped: ${stopReason}.` };
  const found = answer !== undefined && 'text' in answer ? parsed(answer.text) : undefined;
  const team = TEAMS.find((one) => one === found?.team);
  if (team === undefined) return { team: 'person', reason: 'The agent named no team.' };
  return { team, reason: String(found?.reason ?? '').slice(0, 500) };
}

function parsed(text: string): { readonly team?: unknown; readonly reason?: unknown } | undefined {
  try {
    return JSON.parse(text) as { team?: unknown; reason?: unknown };
  } catch {
    return undefined;
  }
}
