/** The texts that rules hide. */
import { HoldfastError } from '../../core/errors.js';
import type { Json } from '../../core/json.js';
import { isObject } from '../history.js';
import type { RedactionRule } from './rules.js';

/** Every occurrence is replaced: of a shorter text there would be too many that mean something else. */
const TEXT_CHARS_MIN = 4;
const TEXTS_MAX = 5_000;
/** JSON within texts is looked into so deep. */
const TEXT_LEVELS_MAX = 4;

/** Name of the rule by hidden text. */
export type HiddenTexts = ReadonlyMap<string, string>;

/** Errors: `RedactionRefused` for what cannot be hidden. */
export function hiddenTexts(
  documents: readonly Json[],
  rules: readonly RedactionRule[],
): HiddenTexts {
  const hidden = new Map<string, string>();

  function hide(text: string, rule: string): void {
    if (text === '' || hidden.has(text)) return;
    if (text.length < TEXT_CHARS_MIN) {
      throw refused(
        `Rule ${rule} finds a text of ${text.length} characters, which is too short to be found again.`,
        `A hidden text has at least ${TEXT_CHARS_MIN} characters; let the rule match more.`,
      );
    }
    hidden.set(text, rule);
    if (hidden.size > TEXTS_MAX) {
      throw refused(`The rules find more than ${TEXTS_MAX} texts.`, 'Let them match less.');
    }
  }

  /** All texts of a value that a rule has found. */
  function hideAll(value: Json | undefined, rule: string): void {
    if (typeof value === 'string') return hide(value, rule);
    if (value === undefined || value === null) return;
    if (typeof value !== 'object') {
      throw refused(
        `Rule ${rule} finds a ${typeof value}; only text can be hidden.`,
        'Numbers take part in what a run decides; leave them out of the rule.',
      );
    }
    for (const inner of Object.values(value)) hideAll(inner as Json, rule);
  }

  function visit(value: Json, level: number): void {
    if (typeof value === 'string') {
      for (const rule of rules) {
        if (!('pattern' in rule)) continue;
        for (const [match] of value.matchAll(rule.pattern)) hide(match, rule.name);
      }
      const inner = level < TEXT_LEVELS_MAX ? jsonWithin(value) : undefined;
      if (inner !== undefined) document(inner, level + 1);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value) as [string, Json][]) {
      for (const rule of rules) {
        if ('key' in rule && rule.key === name && !Array.isArray(value)) hideAll(inner, rule.name);
      }
      visit(inner, level);
    }
  }

  function document(value: Json, level: number): void {
    for (const rule of rules) {
      if ('pointer' in rule) hideAll(valueAt(value, rule.pointer), rule.name);
    }
    visit(value, level);
  }

  for (const value of documents) document(value, 0);
  return hidden;
}

/** Results of tools are often JSON within a text. */
function jsonWithin(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
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

export function refused(message: string, hint: string): HoldfastError {
  return new HoldfastError('RedactionRefused', message, { hint });
}
