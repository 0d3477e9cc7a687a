/**
 * Calls that a fork asks about although nothing of them was in flight: between two attempts, or back without a word of what
 * became of them.
 * Invariant: pure; of a call that is back the core itself says whether a person is asked.
 */
import { settle } from '../core/call/after-return.js';
import { isBetweenAttempts, type WorkInFlight } from '../core/loop/fork-beginning.js';
import type { Call } from '../core/state/call.js';
import { isOpen, type OpenRun, type Run } from '../core/state/run.js';
import { attemptKeyOf } from '../core/step/open-work.js';

interface Recorded {
  /** It has a known outcome of this call of the turn at hand. */
  readonly isKnown: (call: Call) => boolean;
  /** Effects of the newest attempts, by call id. Of calls that a fork took over its own record has none. */
  readonly attempts: ReadonlyMap<string, string>;
}

export function lostCalls(run: Run, { isKnown, attempts }: Recorded): readonly WorkInFlight[] {
  if (!isOpen(run)) return [];
  return (run.turn?.calls ?? []).flatMap((call): readonly WorkInFlight[] => {
    const isBetween = isBetweenAttempts(call);
    if (!isBetween && !isBackInDoubt(run, call)) return [];
    const { id: callId, tool } = call;
    const becomes = isBetween && isKnown(call) ? 'recorded_outcome' : 'outcome_unknown';
    const effectId = attempts.get(callId) ?? callId;
    return [{ effectId, kind: 'execute_tool', tool, callId, becomes }];
  });
}

/** By the key of the recorded run, under which a fork asks neither ledger nor tool. */
function isBackInDoubt(run: OpenRun, call: Call): boolean {
  if (call.stage !== 'returned') return false;
  const settings = { ...run.frozen.settings, onOutcomeUnknown: 'ask' as const };
  const asking = { ...run, frozen: { ...run.frozen, settings } };
  const settled = settle(asking, { ...call, parentKey: attemptKeyOf(run, call) });
  if (settled.kind !== 'moved') return false;
  const after = (settled.step.run.turn?.calls ?? []).find(({ index }) => index === call.index);
  return after?.stage === 'doubt';
}
