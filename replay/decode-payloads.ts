/**
 * The payloads of a history as they were before a codec: a bundle is read, redacted and replayed without keys.
 * Invariant: what no codec has encoded stays byte for byte.
 */
import type { Payload, PayloadCodec } from '@temporalio/common';
import type { HistoryEvent } from '../recording/history.js';

/** A payload in Temporal's JSON: bytes in base64. */
interface JsonPayload {
  readonly metadata: Readonly<Record<string, string>>;
  readonly data?: string;
}

export interface PayloadPlace {
  readonly codecs: readonly PayloadCodec[];
  readonly namespace: string;
  readonly workflowId: string;
}

/** Errors: those of the codecs. */
export async function decodePayloads(
  events: readonly HistoryEvent[],
  place: PayloadPlace,
): Promise<readonly HistoryEvent[]> {
  if (place.codecs.length === 0) return events;
  const decoded: HistoryEvent[] = [];
  for (const event of events) decoded.push((await walked(event, place)) as HistoryEvent);
  return decoded;
}

async function walked(value: unknown, place: PayloadPlace): Promise<unknown> {
  if (typeof value !== 'object' || value === null) return value;
  if (isPayload(value)) return decodedPayload(value, place);
  if (Array.isArray(value)) {
    const each: unknown[] = [];
    for (const one of value) each.push(await walked(one, place));
    return each;
  }
  const entries: [string, unknown][] = [];
  for (const [name, one] of Object.entries(value)) {
    entries.push([name, isEncoded(name, value) ? await walked(one, place) : one]);
  }
  return Object.fromEntries(entries);
}

/** Search attributes are indexed by the server, and so pass no codec; nor does what Temporal's core writes into markers. */
function isEncoded(name: string, holder: object): boolean {
  return name !== 'searchAttributes' && !(name === 'data' && 'result' in holder);
}

function isPayload(value: object): value is JsonPayload {
  const { metadata, data } = value as { metadata?: unknown; data?: unknown };
  if (typeof metadata !== 'object' || metadata === null) return false;
  const { encoding } = metadata as { encoding?: unknown };
  return typeof encoding === 'string' && (data === undefined || typeof data === 'string');
}

async function decodedPayload(
  payload: JsonPayload,
  { codecs, namespace, workflowId }: PayloadPlace,
): Promise<JsonPayload> {
  let current: Payload[] = [fromJson(payload)];
  for (const codec of [...codecs].reverse()) {
    current = await codec.decode(current, { type: 'workflow', namespace, workflowId });
  }
  return toJson(current[0] ?? {});
}

function fromJson({ metadata, data }: JsonPayload): Payload {
  return {
    metadata: Object.fromEntries(
      Object.entries(metadata).map(([name, text]) => [name, Buffer.from(text, 'base64')]),
    ),
    ...(data !== undefined && { data: Buffer.from(data, 'base64') }),
  };
}

function toJson({ metadata, data }: Payload): JsonPayload {
  return {
    metadata: Object.fromEntries(
      Object.entries(metadata ?? {}).map(([name, bytes]) => [name, base64(bytes)]),
    ),
    ...(data && { data: base64(data) }),
  };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
