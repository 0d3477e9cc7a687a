/**
 * Where a value of an action stands word for word: in the task, or in what tools and people said before (G120).
 * Invariants: whole tokens only, never a part of a longer number, name or account; numbers are compared as numbers; what
 * is not certain is not said. Where a text is cut, what touches the cut is no token.
 */
import type { Json } from '../core/json/json.js';
import { decimalOf, isSameDecimal, type Decimal } from './decimal.js';

/** What is looked for: as the argument has it, and as the card shows it. */
export interface Wanted {
  readonly raw: string | number;
  /** `1,250.00 EUR`: an amount as people write it. */
  readonly shown?: string;
}

export interface SearchedText {
  readonly text: string;
  /** It goes on. */
  readonly isCut?: boolean;
}

/** Where a value of an action stands; the task may be the customer's own words. */
export interface Origin {
  readonly path: string;
  /** 'brief': what the goal of a cycle quoted to it as data. */
  readonly in: 'task' | 'user' | 'tool' | 'brief';
  readonly tool?: string | undefined;
  /** Of a brief: which part of it. */
  readonly part?: OriginPart | undefined;
  /** The amount as people write it, or only the number that the argument is. */
  readonly as: 'as shown' | 'raw';
}

export interface OriginPart {
  /** `plan`, `state`, `note`, `review`, `check`. */
  readonly origin: string;
  readonly cycle: number;
}

const PARTS: { readonly [origin: string]: string } = {
  plan: 'step of the plan',
  state: 'published value',
  note: 'note',
  review: 'review',
  check: 'check',
};

function partWords({ origin, cycle }: OriginPart): string {
  const noun = Object.hasOwn(PARTS, origin) ? PARTS[origin] : 'part';
  return `stands in a ${noun} of cycle ${cycle} (untrusted)`;
}

/** Before and behind the name of a tool, which comes from outside. */
export function originWords({ in: where, tool, part }: Pick<Origin, 'in' | 'tool' | 'part'>): {
  readonly before: string;
  readonly tool?: string;
  readonly after: string;
} {
  if (where === 'task') return { before: 'stands in the task', after: '' };
  if (where === 'brief') {
    return {
      before: part === undefined ? 'stands in the brief (untrusted)' : partWords(part),
      after: '',
    };
  }
  if (where === 'user') return { before: 'stands in a message of the user (untrusted)', after: '' };
  return { before: 'stands in the output of ', tool: tool ?? 'a tool', after: ' (untrusted)' };
}

const CHARS_MIN = 3;
const CHARS_MAX = 500;
const SEARCHED_CHARS_MAX = 262_144;
const LEAVES_MAX = 20_000;

/** How it stands there; undefined: not at all, or nobody can tell. */
export function standsIn(
  { raw, shown }: Wanted,
  { text, isCut = false }: SearchedText,
): 'as shown' | 'raw' | undefined {
  const searched = text.slice(0, SEARCHED_CHARS_MAX);
  const parts = partsOf(searched, isCut || searched.length < text.length);
  const amount = shown === undefined ? undefined : amountIn(shown);
  if (amount !== undefined && parts.some((part) => holdsNumber(part, amount))) return 'as shown';
  return parts.some((part) => holds(part, raw)) ? 'raw' : undefined;
}

/** `1,250.00 EUR` as a number. */
function amountIn(shown: string): Decimal | undefined {
  return decimalOf(/^-?[\d,]+(?:\.\d+)?/.exec(shown)?.[0].replaceAll(',', ''));
}

interface Part {
  readonly value: string | number;
  readonly isCut: boolean;
}

/** The values of a JSON text each by itself: there no comma joins two numbers. */
function partsOf(text: string, isCut: boolean): readonly Part[] {
  const value = isCut ? undefined : jsonIn(text);
  if (value === undefined) return [{ value: text, isCut }];
  const found: Part[] = [];
  const waiting: Json[] = [value];
  while (waiting.length > 0 && found.length < LEAVES_MAX) {
    const next = waiting.pop();
    if (typeof next === 'string' || typeof next === 'number') {
      found.push({ value: next, isCut: false });
    } else if (typeof next === 'object' && next !== null) {
      waiting.push(...(Object.values(next) as readonly Json[]).slice(0, LEAVES_MAX));
    }
  }
  return found;
}

function jsonIn(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function holds(part: Part, raw: string | number): boolean {
  const text = String(raw);
  if (text.trim().length < CHARS_MIN || text.length > CHARS_MAX) return false;
  const number = decimalOf(raw);
  if (number !== undefined && (typeof raw === 'number' || isPlainNumber(raw))) {
    return holdsNumber(part, number);
  }
  return typeof part.value === 'string' && holdsToken(part.value, text, part.isCut);
}

/** A text of digits with zeros in front is a name. */
function isPlainNumber(text: string): boolean {
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text);
}

