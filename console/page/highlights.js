/**
 * What of an action people must not overlook: how much, and to whom. Found by the names of arguments, and so
 * only a help: the exact arguments stand beside it always. Pure.
 */

/** @typedef {import('./data/api-types.ts').Json} Json */
/** @typedef {{ readonly name: string, readonly value: string, readonly exact: string }} Highlight */

const AMOUNT = /amount|price|total|sum$|cents$|value$|budget$/i;
const RECIPIENT =
  /recipient|beneficiary|payee|^to$|iban|account|email|address|phone|order_?(id|no|number)?$|customer|^user|channel|^url$|host/i;
const CENTS = /cents|minor/i;
const CURRENCY = /^currency$/i;
const DEPTH_MAX = 3;
const FOUND_MAX = 4;

/**
 * @param {Json | undefined} args
 * @returns {{ readonly amounts: Highlight[], readonly recipients: Highlight[] }}
 */
export function highlightsOf(args) {
  /** @type {Highlight[]} */
  const amounts = [];
  /** @type {Highlight[]} */
  const recipients = [];
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

/**
 * @param {{ path: string, key: string, value: number }} leaf
 * @param {string} currency
 * @returns {Highlight}
 */
function amountOf({ path, key, value }, currency) {
  const unit = currency === '' ? '' : ` ${currency}`;
  const format = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  const shown = CENTS.test(key)
    ? (value / 100).toLocaleString('en', format)
    : value.toLocaleString('en', { maximumFractionDigits: 20 });
  const isShownExactly = shown === String(value);
  const exact = isShownExactly ? `${shown}${unit}` : `exactly ${value}`;
  return { name: path, value: `${shown}${unit}`, exact };
}

/**
 * @param {Json | undefined} value
 * @param {string} path
 * @param {number} depth
 * @returns {{ path: string, key: string, value: Json }[]}
 */
export function leavesOf(value, path, depth) {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null) {
    return [{ path, key: path.slice(path.lastIndexOf('.') + 1), value }];
  }
  if (depth === 0) return [];
  return Object.entries(value)
    .slice(0, 100)
    .flatMap(([name, part]) => leavesOf(part, path === '' ? name : `${path}.${name}`, depth - 1));
}

const WORD_CHARS_MIN = 3;

/**
 * Which of these texts a value stands in, word for word: where the model may have it from.
 * @param {Json} value
 * @param {readonly string[]} texts
 * @returns {number[]} Their places.
 */
export function textsWith(value, texts) {
  if (typeof value !== 'string' && typeof value !== 'number') return [];
  const wanted = String(value);
  if (wanted.length < WORD_CHARS_MIN) return [];
  return texts.flatMap((text, place) => (text.includes(wanted) ? [place] : []));
}
