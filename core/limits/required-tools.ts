/**
 * A tool that is gone while the task cannot end without it (TR-23): no other tool can bring its evidence, so
 * going on would only cost. Without such a need the model hears of the failure and finds another way.
 */
import type { OpenRun, Turn } from '../run.js';
import type { BreakerTrip } from './breakers.js';

export function requiredToolGone(run: OpenRun, turn: Turn): BreakerTrip | undefined {
  const needed = (run.start.task.requiredEvidence ?? [])
    .map((evidence) => evidence.satisfiedBy)
    .filter((tool) => !run.evidence.includes(tool));
  const gone = turn.calls.find(
    (call) =>
      call.stage === 'settled' &&
      call.result.code === 'tool_unavailable' &&
      needed.includes(call.tool),
  );
  return (
    gone && {
      reason: 'tool_unavailable',
      detail: gone.tool,
      nextSafeAction: `Restore the tool ${gone.tool}, then start again: the task needs it.`,
    }
  );
}
