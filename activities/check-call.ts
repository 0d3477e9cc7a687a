/** check_call: not asked for yet. */
import type { CheckCallInput, CheckCallOutput } from '../core/effect.js';
import { HoldfastError } from '../core/errors.js';
import type { ActivityDeps } from './deps.js';
import type { Scope } from './scope.js';

export async function checkCall(
  _deps: ActivityDeps,
  _scope: Scope,
  _input: CheckCallInput,
): Promise<CheckCallOutput> {
  throw new HoldfastError('Internal', 'check_call is not available.');
}
