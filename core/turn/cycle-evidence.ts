/** In a cycle of a goal: under which id a call's result is evidence. */
import { toolOf } from '../permission/permission.js';
import type { SettledStage } from '../state/call.js';
import { GOAL_TOOLS } from '../state/goal/proposal.js';
import type { OpenRun } from '../state/run.js';
import type { ParentRef } from '../state/task.js';
import type { ToolKind } from '../state/tool.js';

/** Others do the work: what they say is none of this run's own. */
const NO_EVIDENCE: readonly ToolKind[] = ['subagent', 'handoff', 'hosted'];

/** Undefined: the result is no evidence, as that of a tool which only writes down what the model says. */
export function evidenceId(
  run: OpenRun,
  { n }: ParentRef,
  { id, tool, result }: SettledStage,
): string | undefined {
  if (result.status !== 'ok' || result.synthetic) return undefined;
  const record = toolOf(run, tool);
  if (record === undefined || NO_EVIDENCE.includes(record.kind)) return undefined;
  return GOAL_TOOLS.some((name) => name === tool) ? undefined : `c${n}/${id}`;
}
