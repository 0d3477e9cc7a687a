/** resolve_model: not asked for yet. */
import type { ResolveModelInput, ResolveModelOutput } from '../core/effect.js';
import { HoldfastError } from '../core/errors.js';
import type { ActivityDeps } from './deps.js';
import type { Scope } from './scope.js';

export async function resolveModel(
  _deps: ActivityDeps,
  _scope: Scope,
  _input: ResolveModelInput,
): Promise<ResolveModelOutput> {
  throw new HoldfastError('Internal', 'resolve_model is not available.');
}
