/** compact: not asked for yet. */
import type { CompactInput, CompactOutput } from '../core/effect.js';
import { HoldfastError } from '../core/errors.js';
import type { ActivityDeps } from './deps.js';
import type { Scope } from './scope.js';

export async function compact(
  _deps: ActivityDeps,
  _scope: Scope,
  _input: CompactInput,
): Promise<CompactOutput> {
  throw new HoldfastError('Internal', 'compact is not available.');
}
