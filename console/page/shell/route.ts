/** Which view an address names. */

export interface Place {
  /** Two addresses of one key are one view, which is only told of the new one. */
  readonly key: string;
  readonly view:
    | 'inbox'
    | 'runs'
    | 'failures'
    | 'run'
    | 'diff'
    | 'goals'
    | 'goal'
    | 'evidence'
    | 'brief'
    | 'freezes'
    | 'trail'
    | 'connectors';
  readonly id?: string;
  /**
   * Of what `id` names: an id of evidence, the number of a cycle and the digest of its brief, the
   * number of a step, another run.
   */
  readonly part?: string;
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
  { path: /^\/connectors$/, view: 'connectors' },
  { path: /^\/goals$/, view: 'goals' },
  { path: /^\/goals\/(?<id>[^/]+)$/, view: 'goal' },
  { path: /^\/goals\/(?<id>[^/]+)\/evidence\/(?<part>[^/]+)$/, view: 'evidence' },
  { path: /^\/goals\/(?<id>[^/]+)\/briefs\/(?<part>\d+(?:\/[0-9a-f]{64})?)$/, view: 'brief' },
  { path: /^\/runs$/, view: 'runs' },
  { path: /^\/failures$/, view: 'failures' },
  { path: /^\/runs\/(?<id>[^/]+)\/diff\/(?<part>[^/]+)$/, view: 'diff' },
  { path: /^\/runs\/(?<id>[^/]+)(?:\/steps\/(?<part>\d{1,9}))?$/, view: 'run' },
];

/** Undefined: there is no such page. */
export function placeOf(path: string): Place | undefined {
  for (const route of ROUTES) {
    const match = route.path.exec(path);
    if (match === null) continue;
    const { view } = route;
    const id = decoded(match.groups?.['id']);
    const part = decoded(match.groups?.['part']);
    const named = { ...(id !== undefined && { id }), ...(part !== undefined && { part }) };
    return { view, key: keyOf(view, named), ...named };
  }
  return undefined;
}

/** Questions are shown beside their list; everything else that has a name is a view of its own. */
function keyOf(view: Place['view'], { id, part }: Pick<Place, 'id' | 'part'>): string {
  return view === 'inbox' || id === undefined ? view : JSON.stringify([view, id, part]);
}

function decoded(encoded: string | undefined): string | undefined {
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
