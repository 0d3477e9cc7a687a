/** What a vendor's status means, as providers say it. */
import type { ModelErrorCode } from '../providers/provider.js';

const CODES: ReadonlyMap<number, ModelErrorCode> = new Map([
  [400, 'InvalidRequest'],
  [401, 'AuthError'],
  [408, 'NetworkTimeout'],
  [413, 'PromptTooLong'],
  [429, 'RateLimited'],
  [500, 'ServerError'],
  [503, 'ServerError'],
  [529, 'Overloaded'],
]);

/** Failures after which another attempt is made. */
export const RETRIED_CODES: readonly ModelErrorCode[] = [
  'RateLimited',
  'Overloaded',
  'ServerError',
  'NetworkTimeout',
];

export function codeOfStatus(status: number): ModelErrorCode {
  return CODES.get(status) ?? (status >= 500 ? 'ServerError' : 'InvalidRequest');
}
