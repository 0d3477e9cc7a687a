/**
 * What a tool says of the card of its question, checked where it is written.
 * Invariant: every path that a card names is one that the schema of the tool knows or leaves open.
 */
import { HoldfastError } from '../core/state/errors.js';
import type { Json } from '../core/json/json.js';
import { currencyDigits } from '../pure/currencies.js';
import { hasUnseen } from '../pure/unseen.js';
import { isCurrencyCode, type ToolCard } from '../core/state/tool-card.js';
import { mayHave } from './declared-fields.js';
import { shown } from './known-fields.js';
import { isRecord } from '../pure/options.js';

/** `labels`: what people read in place of the names of arguments. */
export type CardDeclaration = ToolCard;

const LABELS_MAX = 40;
const LABEL_CHARS_MAX = 60;
const PATH_CHARS_MAX = 200;
const FIELDS = ['amount', 'recipient', 'reference', 'labels'];
const HINT =
  "Use card: {amount: {path: 'amountCents', unit: 'minor', currency: 'EUR'}, recipient: 'iban', labels: {…}}.";

/** Undefined: the tool declares none. Errors: InvalidTool. */
export function cardOf(tool: string, declared: unknown, schema: Json): ToolCard | undefined {
  if (declared === undefined) return undefined;
  if (!isRecord(declared)) throw wrong(tool, 'its card is no object', HINT);
  const other = Object.keys(declared).find((name) => !FIELDS.includes(name));
  if (other !== undefined) throw wrong(tool, `card.${other} is unknown`, HINT);
  const { amount, recipient, reference, labels } = declared;
  const card: ToolCard = {
    ...(amount !== undefined && { amount: amountOf(tool, amount, schema) }),
    ...(recipient !== undefined && {
      recipient: knownPath(tool, { name: 'card.recipient', path: recipient, schema }),
    }),
    ...(reference !== undefined && { reference: pathIn(tool, 'card.reference', reference) }),
    ...(labels !== undefined && { labels: labelsOf(tool, labels, schema) }),
  };
  return Object.freeze(card);
}

function amountOf(tool: string, declared: unknown, schema: Json): NonNullable<ToolCard['amount']> {
  const { path, unit, currency, ...others } = isRecord(declared) ? declared : {};
  if (Object.keys(others).length > 0) throw wrong(tool, 'card.amount says too much', HINT);
  if (unit !== 'minor' && unit !== 'major') {
    const hint = "Say unit: 'minor' for cents and the like, 'major' for whole euros and the like.";
    throw wrong(tool, `card.amount.unit is ${shown(unit)}`, hint);
  }
  const found = knownPath(tool, { name: 'card.amount.path', path, schema });
  return Object.freeze({ path: found, unit, currency: currencyOf(tool, currency, schema) });
}

function currencyOf(tool: string, currency: unknown, schema: Json): string {
  if (typeof currency === 'string' && isCurrencyCode(currency)) {
    if (currencyDigits(currency) !== undefined) return currency;
    throw wrong(tool, `card.amount.currency is ${currency}, which is no currency`, HINT);
  }
  return knownPath(tool, { name: 'card.amount.currency', path: currency, schema });
}

function labelsOf(tool: string, declared: unknown, schema: Json): NonNullable<ToolCard['labels']> {
  const entries = isRecord(declared) ? Object.entries(declared) : [];
  if (entries.length === 0 || entries.length > LABELS_MAX) {
    throw wrong(tool, 'card.labels is no object of 1 to 40 labels', HINT);
  }
  for (const [path, label] of entries) {
    knownPath(tool, { name: 'a path of card.labels', path, schema });
    const isText = typeof label === 'string' && label.trim() !== '';
    if (!isText || label.length > LABEL_CHARS_MAX || hasUnseen(label)) {
      const hint = `Write 1 to ${LABEL_CHARS_MAX} characters on one line.`;
      throw wrong(tool, `card.labels of ${JSON.stringify(path)} is no label`, hint);
    }
  }
  return Object.freeze(Object.fromEntries(entries) as { [path: string]: string });
}

interface Named {
  readonly name: string;
  readonly path: unknown;
  readonly schema: Json;
}

function knownPath(tool: string, { name, path, schema }: Named): string {
  const found = pathIn(tool, name, path);
  if (mayHave(schema, found.split('.'))) return found;
  throw wrong(tool, `${name} is ${JSON.stringify(found)}, which its input does not have`, HINT);
}

function pathIn(tool: string, name: string, path: unknown): string {
  if (typeof path === 'string' && path !== '' && path.length <= PATH_CHARS_MAX) return path;
  throw wrong(tool, `${name} is no path`, 'Name an argument; dots lead into objects: to.iban.');
}

function wrong(tool: string, what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidTool', `Tool ${tool}: ${what}.`, { hint });
}
