/** The texts that rules hide. */
import { HoldfastError } from '../../core/state/errors.js';
import type { Json } from '../../core/json/json.js';
import { pathWithin } from '../first-difference.js';
import { isObject, type JsonObject } from '../../recording/history.js';
import type { Document } from './documents.js';
import { layersOf } from './escapes.js';
import type { Values } from './recorded.js';
import type { RedactionRule } from './rules.js';

/** Every occurrence is replaced: of a shorter text there would be too many that mean something else. */
const TEXT_CHARS_MIN = 4;
const TEXTS_MAX = 5_000;
/** JSON within texts is looked into so deep. */
const TEXT_LEVELS_MAX = 8;

/** A place as it is shown: names in it may be anybody's. */
const PLACE_CHARS_MAX = 300;

/** Name of the rule by hidden text. */
export type HiddenTexts = ReadonlyMap<string, string>;

interface Selection {
  readonly rules: readonly RedactionRule[];
  readonly hidden: Map<string, string>;
  /** Names of the rules that have found a text, also one that another rule hides already. */
  readonly matched: Set<string>;
}

interface Selected {
  readonly hidden: HiddenTexts;
  /** Names of the rules that have found no text. */
  readonly unmatched: readonly string[];
}

/** A value of a document, and where it stands. */
interface Spot {
  readonly document: Document;
  readonly path: string;
  /** JSON texts that it is inside of. */
  readonly level: number;
  /** Part of a JSON Schema: the names in it declare data, and nothing there is data under a name. */
  readonly inSchema: boolean;
}

/** Errors: `RedactionRefused` for what cannot be hidden, with its place. */
export async function hiddenTexts(
  documents: Values<Document>,
  rules: readonly RedactionRule[],
): Promise<Selected> {
  const selection = { rules, hidden: new Map<string, string>(), matched: new Set<string>() };
  for await (const document of documents) {
    const { value, path } = document;
    lookIntoWhole(selection, value, { document, path, level: 0, inSchema: false });
  }
  const { hidden, matched } = selection;
  const unmatched = rules.map(({ name }) => name).filter((name) => !matched.has(name));
  return { hidden, unmatched };
}

/** A document, or JSON within a text. */
function lookIntoWhole(selection: Selection, value: Json, spot: Spot): void {
  for (const rule of selection.rules) {
    if (!('pointer' in rule)) continue;
    const path = `${spot.path}${rule.pointer}`;
    hideAll(selection, valueAt(value, rule.pointer), { rule, spot: { ...spot, path } });
  }
  lookInto(selection, value, spot);
}

function lookInto(selection: Selection, value: Json, spot: Spot): void {
  const inSchema = spot.inSchema || spot.document.schemas.has(value);
  if (typeof value === 'string') return lookIntoText(selection, value, { ...spot, inSchema });
  if (typeof value !== 'object' || value === null) return;
  if (!inSchema && isObject(value)) hideNamed(selection, value, spot);
  for (const [inner, path] of parts(value, spot.path)) {
    lookInto(selection, inner, { ...spot, path, inSchema });
  }
}

function hideNamed(selection: Selection, value: JsonObject, spot: Spot): void {
  for (const rule of selection.rules) {
    if (!('key' in rule) || !Object.hasOwn(value, rule.key)) continue;
    const path = pathWithin(spot.path, rule.key);
    hideAll(selection, value[rule.key], { rule, spot: { ...spot, path } });
  }
}

function lookIntoText(selection: Selection, text: string, spot: Spot): void {
  for (const rule of selection.rules) {
    if (!('pattern' in rule)) continue;
    // What JSON within a text says is in the layers of the whole.
    for (const layer of spot.level === 0 ? layersOf(text) : [text]) {
      for (const [match] of layer.matchAll(rule.pattern)) hide(selection, match, { rule, spot });
    }
  }
  const inner = spot.level < TEXT_LEVELS_MAX ? jsonWithin(text) : undefined;
  if (inner === undefined) return;
  const path = `${spot.path}(JSON)`;
  lookIntoWhole(selection, inner, { ...spot, path, level: spot.level + 1 });
}

interface Finding {
  readonly rule: RedactionRule;
  readonly spot: Spot;
}

/** All texts of a value that a rule has found; a schema in it only where the rule names its very place. */
function hideAll(selection: Selection, value: Json | undefined, { rule, spot }: Finding): void {
  if (value === undefined || value === null) return;
  if ('key' in rule && spot.document.schemas.has(value)) return;
  if (typeof value === 'string') return hide(selection, value, { rule, spot });
  if (typeof value !== 'object') {
    throw refused(
      `Rule ${rule.name} finds a ${typeof value} at ${placeOf(spot)}; only text can be hidden.`,
      'Numbers, true and false take part in what a run decides, and stay. Find the texts beside it by a pointer or a regex instead.',
    );
  }
  for (const [inner, path] of parts(value, spot.path)) {
    hideAll(selection, inner, { rule, spot: { ...spot, path } });
  }
}

function hide({ hidden, matched }: Selection, text: string, { rule, spot }: Finding): void {
  if (text === '') return;
  matched.add(rule.name);
  if (hidden.has(text)) return;
  if (text.length < TEXT_CHARS_MIN) {
    throw refused(
      `Rule ${rule.name} finds a text of ${text.length} characters at ${placeOf(spot)}, which is too short to be found again.`,
      `A hidden text has at least ${TEXT_CHARS_MIN} characters; let the rule match more.`,
    );
  }
  hidden.set(text, rule.name);
  if (hidden.size > TEXTS_MAX) {
    throw refused(`The rules find more than ${TEXTS_MAX} texts.`, 'Let them match less.');
  }
}

/** What a list or an object holds, with paths. */
function parts(value: object, path: string): readonly (readonly [Json, string])[] {
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map((one, index) => [one, `${path}[${index}]`]);
  }
  return Object.entries(value as JsonObject).map(([name, one]) => [one, pathWithin(path, name)]);
}

function placeOf({ document: { source }, path }: Spot): string {
  return shownPlace(path === '' ? source : `${source}, ${path}`);
}

export function shownPlace(place: string): string {
  const half = PLACE_CHARS_MAX / 2;
  return place.length > PLACE_CHARS_MAX ? `${place.slice(0, half)}…${place.slice(-half)}` : place;
}

/** Results of tools are often JSON within a text. */
function jsonWithin(text: string): Json | undefined {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** RFC 6901. */
function valueAt(value: Json, pointer: string): Json | undefined {
  const names = pointer.split('/').slice(1);
  let place: Json | undefined = value;
  for (const raw of names) {
    const name = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(place)) place = (place as readonly Json[])[Number(name)];
    else place = isObject(place) && Object.hasOwn(place, name) ? place[name] : undefined;
  }
  return place;
}

export function refused(
  message: string,
  hint: string,
  details?: { readonly [name: string]: unknown },
): HoldfastError {
  return new HoldfastError('RedactionRefused', message, {
    hint,
    ...(details !== undefined && { details }),
  });
}
