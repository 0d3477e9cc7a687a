/** What an error of Anthropic's API means. */
import { codeOfStatus, type VendorAnswer, type VendorVerdict } from '../attempt-failure.js';
import { isRecord, recordAt, textAt } from '../json-record.js';
import type { ModelErrorCode } from '../provider.js';

/** By the type of an error; of several types with one status the first is the usual one. */
export const STATUS_OF_TYPE: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['timeout_error', 408],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['overloaded_error', 529],
]);
const TOO_LONG = /prompt is too long|exceeds? (the )?(model's )?(maximum )?context/i;
const NO_MONEY = /credit balance|spend(ing)? limit|billing/i;
const REFUSED_CONTENT = /content filtering policy|usage policy/i;
const SPEND_LIMIT_CODE = /spend_limit_reached$/;

export function readAnthropicAnswer(answer: VendorAnswer): VendorVerdict {
  const error = isRecord(answer.body) ? recordAt(answer.body, 'error') : {};
  const type = textAt(error, 'type');
  const message = textAt(error, 'message');
  const status = answer.status ?? STATUS_OF_TYPE.get(type) ?? 500;
  const code = codeOf(status, message);
  const requestId = answer.headers?.get('request-id') ?? undefined;
  return {
    code,
    status,
    message,
    typed: STATUS_OF_TYPE.has(type) && type !== 'timeout_error',
    lasting:
      SPEND_LIMIT_CODE.test(textAt(recordAt(error, 'details'), 'error_code')) ||
      (code === 'RateLimited' && NO_MONEY.test(message)),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

function codeOf(status: number, message: string): ModelErrorCode {
  if (status === 400 && REFUSED_CONTENT.test(message)) return 'ContentRefused';
  if (status === 400 && NO_MONEY.test(message)) return 'AuthError';
  if ((status === 400 || status === 413) && TOO_LONG.test(message)) return 'PromptTooLong';
  return codeOfStatus(status, message);
}
