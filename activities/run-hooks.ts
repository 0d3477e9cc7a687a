/** run_hooks: not asked for yet. */
import type { RunHooksInput, RunHooksOutput } from '../core/effect.js';
import { HoldfastError } from '../core/errors.js';
import type { ActivityDeps } from './deps.js';
import type { Scope } from './scope.js';

export async function runHooks(
  _deps: ActivityDeps,
  _scope: Scope,
  _input: RunHooksInput,
): Promise<RunHooksOutput> {
  throw new HoldfastError('Internal', 'run_hooks is not available.');
}
