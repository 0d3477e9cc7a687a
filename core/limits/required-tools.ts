/**
 * A tool that is gone while the task cannot end without it (TR-23, G106): no other tool can bring its evidence or meet
 * its criterion, or it is declared to be required, so going on would only cost. Without such a need the model hears of
 * the failure and finds another way.
 */
import { follows } from '../step/changes.js';
import { holds } from '../json/condition.js';
import { ownValue } from '../json/json.js';
import type { OpenRun, Turn } from '../state/run.js';
import type { BreakerTrip } from './breakers.js';

export function requiredToolGone(run: OpenRun, turn: Turn): BreakerTrip | undefined {
  const gone = turn.calls.find(
    (call) =>
      call.stage === 'settled' &&
      call.result.code === 'tool_unavailable' &&
      isNeeded(run, call.tool),
  );
  return (
    gone && {
      reason: 'tool_unavailable',
      detail: gone.tool,
      nextSafeAction: `Restore the tool ${gone.tool}, then start again: the task needs it.`,
    }
  );
}

function isNeeded(run: OpenRun, tool: string): boolean {
  const { requiredEvidence = [] } = run.start.task;
  if (!run.evidence.includes(tool) && requiredEvidence.some((one) => one.satisfiedBy === tool))
    return true;
  return follows(run, 'waitForCode') && (isRequired(run, tool) || isCriterion(run, tool));
}

function isRequired(run: OpenRun, name: string): boolean {
  return run.frozen.tools.some((tool) => tool.name === name && tool.required === true);
}

/** A criterion that only a success of the tool can still meet. */
function isCriterion(run: OpenRun, tool: string): boolean {
  const { successCriteria = [] } = run.start.task;
  const named = (name: string): string => name.replaceAll('.', '__');
  const succeeded = Object.fromEntries(run.evidence.map((name) => [named(name), true]));
  const wanted = named(tool);
  if (ownValue(succeeded, wanted) === true) return false;
  return successCriteria.some(
    ({ when }) =>
      when.path.startsWith('tools.') &&
      !holds(when, { tools: succeeded }) &&
      holds(when, { tools: { ...succeeded, [wanted]: true } }),
  );
}
