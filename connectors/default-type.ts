/**
 * Results of tools, and lists of them, in which a server of the modern protocol leaves its `resultType` out: they are complete
 * (SEP-2322 says so of every client), and the client of the SDK refuses them.
 * Invariant: what is neither, names a type or asks for something reaches the client as it came: a question is no success.
 */
import { isRecord } from '../core/json/shape.js';

interface Told {
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

const NOT_COMPLETE = ['resultType', 'inputRequests', 'requestState'];

/** For a connection that is open: the client has said what it does with messages. */
export function assumeComplete(transport: Told): void {
  const heard = transport.onmessage as ((message: unknown, extra?: unknown) => void) | undefined;
  if (heard === undefined) return;
  transport.onmessage = (message: unknown, extra?: unknown) => heard(completed(message), extra);
}

/** The message with the type that its result means. */
export function completed(message: unknown): unknown {
  if (!isRecord(message) || !isRecord(message.result)) return message;
  const { result } = message;
  if (NOT_COMPLETE.some((field) => Object.hasOwn(result, field))) return message;
  if (!Array.isArray(result.content) && !Array.isArray(result.tools)) return message;
  return { ...message, result: { ...result, resultType: 'complete' } };
}
