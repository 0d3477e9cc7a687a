/**
 * The payload converter of worker, client and replayer. Decoding is total: bytes that are not what they
 * claim become a marked value, so that nothing sent from outside can fail a workflow task.
 */
import {
  defaultPayloadConverter,
  encodingKeys,
  METADATA_ENCODING_KEY,
  type Payload,
  type PayloadConverter,
} from '@temporalio/common';

/** What an undecodable payload becomes. */
export interface Undecodable {
  readonly $undecodable: string;
}

const REASON_CHARS = 200;

/** The SDK encodes and decodes UTF-8 in JavaScript; these give the same bytes and texts several times as fast. */
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const JSON_ENCODING = encodingKeys.METADATA_ENCODING_JSON;

export const payloadConverter: PayloadConverter = {
  toPayload: <T>(value: T): Payload =>
    jsonPayload(value) ?? defaultPayloadConverter.toPayload(value),
  fromPayload: <T>(payload: Payload): T => {
    try {
      const text = jsonText(payload);
      if (text !== undefined) return JSON.parse(text) as T;
      return defaultPayloadConverter.fromPayload<T>(payload);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { $undecodable: reason.slice(0, REASON_CHARS) } as T;
    }
  },
};

/** Of plain objects and lists, which nearly all payloads are; the SDK writes the rest. */
function jsonPayload(value: unknown): Payload | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Object.getPrototypeOf(value) !== Object.prototype && !Array.isArray(value)) return undefined;
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    return undefined;
  }
  if (text === undefined) return undefined;
  return { metadata: { [METADATA_ENCODING_KEY]: JSON_ENCODING }, data: encoder.encode(text) };
}

/** undefined: the payload is no JSON in valid UTF-8; the SDK says what it is, or what is wrong with it. */
function jsonText({ metadata, data }: Payload): string | undefined {
  const encoding = metadata?.[METADATA_ENCODING_KEY];
  if (!data || encoding?.length !== JSON_ENCODING.length) return undefined;
  if (!JSON_ENCODING.every((byte, index) => byte === encoding[index])) return undefined;
  try {
    return decoder.decode(data);
  } catch {
    return undefined;
  }
}

/** For a payload that the run itself made: it fails the workflow task, which is repeated until the payload can be decoded. */
export function undecodable(what: string, { $undecodable }: Undecodable): Error {
  return new Error(`The ${what} of this run cannot be decoded: ${$undecodable}`);
}

export function isUndecodable(value: unknown): value is Undecodable {
  return typeof value === 'object' && value !== null && '$undecodable' in value;
}
