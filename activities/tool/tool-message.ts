/** What the model may read of an error of a tool. */
import { isToolError, RETRYABLE } from '../../authoring/tool-error.js';
import { thrownText } from '../../pure/thrown-text.js';

const MESSAGE_CHARS_MAX = 2_000;
/** Codes that say nothing that the result's own code does not say. */
const SILENT_CODES = ['execution_error', RETRYABLE];

export function messageOf(error: unknown): string {
  const message = thrownText(error);
  const code = isToolError(error) && !SILENT_CODES.includes(error.code) ? `${error.code}: ` : '';
  return `${code}${message}`.slice(0, MESSAGE_CHARS_MAX) || 'no message';
}
