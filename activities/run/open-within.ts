/**
 * open_run within the first task of a run (core/loop/open-within.ts): one attempt.
 * Invariants: it always ends with an outcome, because a failure would leave a history that does not say what it was for; an
 * opening that asks somebody outside (a connector, a gate, a folder to copy) is left to the ordinary activity at once, and
 * so is whatever cannot be opened now, which says there what is wrong.
 */
import type {
  ElsewhereReason,
  OpenRunInput,
  OpenRunOutput,
  QuickAttempt,
} from '../../core/state/effect.js';
import type { Json } from '../../core/json/json.js';
import { RULES_VERSION } from '../../core/step/changes.js';
import type { ActivityDeps } from '../deps.js';
import { digestOf } from '../digests.js';
import { elsewhereReasonOf } from '../elsewhere.js';
import type { Scope } from '../scope.js';
import { agentFor } from './freeze.js';
import { openRun } from './open-run.js';

export type QuickOpening = OpenRunInput & { readonly quick: QuickAttempt };

export async function openWithin(
  deps: ActivityDeps,
  scope: Scope,
  input: QuickOpening,
): Promise<OpenRunOutput> {
  if (asksOutside(deps, input)) return opensElsewhere(input, 'outside');
  // Nobody outside is waited for, so that all of it can be one commit.
  const opened = await deps.store.together((store) => openRun({ ...deps, store }, scope, input));
  return { ...opened, ...attemptOf(input) };
}

function asksOutside({ config }: ActivityDeps, { start }: QuickOpening): boolean {
  if (start === undefined) return true;
  const { mcp, seed } = agentFor(config, start);
  const gate = config.refuseTask ?? config.agents.get(start.agent)?.refuseTask;
  return mcp.length > 0 || gate !== undefined || seed !== undefined;
}

/** The attempt did not open the run: an ordinary activity does. */
export function opensElsewhere(input: QuickOpening, elsewhere: ElsewhereReason): OpenRunOutput {
  const eventsUpTo = input.events[0]?.stamp.seq ?? 0;
  return { rules: RULES_VERSION, eventsUpTo, elsewhere, ...attemptOf(input) };
}

/** The same for what was thrown. */
export function failedWithin(input: QuickOpening, error: unknown): OpenRunOutput {
  return opensElsewhere(input, elsewhereReasonOf(error));
}

function attemptOf(input: QuickOpening): Pick<OpenRunOutput, 'quick'> {
  const { effectId } = input.quick;
  return { quick: { effectId, input: digestOf(input as unknown as Json) } };
}
