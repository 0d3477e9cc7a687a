/** What a tool returns beside its value: pictures, documents and sounds for the model. */
import type { AttachmentSource } from '../attachments/attach.js';

const MARK: unique symbol = Symbol.for('holdfast.result-with-files');

/** A value with files beside it, as {@link withFiles} makes it. */
export interface ResultWithFiles<T = unknown> {
  readonly value: T;
  readonly files: readonly AttachmentSource[];
  readonly [MARK]: true;
}

/**
 * The result of a call with at most 8 files beside it, which the model sees where it reads their kind. The value is what
 * the output schema, criteria and people get. A file that cannot be used makes the result a malformed one.
 */
export function withFiles<const T>(
  value: T,
  files: readonly AttachmentSource[],
): ResultWithFiles<T> {
  return { value, files, [MARK]: true };
}

/** By its mark, not by its class: a tool's package may hold another copy of this module. */
export function isWithFiles(value: unknown): value is ResultWithFiles {
  return (
    typeof value === 'object' &&
    value !== null &&
    (value as Partial<ResultWithFiles>)[MARK] === true
  );
}
