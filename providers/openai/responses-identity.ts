/**
 * Whether the end of a stream belongs to its beginning. Some servers give everything another id in every event;
 * what shows that it is one stream then is that no event is lacking, or that its end repeats what came.
 */
import { isRecord, listAt, textAt, type JsonRecord } from '../json-record.js';

/** How the vendor numbered its events so far. */
export interface Numbering {
  last: number | undefined;
  /** No event is lacking, and none has no number. */
  consecutive: boolean;
}

export function newNumbering(): Numbering {
  return { last: undefined, consecutive: true };
}

export function count(numbering: Numbering, event: JsonRecord): void {
  const { last } = numbering;
  const number = event['sequence_number'];
  const next = Number.isSafeInteger(number) && (last === undefined || number === last + 1);
  if (next) numbering.last = number as number;
  else numbering.consecutive = false;
}

/** Whether two items say the same, their ids aside. */
export function saysTheSame(one: JsonRecord, other: JsonRecord): boolean {
  return said(one) === said(other);
}

function said(item: JsonRecord): string {
  const parts = [...listAt(item, 'content'), ...listAt(item, 'summary')].filter(isRecord);
  const texts = parts.map((part) => [textAt(part, 'text'), textAt(part, 'refusal')]);
  const fields = ['type', 'call_id', 'name', 'arguments'].map((key) => textAt(item, key));
  return JSON.stringify([fields, texts]);
}
