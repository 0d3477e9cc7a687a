/**
 * Station 3, between check and permission (C19): the PreToolUse hooks.
 * No hook can be registered under this rule set, so every call passes.
 */
import type { OpenRun } from '../run.js';
import type { CheckedStage } from './call.js';
import { go, type Verdict } from './station.js';

export function hook(run: OpenRun, call: CheckedStage): Verdict {
  return go(run, call);
}
