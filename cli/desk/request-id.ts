/** `--id` where the desk takes it as the key of a request. */
import { usage } from '../usage.js';

export const REQUEST_ID = '8 to 200 visible ASCII characters';

/** Errors: Usage. */
export function requestId(text: string): string {
  if (/^[\x21-\x7e]{8,200}$/.test(text)) return text;
  throw usage(`--id is ${REQUEST_ID}.`);
}
