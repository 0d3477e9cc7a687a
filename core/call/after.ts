/**
 * What follows a call's result: its PostToolUse or PostToolUseFailure hooks (C47). They are awaited and can
 * undo nothing.
 * Invariant: they see only what an executor did; what the runtime answered itself has none.
 */
import { hasHooks, startHooks, toldText } from '../hooks/start.js';
import type { HookPoint } from '../state/hook.js';
import type { Step } from '../step/inflight.js';
import type { OpenRun, Turn } from '../state/run.js';
import type { Call, SettledStage } from '../state/call.js';
import { withCall } from '../step/station.js';

/** Starts the hooks of the first settled call that has not had them. */
export function afterCalls(run: OpenRun, turn: Turn): Step<OpenRun> | undefined {
  for (const call of turn.calls) {
    if (call.stage !== 'settled' || call.after !== undefined) continue;
    const point = pointOf(run, call);
    if (point !== undefined) return startAfter(run, call, point);
  }
  return undefined;
}

/** It has its result, and its hooks have seen it. */
export function isOver(run: OpenRun, call: Call): boolean {
  if (call.stage !== 'settled') return false;
  return call.after === 'done' || (call.after === undefined && pointOf(run, call) === undefined);
}

/** Hooks still have to see a result of this turn. */
export function awaitsHooks(run: OpenRun, turn: Turn): boolean {
  return turn.calls.some((call) => call.stage === 'settled' && !isOver(run, call));
}

function pointOf(run: OpenRun, { result }: SettledStage): HookPoint | undefined {
  if (!result.started || result.synthetic) return undefined;
  const point = result.isError ? 'PostToolUseFailure' : 'PostToolUse';
  return hasHooks(run, point) ? point : undefined;
}

function startAfter(run: OpenRun, call: SettledStage, point: HookPoint): Step<OpenRun> {
  const { code, content, isError } = call.result;
  const told = toldText(content);
  const payload = {
    tool_name: call.tool,
    tool_input: call.args,
    call_id: call.id,
    ...(isError ? { error: told, code: code ?? 'execution_error' } : { tool_response: told }),
  };
  const started = withCall(run, { ...call, after: 'running' });
  return startHooks(started, { point, callId: call.id, tool: call.tool }, payload);
}
