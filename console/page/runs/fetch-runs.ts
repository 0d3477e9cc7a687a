/** A page of the server's list of runs. */
import { get } from '../data/api.js';
import { parametersOf } from './conditions.js';
import { microUsdFrom, orderOf, PAGE_ROWS, type RunFilters, type RunsPage } from './known-runs.js';

interface PageWanted {
  readonly filters: RunFilters;
  readonly cursor?: string | undefined;
  readonly signal?: AbortSignal;
}

export function fetchRuns({ filters, cursor, signal }: PageWanted): Promise<RunsPage> {
  const query = new URLSearchParams({ limit: String(PAGE_ROWS) });
  if (filters.status !== '') query.set('status', filters.status);
  if (filters.agent.trim() !== '') query.set('agent', filters.agent.trim());
  if (microUsdFrom(filters) > 0) query.set('costFrom', String(microUsdFrom(filters)));
  for (const [name, value] of parametersOf(filters.written)) query.set(name, value);
  const order = orderOf(filters);
  if (order !== 'started') query.set('sort', order);
  if (cursor !== undefined) query.set('cursor', cursor);
  return get(`/v1/runs?${query.toString()}`, signal);
}
