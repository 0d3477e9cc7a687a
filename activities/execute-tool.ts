/** execute_tool: runs one granted call, once or as often as its declaration allows (design §8). */
import type { ExecuteToolInput, ExecuteToolOutput } from '../core/effect.js';
import { isMutating } from '../core/tool.js';
import { standingOutcome } from './claim-call.js';
import { now, type ActivityDeps, type InTransaction } from './deps.js';
import { executeEffect } from './execute-effect.js';
import { beginRead, executeRead, type Executed } from './execute-read.js';
import { toFailure } from './failure.js';
import type { Scope } from './scope.js';
import { prepareCall, type Preparation } from './tool-call.js';

export async function executeTool(
  deps: ActivityDeps,
  scope: Scope,
  input: ExecuteToolInput,
): Promise<ExecuteToolOutput> {
  const startedAt = now(deps);
  const begun = await deps.store.together((store) => begin({ ...deps, store }, scope, input));
  // Thrown only now: the events that came with the call are stored even when its grant is not good.
  if (begun.prepared instanceof Error) throw begun.prepared;
  const { prepared } = begun;
  const executed = await execute(deps, scope, { input, prepared, readAttempt: begun.readAttempt });
  const durationMs = Math.max(0, now(deps) - startedAt);
  return { ...executed, durationMs, eventsUpTo: begun.eventsUpTo };
}

interface Begun {
  readonly eventsUpTo: number;
  readonly prepared: Preparation | Error;
  /** Number of this start of a read; effects are counted by their claims. */
  readonly readAttempt: number;
}

/** Everything that is written before the tool's code runs, but for the claim of an effect. */
async function begin(deps: InTransaction, scope: Scope, input: ExecuteToolInput): Promise<Begun> {
  const source = { ...input.run, execution: scope.execution };
  const eventsUpTo = await deps.store.appendEvents(source, input.events);
  const prepared = await prepareCall(deps, input).catch(toFailure);
  const reads =
    !(prepared instanceof Error) && prepared.ok && !isMutating(prepared.runnable.tool.record);
  const readAttempt = reads ? await beginRead(deps, scope, input) : 0;
  return { eventsUpTo, prepared, readAttempt };
}

interface Beginning {
  readonly input: ExecuteToolInput;
  readonly prepared: Preparation;
  readonly readAttempt: number;
}

async function execute(
  deps: ActivityDeps,
  scope: Scope,
  { input, prepared, readAttempt }: Beginning,
): Promise<Executed> {
  if (!prepared.ok) {
    // Another worker may have begun what this one cannot run.
    const standing = await standingOutcome(deps, input);
    return { outcome: standing ?? prepared.outcome, attempts: 0 };
  }
  const execution = { input, runnable: prepared.runnable };
  return isMutating(prepared.runnable.tool.record)
    ? executeEffect(deps, scope, execution)
    : executeRead(deps, scope, { ...execution, attempt: readAttempt });
}
