/** What a run and the runs below it paid, by route. */
import type { RouteCost } from '../../store/route-costs.js';
import type { RunTree } from '../../client/read/run-tree.js';
import type { Session } from '../session.js';
import type { RunName } from '../../store/changes.js';
import { inert, plural, usdText } from '../render/index.js';
import type { DeskApi } from './desk-api.js';

export type PaidRoutes = Pick<RunTree, 'runs' | 'routes' | 'leftOut'>;

export const NOTHING_PAID: PaidRoutes = { runs: [], routes: [] };

/** Errors: StoreUnavailable. */
export async function paidIn(session: Session, name: RunName): Promise<PaidRoutes> {
  const store = await session.store();
  if (store === undefined) return NOTHING_PAID;
  const { readTree } = await import('../../client/read/run-tree.js');
  return (await readTree(store, name)) ?? NOTHING_PAID;
}

/** An older desk does not tell. */
export async function paidAtDesk(api: DeskApi, path: string): Promise<PaidRoutes> {
  return api.get(`${path}/tree`).then(
    (told) => told as unknown as PaidRoutes,
    () => NOTHING_PAID,
  );
}

/** Of a run alone that asked one model its cost says enough. */
export function routeLines({ runs, routes }: PaidRoutes): readonly string[] {
  if (runs.length < 2 && routes.length < 2) return [];
  const whose = runs.length < 2 ? '' : ', with the runs below it';
  return routes.map((route) => `${routeText(route)}${whose}`);
}

function routeText({ model, calls, usage, costMicroUsd }: RouteCost): string {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  const replies = plural(calls, 'reply', 'replies');
  const tokens = `${plural(input, 'token')} in, ${usage.output} out`;
  return `paid to ${inert(model, 100)}: ${replies}, ${tokens}, ${usdText(costMicroUsd)}`;
}
