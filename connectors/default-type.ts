/**
 * Results of tools in which a server of the modern protocol leaves its `resultType` out: they are complete (SEP-2322 says so of
 * every client), and the client of the SDK refuses them.
 * Invariant: what has no content, or names a type, reaches the client as it came.
 */
import { isRecord } from '../core/json/shape.js';

interface Told {
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

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
  if (Object.hasOwn(result, 'resultType') || !Array.isArray(result.content)) return message;
  return { ...message, result: { ...result, resultType: 'complete' } };
}
