/**
 * Refuses input schemas that cannot travel: what the model is told, what a person approves and what the
 * tool gets must be the same JSON, so parsing an already parsed value must change nothing.
 * Invariant: total and bounded; each schema object is visited once.
 */
import type { z } from 'zod';

const NODES_MAX = 5_000;
/** What an idempotent text rewrite (trim, lower case, normalize) must leave alone the second time. */
const TEXT_SAMPLES = [' Ab ', 'éÅ\u0301', 'a b', '', 'ß', '-1'];

const REFUSED: Readonly<Record<string, string>> = {
  transform: 'a transform or preprocess step',
  catch: 'a catch value that hides invalid input',
  date: 'a Date',
  bigint: 'a bigint',
  map: 'a Map',
  set: 'a Set',
  symbol: 'a symbol',
  undefined: 'undefined',
  void: 'void',
  nan: 'NaN',
  function: 'a function',
  promise: 'a promise',
  custom: 'a custom check without a JSON type (z.custom or z.instanceof)',
  file: 'a file',
  success: 'a success flag',
};

/** As much of a schema's definition as the walk needs; zod documents `_zod.def` for this purpose. */
interface SchemaDef {
  readonly type?: string;
  readonly coerce?: boolean;
  readonly defaultValue?: unknown;
  readonly checks?: readonly { readonly _zod: { readonly def: CheckDef } }[];
  readonly transform?: unknown;
  readonly [part: string]: unknown;
}

interface CheckDef {
  readonly check?: string;
  readonly tx?: (value: unknown) => unknown;
  /** Of `refine`. */
  readonly fn?: unknown;
}

export interface SchemaDefect {
  /** Dotted path of the offending part; empty for the schema itself. */
  readonly path: string;
  readonly what: string;
}

/** The first part of a schema that cannot travel, or undefined. */
export function findSchemaDefect(schema: z.ZodType): SchemaDefect | undefined {
  return findPart(schema, defectOf);
}

/** Of an intersection zod tells the fields alone, not that a part lets others pass; of a pipe what comes in, not what comes out. */
const UNTOLD: readonly (string | undefined)[] = ['intersection', 'pipe'];

export function isTold(schema: z.ZodType): boolean {
  return findPart(schema, ({ type }) => (UNTOLD.includes(type) ? type : undefined)) === undefined;
}

function findPart(
  schema: z.ZodType,
  whatOf: (def: SchemaDef) => string | undefined,
): SchemaDefect | undefined {
  const seen = new Set<unknown>();
  const queue: { readonly part: unknown; readonly path: string }[] = [{ part: schema, path: '' }];
  for (let visited = 0; queue.length > 0; visited += 1) {
    const next = queue.pop();
    if (next === undefined || seen.has(next.part)) continue;
    if (visited > NODES_MAX) return { path: next.path, what: `more than ${NODES_MAX} parts` };
    seen.add(next.part);
    const def = defOf(next.part);
    if (def === undefined) continue;
    const what = whatOf(def);
    if (what !== undefined) return { path: next.path, what };
    queue.push(...partsOf(def, next.path));
  }
  return undefined;
}

function defectOf(def: SchemaDef): string | undefined {
  if (def.coerce === true) return 'a coercion';
  if (typeof def.transform === 'function') return 'a codec';
  if (def.type !== undefined && Object.hasOwn(REFUSED, def.type)) return REFUSED[def.type];
  if (def.type === 'default' || def.type === 'prefault') {
    const [first, second] = [JSON.stringify(def.defaultValue), JSON.stringify(def.defaultValue)];
    if (first !== second) return 'a default that changes';
  }
  if (def.checks?.some(({ _zod }) => isAsync(_zod.def.fn))) return 'an asynchronous check';
  const rewrite = def.checks?.find(({ _zod }) => _zod.def.check === 'overwrite')?._zod.def.tx;
  if (rewrite !== undefined && !isIdempotentOnText(rewrite)) return 'an overwrite step';
  return undefined;
}

/** A plain function that gives a promise is found by its first call only. */
function isAsync(check: unknown): boolean {
  return Object.prototype.toString.call(check) === '[object AsyncFunction]';
}

function isIdempotentOnText(rewrite: (value: unknown) => unknown): boolean {
  try {
    return TEXT_SAMPLES.every((text) => {
      const once = rewrite(text);
      return typeof once === 'string' && rewrite(once) === once;
    });
  } catch {
    return false;
  }
}

function partsOf(
  def: SchemaDef,
  path: string,
): { readonly part: unknown; readonly path: string }[] {
  const below = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const parts: { part: unknown; path: string }[] = [];
  if (typeof def['shape'] === 'object' && def['shape'] !== null) {
    for (const [name, part] of Object.entries(def['shape']))
      parts.push({ part, path: below(name) });
  }
  for (const name of ['options', 'items']) {
    const list = def[name];
    if (Array.isArray(list)) for (const part of list) parts.push({ part, path });
  }
  for (const name of ['innerType', 'in', 'out', 'left', 'right', 'catchall', 'rest', 'keyType']) {
    parts.push({ part: def[name], path });
  }
  parts.push({ part: def['element'], path: below('[]') });
  parts.push({ part: def['valueType'], path: below('*') });
  if (typeof def['getter'] === 'function') {
    parts.push({ part: (def['getter'] as () => unknown)(), path });
  }
  return parts.filter(({ part }) => defOf(part) !== undefined);
}

function defOf(part: unknown): SchemaDef | undefined {
  if (typeof part !== 'object' || part === null) return undefined;
  return (part as { _zod?: { def?: SchemaDef } })._zod?.def;
}
