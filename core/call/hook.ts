/**
 * Station 3, between check and permission (C19): the PreToolUse hooks of a call.
 * Invariants: a call that a hook denies is never permitted; a hook can narrow what the policy allows, never
 * widen it; input that a hook changed is checked before anything else looks at it.
 */
import { hasHooks, startHooks } from '../hooks/start.js';
import type { OpenRun } from '../state/run.js';
import { baseOf, type CheckedStage, type HookedStage } from '../state/call.js';
import { startCheck } from './recheck.js';
import { go, refuse, withCall, type Verdict } from '../step/station.js';

export function hook(run: OpenRun, call: CheckedStage): Verdict {
  if (call.hooked !== undefined || !hasHooks(run, 'PreToolUse')) return go(run, call);
  const payload = { tool_name: call.tool, tool_input: call.args, call_id: call.id };
  const errand = { point: 'PreToolUse', callId: call.id, tool: call.tool } as const;
  const asking = withCall(run, { ...baseOf(call), stage: 'hooking' });
  return { kind: 'moved', step: startHooks(asking, errand, payload) };
}

/** Its hooks have spoken. */
export function heed(run: OpenRun, call: HookedStage): Verdict {
  const { denied, ask, updatedInput } = call.opinion;
  if (denied !== undefined) return refuse('hook_denied', denied);
  const hooked = ask === undefined ? {} : { ask };
  if (updatedInput === undefined) return go(run, { ...baseOf(call), stage: 'checked', hooked });
  const { tool, toolVersion } = call;
  const target = { tool, toolVersion };
  const asker = { kind: 'hook', ...hooked } as const;
  return { kind: 'moved', step: startCheck(run, call, { asker, target, args: updatedInput }) };
}
