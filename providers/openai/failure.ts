/**
 * What an error of OpenAI's API means, or of a gateway that speaks it. Gateways pass the errors of other
 * vendors on under their own types, so texts are looked at as well.
 */
import { codeOfStatus, type VendorAnswer, type VendorVerdict } from '../attempt-failure.js';
import { isRecord, textAt, type JsonRecord } from '../json-record.js';
import type { ModelErrorCode } from '../provider.js';

/** Of errors within a reply that began with status 200; of several names with one status the first is the usual type. */
export const STATUS_OF_NAME: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['invalid_prompt', 400],
  ['context_length_exceeded', 400],
  ['content_filter', 400],
  ['authentication_error', 401],
  ['invalid_api_key', 401],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['rate_limit_error', 429],
  ['insufficient_quota', 429],
  ['rate_limit_exceeded', 429],
  ['requests', 429],
  ['tokens', 429],
  ['server_error', 500],
  ['api_error', 500],
  ['service_unavailable_error', 503],
  ['engine_overloaded', 503],
  ['server_overloaded', 503],
  ['overloaded_error', 529],
]);
const TOO_LONG =
  /context_length_exceeded|maximum context length|context window|prompt is too long|ContextWindowExceeded|exceeds? (the )?(model's )?(maximum )?context/i;
const REFUSED_CONTENT =
  /content_filter|content_policy_violation|ContentPolicyViolation|content management policy|content filtering policy|usage policy/i;
const NO_MONEY =
  /insufficient_quota|billing_hard_limit|billing_not_active|credit balance|exceeded your current quota|budget has been exceeded|budget_exceeded/i;
/** A single request above the limit of a minute will never be let through. */
const TOO_LARGE_FOR_LIMIT = /request too large/i;
const OVERLOADED = /overloaded|slow_down/i;

export function readOpenAiAnswer(answer: VendorAnswer): VendorVerdict {
  const error = errorOf(answer.body);
  const names = [textAt(error, 'code'), textAt(error, 'type')];
  const message = textAt(error, 'message');
  const status =
    answer.status ?? names.map((name) => STATUS_OF_NAME.get(name)).find(Boolean) ?? 500;
  const said = [...names, message].join(' ');
  const code = codeOf(status, said);
  const requestId = answer.headers?.get('x-request-id') ?? undefined;
  return {
    code,
    status,
    message,
    typed: names.some((name) => STATUS_OF_NAME.has(name)),
    lasting: code === 'RateLimited' && (NO_MONEY.test(said) || TOO_LARGE_FOR_LIMIT.test(said)),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

/** The error itself: the SDK has unwrapped it, a stream has not, and some gateways send a list. */
function errorOf(body: unknown): JsonRecord {
  const given: unknown = Array.isArray(body) ? body[0] : body;
  if (!isRecord(given)) return {};
  const inner = given['error'];
  return isRecord(inner) ? inner : given;
}

function codeOf(status: number, said: string): ModelErrorCode {
  const rejected = status === 400 || status === 413 || status === 422;
  if (rejected && TOO_LONG.test(said)) return 'PromptTooLong';
  if (rejected && REFUSED_CONTENT.test(said)) return 'ContentRefused';
  if (rejected && NO_MONEY.test(said)) return 'AuthError';
  if (status === 503 && OVERLOADED.test(said)) return 'Overloaded';
  return codeOfStatus(status, said);
}
