/**
 * Brief payloads (core/step/brief-input.ts) as the implementations get them: whole, with the route of the run's first event
 * where they say none.
 */
import { HoldfastError } from '../core/state/errors.js';
import type { ModelRoute } from '../core/state/model.js';
import type { EventBatch, RunRef } from '../core/state/payloads/payload.js';
import type { RunEvent, WireEvent } from '../core/state/event.js';
import { ROUTED, wholeInput, withRoute } from '../core/step/brief-input.js';
import type { StoreCalls } from '../store/store.js';
import type { ActivityDeps } from './deps.js';
import { metStore } from './own-store.js';

type FirstEvents = Pick<StoreCalls, 'firstEvent'>;

/** Runs of one store whose routes are known without asking it. */
const ROUTES_MAX = 1_000;

/** By run and execution: after a reset to its beginning a run may begin with another route. */
const routes = new WeakMap<FirstEvents, Map<string, ModelRoute>>();

/** Errors: `Internal` for what no workflow has made. */
export function wholeGiven(name: string, input: never): never {
  try {
    return wholeInput(name, input) as never;
  } catch (cause) {
    throw new HoldfastError('Internal', `The input of ${name} is no brief payload.`, { cause });
  }
}

interface OfActivity {
  readonly name: string;
  readonly input: never;
}

/** Errors: `WrongStore` where the store has no first event of the run; as those of the store. */
export async function withOwnRoute(
  deps: ActivityDeps,
  { execution }: { readonly execution: string },
  { name, input }: OfActivity,
): Promise<never> {
  if (!ROUTED.includes(name) || 'route' in (input as object)) return input;
  const carried = input as EventBatch & { readonly run: RunRef };
  const { tenant, runId } = carried.run;
  const { store } = deps;
  const known = routesOf(store);
  const key = JSON.stringify([tenant, runId, execution]);
  let route = known.get(key) ?? routeIn(carried.events[0]);
  if (route === undefined) {
    await metStore(deps, carried);
    route = routeIn(await store.firstEvent({ tenant, runId }));
  }
  if (route === undefined) throw unknownRoute(runId);
  known.delete(key);
  known.set(key, route);
  if (known.size > ROUTES_MAX) known.delete([...known.keys()][0]!);
  return withRoute(input as object, route) as never;
}

function routesOf(store: FirstEvents): Map<string, ModelRoute> {
  const known = routes.get(store) ?? new Map<string, ModelRoute>();
  routes.set(store, known);
  return known;
}

function routeIn(event: RunEvent | WireEvent | undefined): ModelRoute | undefined {
  return event?.type === 'session_init' ? event.route : undefined;
}

function unknownRoute(runId: string): HoldfastError {
  return new HoldfastError(
    'WrongStore',
    `The store has no first event of the run ${runId}, which tells the route of its model.`,
    {
      hint: 'Start the worker with the store that the run was begun with (HOLDFAST_STORE). Where that store was restored from an older copy, `holdfast cancel RUN` ends the run.',
    },
  );
}
