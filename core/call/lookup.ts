/**
 * Station 1: does the tool exist, and may this run use it? (C48)
 * visible = manifest ∩ allowedActions − disallowedTools − forbiddenActions; deny beats allow, and
 * `allowedTools` hides nothing. What the vendor runs must also be allowed before anybody sees its calls.
 */
import type { OpenRun } from '../state/run.js';
import type { ProposedStage } from '../state/call.js';
import { go, refuse, type Verdict } from '../step/station.js';
import { visibleTools, toolOf } from '../permission/offered-tools.js';

export function lookup(run: OpenRun, call: ProposedStage): Verdict {
  const { forbiddenActions = [] } = run.start.task;
  if (forbiddenActions.includes(call.tool)) {
    return refuse('tool_not_allowed', `The tool ${call.tool} is forbidden in this task.`, true);
  }
  const tool = toolOf(run, call.tool);
  if (tool === undefined && !call.check.ok && call.check.code === 'unknown_tool') {
    return refuse('unknown_tool', call.check.message);
  }
  if (tool === undefined || !visibleTools(run).includes(tool)) {
    return refuse('tool_not_allowed', `The tool ${call.tool} is not available in this task.`);
  }
  if (tool.kind === 'hosted') {
    return refuse(
      'unknown_tool',
      `${call.tool} is run by the model's vendor; it cannot be called.`,
    );
  }
  return go(run, call);
}
