/**
 * Station 1: does the tool exist, and may this run use it? (C48)
 * visible = manifest ∩ allowedActions − disallowedTools − forbiddenActions; deny beats allow, and
 * `allowedTools` hides nothing. What the vendor runs must also be allowed before anybody sees its calls.
 */
import { ownValue } from '../json.js';
import { matchesName } from '../policy.js';
import type { OpenRun } from '../run.js';
import type { ToolRecord } from '../tool.js';
import { isAllowedUnseen } from '../turn/hosted.js';
import type { ProposedStage } from './call.js';
import { go, refuse, type Verdict } from './station.js';

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

export function visibleTools(run: OpenRun): readonly ToolRecord[] {
  return run.frozen.tools.filter(
    (tool) => isVisible(run, tool) && (tool.kind !== 'hosted' || isAllowedUnseen(run, tool)),
  );
}

function isVisible(run: OpenRun, { name }: ToolRecord): boolean {
  const { allowedActions, forbiddenActions = [] } = run.start.task;
  const { disallowedTools } = run.frozen.settings;
  return (
    (allowedActions === undefined || allowedActions.includes(name)) &&
    !disallowedTools.some((pattern) => matchesName(pattern, name)) &&
    !forbiddenActions.includes(name)
  );
}

export function toolOf(run: OpenRun, name: string): ToolRecord | undefined {
  const byName = Object.fromEntries(run.frozen.tools.map((tool) => [tool.name, tool]));
  return ownValue(byName, name);
}
