/** The tools that a run offers to its model. Invariant: a tool that is hidden or refused is never offered (C9, C48). */
import { ownValue } from '../json/json.js';
import { matchesName } from '../state/policy.js';
import type { OpenRun } from '../state/run.js';
import type { ToolRecord } from '../state/tool.js';
import { evaluate } from './permission.js';

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

/** Every call of it would be allowed, whatever its arguments are. */
export function isAllowedUnseen(run: OpenRun, tool: ToolRecord): boolean {
  const { policy } = run.frozen;
  const about = policy.rules.filter((rule) => matchesName(rule.tool, tool.name));
  const last = about.findIndex((rule) => rule.when === undefined);
  const reachable = last === -1 ? about : about.slice(0, last + 1);
  if (reachable.some((rule) => rule.decision !== 'allow')) return false;
  // A condition may hold or not: without it the call must be allowed as well.
  const rules = reachable.filter((rule) => rule.when === undefined);
  const bare: OpenRun = { ...run, frozen: { ...run.frozen, policy: { ...policy, rules } } };
  return evaluate(bare, { tool, args: {} }).decision === 'allow';
}
