/**
 * Which later calls a standing grant covers: one row for each argument, from "exactly as here" to "anything". Pure.
 * Invariant: without a word of the person a row is as narrow as the run can compare it.
 */
import type { Ask, GrantCondition, Json, Schema } from '../data/api-types.js';
import { inertText } from '../parts/inert-text.js';

export type Width = 'exactly' | 'at most' | 'not given' | 'anything';

export interface Row {
  readonly id: string;
  readonly name: string;
  /** Undefined: the argument is not given. */
  readonly value: Json | undefined;
  /** The first one is what the row says without a word of the person. */
  readonly widths: readonly [Width, ...Width[]];
}

/** What somebody has said of a row. */
export interface RowDraft {
  readonly width?: Width;
  /** Of the width "at most", as it was written. */
  readonly most?: string;
}

export type RowRead =
  /** Undefined: the argument may be anything. */
  | { readonly ok: true; readonly condition: GrantCondition | undefined }
  | { readonly ok: false; readonly fault: string; readonly fieldId: string };

/** What the run can compare (core/messages/parse-grant.ts). */
const NAME_CHARS_MAX = 128;
const EQUALS_CHARS_MAX = 1_024;

/** Of the arguments that are given, and of those that the schema knows besides. */
export function grantRows(args: Json | undefined, schema: Schema | undefined): readonly Row[] {
  const given = typeof args === 'object' && args !== null && !Array.isArray(args) ? args : {};
  const others = Object.keys(schema?.properties ?? {}).filter(
    (name) => !Object.hasOwn(given, name),
  );
  const entries: readonly (readonly [string, Json | undefined])[] = [
    ...Object.entries(given),
    ...others.map((name) => [name, undefined] as const),
  ];
  return entries.map(([name, value], place) => ({
    id: `grant-${place}`,
    name,
    value,
    widths: widthsOf(name, value),
  }));
}

function widthsOf(name: string, value: Json | undefined): Row['widths'] {
  if (name === '' || name.includes('.') || name.length > NAME_CHARS_MAX) return ['anything'];
  if (value === undefined) return ['not given', 'anything'];
  if (JSON.stringify(value).length > EQUALS_CHARS_MAX) return ['anything'];
  return typeof value === 'number' ? ['exactly', 'at most', 'anything'] : ['exactly', 'anything'];
}

export function widthOf({ widths }: Row, { width }: RowDraft = {}): Width {
  return width ?? widths[0];
}

export function mostOf({ value }: Row, { most }: RowDraft = {}): string {
  return most ?? (typeof value === 'number' ? String(value) : '');
}

export const mostId = ({ id }: Row): string => `${id}-most`;

export function readRow(row: Row, draft: RowDraft | undefined): RowRead {
  const { name: path, value } = row;
  switch (widthOf(row, draft)) {
    case 'exactly':
      return { ok: true, condition: { path, equals: value } };
    case 'not given':
      return { ok: true, condition: { path, exists: false } };
    case 'anything':
      return { ok: true, condition: undefined };
    case 'at most': {
      const text = mostOf(row, draft).trim();
      const lte = Number(text);
      if (text !== '' && Number.isFinite(lte)) return { ok: true, condition: { path, lte } };
      const fault = `${inertText(path, 60)}: at most how much? A number.`;
      return { ok: false, fault, fieldId: mostId(row) };
    }
  }
}

export type RowDrafts = { readonly [rowId: string]: RowDraft };

/** By its name alone, and so only a help: what people would not leave without a bound. */
const WORTH_A_BOUND =
  /amount|price|total|sum$|cents$|value$|budget$|recipient|beneficiary|payee|^to$|iban|account|email|address|phone|order_?(id|no|number)?$|customer|^user|channel|^url$|host/i;

/** What nobody would leave without a bound: amounts and recipients among the arguments that may be anything. */
export function unboundOf(
  rows: readonly Row[],
  drafts: RowDrafts,
  card?: Ask['card'],
): readonly string[] {
  const declared = [card?.amount?.path, card?.amount?.currency, card?.recipient];
  return rows
    .filter((row) => widthOf(row, drafts[row.id]) === 'anything')
    .map(({ name }) => name)
    .filter((name) => WORTH_A_BOUND.test(name) || isDeclared(declared, name));
}

/** Also where only a part of it is. */
function isDeclared(paths: readonly (string | undefined)[], name: string): boolean {
  return paths.some((path) => path === name || path?.startsWith(`${name}.`) === true);
}
