/** A page of the server's list of what waits. */
import { get } from '../data/api.js';
import type { InboxPage } from '../data/api-types.js';
import type { InboxFilters } from './known-asks.js';

interface PageWanted {
  readonly filters: InboxFilters;
  readonly limit: number;
  readonly cursor?: string;
  readonly signal: AbortSignal;
}

export function fetchAsks({ filters, limit, cursor, signal }: PageWanted): Promise<InboxPage> {
  const query = new URLSearchParams({ limit: String(limit) });
  if (filters.search.trim() !== '') query.set('search', filters.search.trim());
  if (filters.kind !== '') query.set('kind', filters.kind);
  if (filters.state !== 'pending') query.set('state', filters.state);
  if (cursor !== undefined) query.set('cursor', cursor);
  return get(`/v1/inbox?${query.toString()}`, signal);
}
