/**
 * A user's payload codecs, with what a payload from outside may not do: end a run.
 * Invariants: only `UndecodablePayload`, and only in what anybody may send to a workflow (its start, signals,
 * updates, queries), becomes a marked value. Every other error, and every undecodable payload that the run itself
 * made, fails the workflow task: Temporal repeats it, so that a key service that is away loses nothing.
 */
import {
  encodingKeys,
  METADATA_ENCODING_KEY,
  type Payload,
  type PayloadCodec,
} from '@temporalio/common';
import type { Undecodable } from '../workflows/payload-converter.js';

const REASON_CHARS_MAX = 200;

/**
 * What a codec throws for bytes that it can never decode: wrong format, wrong signature, unknown key.
 * It must depend on the bytes alone: a replay decodes them again. A codec whose key service cannot be reached throws
 * any other error.
 */
export class UndecodablePayload extends Error {
  override readonly name = 'UndecodablePayload';
}

/** Two copies of this package make two classes; the name is what they share. */
function isUndecodablePayload(error: unknown): error is Error {
  return error instanceof Error && error.name === 'UndecodablePayload';
}

/** The codecs as one, which marks what comes undecodable from outside. */
export function guardedCodec(codecs: readonly PayloadCodec[]): PayloadCodec {
  const decoded: PayloadCodec['decode'] = async (payloads, context) => {
    let current = payloads;
    for (const codec of [...codecs].reverse()) current = await codec.decode(current, context);
    return current;
  };
  return {
    async encode(payloads, context) {
      let current = payloads;
      for (const codec of codecs) current = await codec.encode(current, context);
      return current;
    },
    async decode(payloads, context) {
      // Results of activities come in the context of their activity.
      if (context?.type !== 'workflow') return decoded(payloads, context);
      const each = payloads.map(async (payload) => {
        try {
          return await decoded([payload], context);
        } catch (error) {
          if (!isUndecodablePayload(error)) throw error;
          return [marked(error.message)];
        }
      });
      return (await Promise.all(each)).flat();
    },
  };
}

function marked(reason: string): Payload {
  const value: Undecodable = { $undecodable: `codec: ${reason}`.slice(0, REASON_CHARS_MAX) };
  return {
    metadata: { [METADATA_ENCODING_KEY]: encodingKeys.METADATA_ENCODING_JSON },
    data: new TextEncoder().encode(JSON.stringify(value)),
  };
}
