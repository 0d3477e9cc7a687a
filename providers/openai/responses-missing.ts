/** What a stream announced of its response and never brought, in words of bounded length. */

export interface Arrivals {
  readonly items: readonly { readonly at: number; readonly done: boolean }[];
  /** How many places events have named. */
  readonly places: number;
}

/** Above this many, places are counted and not listed. */
const LISTED_MAX = 10;

/** Of a response that ended; undefined: nothing is missing. */
export function missingOf({ items, places }: Arrivals, completed: boolean): string | undefined {
  const came = new Set(items.map(({ at }) => at));
  const lost = Array.from({ length: places }, (_, at) => at).filter((at) => !came.has(at));
  // What was cut off has no end, as its vendor says.
  const open = completed ? items.filter(({ done }) => !done).map(({ at }) => at) : [];
  const names = [
    ...(lost.length > 0 ? [listed(lost)] : []),
    ...(open.length > 0 ? [`the end of ${listed(open)}`] : []),
  ];
  return names.length === 0 ? undefined : `${names.join(' and ')} of the response`;
}

function listed(places: readonly number[]): string {
  if (places.length > LISTED_MAX) return `${places.length} items`;
  return `${places.length === 1 ? 'item' : 'items'} ${places.join(', ')}`;
}
