/** execute_tool: runs one granted call, once or as often as its declaration allows (design §8). */
import type { ExecuteToolInput, ExecuteToolOutput } from '../core/effect.js';
import { isMutating } from '../core/tool.js';
import { appendEvents } from './append-events.js';
import { standingOutcome } from './claim-call.js';
import { now, type ActivityDeps } from './deps.js';
import { executeEffect } from './execute-effect.js';
import { executeRead, type Executed } from './execute-read.js';
import type { Scope } from './scope.js';
import { prepareCall } from './tool-call.js';

export async function executeTool(
  deps: ActivityDeps,
  scope: Scope,
  input: ExecuteToolInput,
): Promise<ExecuteToolOutput> {
  const startedAt = now(deps);
  const eventsUpTo = await appendEvents(deps.store, scope, input);
  const executed = await execute(deps, scope, input);
  return { ...executed, durationMs: Math.max(0, now(deps) - startedAt), eventsUpTo };
}

async function execute(
  deps: ActivityDeps,
  scope: Scope,
  input: ExecuteToolInput,
): Promise<Executed> {
  const prepared = await prepareCall(deps, input);
  if (!prepared.ok) {
    // Another worker may have begun what this one cannot run.
    const standing = await standingOutcome(deps, input);
    return { outcome: standing ?? prepared.outcome, attempts: 0 };
  }
  const execution = { input, runnable: prepared.runnable };
  return isMutating(prepared.runnable.tool.record)
    ? executeEffect(deps, scope, execution)
    : executeRead(deps, scope, execution);
}
