/**
 * The one error by which a tool says "nothing happened" (G96). Every other throw of a tool that changes
 * something leaves its outcome in doubt.
 */

/** Code of a {@link ToolError} that is worth another attempt. */
export const RETRYABLE = 'retryable_error';

/** Code of a {@link ToolError} of a tool that nobody can call now. */
export const UNAVAILABLE = 'tool_unavailable';

/** Throw it when the call had no effect; the model sees the message and may go on. */
export class ToolError extends Error {
  readonly code: string;

  constructor(message: string);
  constructor(code: string, message: string);
  constructor(codeOrMessage: string, message?: string) {
    super(message ?? codeOrMessage);
    this.name = 'ToolError';
    this.code = message === undefined ? 'execution_error' : codeOrMessage;
  }
}

/** What people have set refuses the call before any tool is asked: said by the double of a tool that has a record of it. */
export class RefusedCall extends ToolError {
  declare readonly code: RefusedCode;

  constructor(code: RefusedCode, message: string) {
    super(code, message);
  }
}

export type RefusedCode = 'frozen' | 'limit_exceeded';

/** By name, not `instanceof`: a tool's package may hold another copy of this class. */
export function isToolError(value: unknown): value is ToolError {
  return (
    value instanceof Error &&
    value.name === 'ToolError' &&
    typeof (value as { code?: unknown }).code === 'string'
  );
}

/**
 * The result of a call that was answered with an error: the call is over and is never repeated, whatever it did. Unlike a
 * {@link ToolError} it does not say that nothing happened.
 */
export class ToolFailure {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export function isToolFailure(value: unknown): value is ToolFailure {
  return value instanceof ToolFailure;
}