/** Digits with separators, which nothing goes on from or leads up to. */
const NUMBERS =
  /(?<![\p{L}\p{N}\p{M}_])(?<![\p{L}\p{N}][-./:@+#,'’])-?\d+(?:[.,'’ \u00A0\u202F]\d+)*(?![\p{L}\p{N}\p{M}_]|[-./:@+#]\p{L}|[-/:@+#]\p{N})/gu;

function holdsNumber({ value, isCut }: Part, wanted: Decimal): boolean {
  if (typeof value === 'number') {
    const number = decimalOf(value);
    return number !== undefined && isSameDecimal(number, wanted);
  }
  for (const { 0: found, index } of value.matchAll(NUMBERS)) {
    if (isCut && index + found.length === value.length) continue;
    const number = numberIn(found);
    if (number !== undefined && isSameDecimal(number, wanted)) return true;
  }
  return false;
}

/** `1,250.00`, `1.250,00`, `1 250,00`, `1'250.00`, `48250.75`; undefined: it may be several. */
function numberIn(found: string): Decimal | undefined {
  const text = found.replaceAll('’', "'").replaceAll(/[\u00A0\u202F]/g, ' ');
  if (/^-?\d+$/.test(text)) return decimalOf(text);
  if (/^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(text)) return decimalOf(text.replaceAll(',', ''));
  if (/^-?\d{1,3}([ '])\d{3}(\1\d{3})*([.,]\d+)?$/.test(text)) {
    return decimalOf(text.replaceAll(/[ ']/g, '').replace(',', '.'));
  }
  if (/^-?\d{1,3}(\.\d{3})+,\d+$/.test(text) || /^-?\d{1,3}(\.\d{3}){2,}$/.test(text)) {
    return decimalOf(text.replaceAll('.', '').replace(',', '.'));
  }
  // `1.250` is one and a quarter to some and twelve hundred and fifty to others.
  if (/^-?[1-9]\d{0,2}\.\d{3}$/.test(text)) return undefined;
  if (/^-?\d+\.\d+$/.test(text)) return decimalOf(text);
  if (/^-?\d+,\d{1,2}$/.test(text)) return decimalOf(text.replace(',', '.'));
  return undefined;
}

/** Characters that are looked at on either side. */
const NEAR = 12;
/** What makes what follows, or what came before, the part of something longer. */
const LEADS = /[\p{L}\p{N}\p{M}_]$|[\p{L}\p{N}\p{M}_][-./:@+#&=%~$\\]$/u;
const GOES_ON = /^[\p{L}\p{N}\p{M}_]|^[-./:@+#&=%~$\\][\p{L}\p{N}\p{M}_]/u;

/** It stands there whole: neither it nor the group that it belongs to goes on. */
function holdsToken(text: string, wanted: string, isCut: boolean): boolean {
  const token = wanted.trim();
  if (isGrouped(token)) return holdsGroups(text, token, isCut);
  for (let from = text.indexOf(token); from >= 0; from = text.indexOf(token, from + 1)) {
    const end = from + token.length;
    if (!(isCut && end === text.length) && isWhole(text, from, end)) return true;
  }
  return false;
}

function isWhole(text: string, from: number, end: number): boolean {
  const before = text.slice(Math.max(0, from - NEAR), from);
  const after = text.slice(end, end + NEAR);
  return !LEADS.test(before) && !GOES_ON.test(after);
}

/** Numbers of accounts, cards and phones, which people write in groups. */
function isGrouped(token: string): boolean {
  const bare = token.replaceAll(/[ -]/g, '');
  return bare.length >= 8 && /^\+?[A-Z0-9 -]+$/.test(token) && /\d{4}/.test(bare);
}

/** The same groups, however they are spaced; no other group stands before or behind them. */
function holdsGroups(text: string, token: string, isCut: boolean): boolean {
  const bare = token.replaceAll(/[ -]/g, '').split('');
  const signs = bare.map((sign) => (sign === '+' ? '\\+' : sign));
  const pattern = new RegExp(signs.join('[ \\u00A0\\u202F-]?'), 'gu');
  for (const { 0: found, index } of text.matchAll(pattern)) {
    const end = index + found.length;
    if (isCut && end === text.length) continue;
    const [before, after] = [text.slice(Math.max(0, index - 12), index), text.slice(end, end + 12)];
    const leads =
      /[\p{L}\p{N}_]$|[-./:@+#]$|\d[ \u00A0\u202F]$|(?<![\p{L}\p{N}])[A-Z]{2}\d{2}[ \u00A0\u202F]$/u.test(
        before,
      );
    const isJson = /["':=]$/.test(before) && /^["']/.test(after);
    const goesOn =
      /^[\p{L}\p{N}_]|^[-./:@+#][\p{L}\p{N}]|^[ \u00A0\u202F-]\d|^[ \u00A0\u202F](?![A-Z]{3}(?![A-Z0-9]))[A-Z0-9]{1,4}(?![\p{L}\p{N}])/u.test(
        after,
      );
    if ((!leads || isJson) && !goesOn) return true;
  }
  return false;
}
