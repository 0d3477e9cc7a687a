/**
 * The payload converter of worker, client and replayer. Decoding is total: bytes that are not what they
 * claim become a marked value, so that nothing sent from outside can fail a workflow task.
 */
import { defaultPayloadConverter, type Payload, type PayloadConverter } from '@temporalio/common';

/** What an undecodable payload becomes. */
export interface Undecodable {
  readonly $undecodable: string;
}

const REASON_CHARS = 200;

export const payloadConverter: PayloadConverter = {
  toPayload: <T>(value: T): Payload => defaultPayloadConverter.toPayload(value),
  fromPayload: <T>(payload: Payload): T => {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { $undecodable: reason.slice(0, REASON_CHARS) } as T;
    }
  },
};

/** For a payload that the run itself made: it fails the workflow task, which is repeated until the payload can be decoded. */
export function undecodable(what: string, { $undecodable }: Undecodable): Error {
  return new Error(`The ${what} of this run cannot be decoded: ${$undecodable}`);
}

export function isUndecodable(value: unknown): value is Undecodable {
  return typeof value === 'object' && value !== null && '$undecodable' in value;
}
