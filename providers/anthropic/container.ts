/** The container that the vendor runs code in: later requests of a run go on in it, with its files, while it lives. */
import type { Json } from '../../core/json/json.js';
import type { VendorContainer } from '../../core/state/transcript.js';
import { isRecord, textAt, type JsonRecord } from '../json-record.js';
import type { ModelRequest } from '../provider.js';

const ID = /^[\w.-]{1,200}$/;
/** The vendor gets the request a little later, and reads it later still. */
const MARGIN_MS = 10_000;

/** Undefined: it is named by nothing that could be sent back, or nobody says how long it lives. */
export function containerOf(told: Json | undefined): VendorContainer | undefined {
  if (!isRecord(told)) return undefined;
  const id = textAt(told, 'id');
  const expiresAt = Date.parse(textAt(told, 'expires_at'));
  return ID.test(id) && Number.isFinite(expiresAt) ? { id, expiresAt } : undefined;
}

/** Fields of a request, with the container that it goes on in. One that the configuration names stays. */
export function inContainer(fields: JsonRecord, { container, tools }: ModelRequest): JsonRecord {
  const given = fields['container'] ?? {};
  const isOver = container === undefined || container.expiresAt - MARGIN_MS <= Date.now();
  // Without a tool of the vendor's nothing could run there.
  if (isOver || !isRecord(given) || 'id' in given || !tools.some(({ hosted }) => hosted))
    return fields;
  const { id } = container;
  return { ...fields, container: Object.keys(given).length === 0 ? id : { ...given, id } };
}
