/**
 * What of an action people must not overlook: how much, and to whom. Found by the names of arguments, and so
 * only a help: the exact arguments stand beside it always. Pure.
 */
import type { Json } from '../data/api-types.js';

export interface Highlight {
  readonly name: string;
  readonly value: string;
  readonly exact: string;
}

export interface Highlights {
  readonly amounts: readonly Highlight[];
  readonly recipients: readonly Highlight[];
}

interface Leaf {
  readonly path: string;
  readonly key: string;
  readonly value: Json;
}

const AMOUNT = /amount|price|total|sum$|cents$|value$|budget$/i;
const RECIPIENT =
  /recipient|beneficiary|payee|^to$|iban|account|email|address|phone|order_?(id|no|number)?$|customer|^user|channel|^url$|host/i;
const CENTS = /cents|minor/i;
const CURRENCY = /^currency$/i;
const DEPTH_MAX = 3;
const FOUND_MAX = 4;
const ENTRIES_MAX = 100;

export function highlightsOf(args: Json | undefined): Highlights {
  const amounts: Highlight[] = [];
  const recipients: Highlight[] = [];
  const leaves = leavesOf(args, '', DEPTH_MAX);
  const currency = leaves.find(({ key }) => CURRENCY.test(key))?.value;
  const unit = typeof currency === 'string' ? currency : '';
  for (const { path, key, value } of leaves) {
    if (typeof value === 'number' && AMOUNT.test(key)) {
      amounts.push(amountOf({ path, key, value }, unit));
    } else if (RECIPIENT.test(key) && (typeof value === 'string' || typeof value === 'number')) {
      recipients.push({ name: path, value: String(value), exact: String(value) });
    }
  }
  return { amounts: amounts.slice(0, FOUND_MAX), recipients: recipients.slice(0, FOUND_MAX) };
}

function amountOf(
  { path, key, value }: Leaf & { readonly value: number },
  currency: string,
): Highlight {
  const unit = currency === '' ? '' : ` ${currency}`;
  const format = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  const shown = CENTS.test(key)
    ? (value / 100).toLocaleString('en', format)
    : value.toLocaleString('en', { maximumFractionDigits: 20 });
  const isShownExactly = shown === String(value);
  const exact = isShownExactly ? `${shown}${unit}` : `exactly ${value}`;
  return { name: path, value: `${shown}${unit}`, exact };
}

function leavesOf(value: Json | undefined, path: string, depth: number): readonly Leaf[] {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null) {
    return [{ path, key: path.slice(path.lastIndexOf('.') + 1), value }];
  }
  if (depth === 0) return [];
  return Object.entries(value)
    .slice(0, ENTRIES_MAX)
    .flatMap(([name, part]) => leavesOf(part, path === '' ? name : `${path}.${name}`, depth - 1));
}

const WORD_CHARS_MIN = 3;

/** The places of those texts that a value stands in, word for word: where the model may have it from. */
export function textsWith(value: Json, texts: readonly string[]): readonly number[] {
  if (typeof value !== 'string' && typeof value !== 'number') return [];
  const wanted = String(value);
  if (wanted.length < WORD_CHARS_MIN) return [];
  return texts.flatMap((text, place) => (text.includes(wanted) ? [place] : []));
}
