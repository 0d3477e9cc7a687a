/** Where the values of an action stand word for word, of what the model had read when it proposed the action. */
import type { Json } from '../core/json/json.js';
import { amountText, at } from '../pure/headline.js';
import {
  standsIn,
  type Origin,
  type OriginPart,
  type SearchedText,
  type Wanted,
} from '../pure/origins.js';
import type { AskRow } from '../store/asks.js';

export type { Origin };

const VALUES_MAX = 40;
const DEPTH_MAX = 4;

/** Who said a text. */
export interface Said {
  readonly kind: 'user' | 'tool' | 'brief';
  readonly tool?: string;
  readonly part?: OriginPart;
}

export interface Read {
  readonly task?: SearchedText;
  /** The newest come last. */
  readonly sources: readonly (SearchedText & { readonly source: Said })[];
}

/** Figures of a budget are the run's own, and words are nobody's action. */
export function originsOf(ask: AskRow, read: Read): readonly Origin[] {
  if (ask.kind !== 'approval' && ask.kind !== 'outcome') return [];
  const wanted = withOwnPath(valuesIn(ask.args, '', DEPTH_MAX)).slice(0, VALUES_MAX);
  const declared = ask.card?.amount;
  return wanted.flatMap(({ path, raw }) => {
    const amount = declared?.path === path ? at(ask.args, path) : undefined;
    const shown = declared && amount !== undefined && amountText(declared, ask.args, amount);
    const found = originOf({ raw, ...(shown && { shown }) }, read);
    return found === undefined ? [] : [{ path, ...found }];
  });
}

function originOf(wanted: Wanted, { task, sources }: Read): Omit<Origin, 'path'> | undefined {
  const inTask = task && standsIn(wanted, task);
  if (inTask !== undefined) return { in: 'task', as: inTask };
  for (const { source, ...searched } of [...sources].reverse()) {
    const as = standsIn(wanted, searched);
    if (as === undefined) continue;
    const { kind, tool, part } = source;
    const of = part !== undefined && { part: { origin: part.origin, cycle: part.cycle } };
    return { in: kind, as, ...(tool !== undefined && { tool }), ...of };
  }
  return undefined;
}

interface Value {
  readonly path: string;
  readonly raw: string | number;
}

function valuesIn(value: Json | undefined, path: string, depth: number): readonly Value[] {
  if (typeof value === 'string' || typeof value === 'number') return [{ path, raw: value }];
  if (typeof value !== 'object' || value === null || depth === 0) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    valuesIn(part, path === '' ? name : `${path}.${name}`, depth - 1),
  );
}

/** A name may have points in it: of two values under one path nobody could tell which one is meant. */
function withOwnPath(values: readonly Value[]): readonly Value[] {
  const paths = new Set<string>();
  const shared = new Set<string>();
  for (const { path } of values) (paths.has(path) ? shared : paths).add(path);
  return values.filter(({ path }) => !shared.has(path));
}
