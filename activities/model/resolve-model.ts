/**
 * resolve_model: the route of a model that a person names while the run goes on.
 * Invariant: a name that this worker cannot serve is an answer, not a failure; the run keeps the model it has.
 */
import type { ResolveModelInput, ResolveModelOutput } from '../../core/state/effect.js';
import { HoldfastError } from '../../core/state/errors.js';
import { resolveRoute, resolveRouteFor, ANY_MONEY } from '../../providers/routes.js';
import { appendEvents } from '../run/append-events.js';
import type { ActivityDeps } from '../deps.js';
import { providerElsewhere } from '../lacking-code.js';
import { providerOf } from './model-provider.js';
import type { Scope } from '../scope.js';

export async function resolveModel(
  deps: ActivityDeps,
  scope: Scope,
  input: ResolveModelInput,
): Promise<ResolveModelOutput> {
  const eventsUpTo = await appendEvents(deps.store, scope, input);
  return { resolved: await resolved(deps, scope, input), eventsUpTo };
}

async function resolved(
  deps: ActivityDeps,
  scope: Scope,
  { model, money, unservedMs }: ResolveModelInput,
): Promise<ResolveModelOutput['resolved']> {
  try {
    const route =
      money === 'unlimited'
        ? resolveRouteFor(model, deps.config, ANY_MONEY)
        : resolveRoute(model, deps.config);
    const provider = providerOf(deps, route);
    if (!(provider instanceof HoldfastError)) return { ok: true, route };
    const wanted = { name: route.provider, unservedMs };
    const elsewhere = await providerElsewhere(deps, scope, wanted);
    if (elsewhere !== undefined) throw elsewhere;
    return { ok: false, reason: provider.message };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return { ok: false, reason: error.message };
  }
}
