/** Which view an address names. */

export interface Place {
  /** Two addresses of one key are one view, which is only told of the new one. */
  readonly key: string;
  readonly view: 'inbox' | 'runs' | 'run' | 'freezes' | 'trail';
  readonly id?: string;
}

interface Route {
  readonly path: RegExp;
  readonly view: Place['view'];
}

const ROUTES: readonly Route[] = [
  { path: /^\/(?:index\.html)?$/, view: 'inbox' },
  { path: /^\/(?:inbox|approvals|questions)\/(?<id>[^/]+)$/, view: 'inbox' },
  { path: /^\/freezes$/, view: 'freezes' },
  { path: /^\/trail$/, view: 'trail' },
  { path: /^\/runs$/, view: 'runs' },
  { path: /^\/runs\/(?<id>[^/]+)$/, view: 'run' },
];

/** Undefined: there is no such page. */
export function placeOf(path: string): Place | undefined {
  for (const route of ROUTES) {
    const match = route.path.exec(path);
    if (match === null) continue;
    const { view } = route;
    const id = decoded(match.groups?.['id']);
    // Each run is a view of its own.
    return { view, key: view === 'run' ? `run ${id}` : view, ...(id !== undefined && { id }) };
  }
  return undefined;
}

function decoded(encoded: string | undefined): string | undefined {
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
