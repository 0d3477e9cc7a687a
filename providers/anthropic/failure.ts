/**
 * Every way an attempt can fail, as a HoldfastError with a model code (G29).
 * `receivedInput` errs towards true: what may have been billed is counted. The vendor's own errors (429, 529,
 * a typed 500) cost nothing, nor does a connection that never came about.
 */
import { APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk';
import { HoldfastError } from '../../core/errors.js';
import { estimateTokens, modelFailure } from '../provider.js';
import type { ModelErrorCode } from '../provider.js';
import { SseTooLarge } from '../sse.js';
import { BadStream, StreamError, isRecord } from './assembly.js';
import type { Assembly } from './assembly.js';

/** What was known when the attempt failed. */
export interface AttemptFacts {
  readonly assembly: Assembly;
  readonly requestId?: string;
}

/** The connection closed before message_stop. */
export class CutStream extends Error {}

/** Nothing arrived for too long. */
export class StalledStream extends Error {}

const MESSAGE_CHARS_MAX = 500;
const RETRY_AFTER_MS_MAX = 7 * 24 * 3600 * 1000;
const CAUSES_MAX = 6;
const RETRYABLE: readonly ModelErrorCode[] = [
  'RateLimited',
  'Overloaded',
  'ServerError',
  'NetworkTimeout',
  'MalformedReply',
];
const STATUS_OF_TYPE: ReadonlyMap<string, number> = new Map([
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
/** Failures before a byte of the request could leave. */
const NEVER_CONNECTED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_INVALID_URL|CERT_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*|ERR_TLS_.*)$/;
const TOO_LONG = /prompt is too long|exceeds? (the )?(model's )?(maximum )?context/i;
const NO_MONEY = /credit balance|spend(ing)? limit|billing/i;
const REFUSED_CONTENT = /content filtering policy|usage policy/i;
const SPEND_LIMIT_CODE = /spend_limit_reached$/;

/** Total: anything thrown by an attempt becomes a HoldfastError. */
export function attemptFailure(error: unknown, facts: AttemptFacts): HoldfastError {
  if (error instanceof HoldfastError) return error;
  if (error instanceof StreamError) {
    return vendorFailure({ status: undefined, body: error.body }, error, facts);
  }
  if (error instanceof APIError && error.status !== undefined) {
    const headers = error.headers as Headers | undefined;
    return vendorFailure(
      { status: error.status as number, headers, body: error.error },
      error,
      facts,
    );
  }
  if (error instanceof BadStream || error instanceof SseTooLarge) {
    return malformed(error.message, error, facts);
  }
  return networkFailure(error, facts);
}

interface VendorAnswer {
  readonly status: number | undefined;
  readonly headers?: Headers | undefined;
  readonly body: unknown;
}

function vendorFailure(answer: VendorAnswer, cause: unknown, facts: AttemptFacts): HoldfastError {
  const { type, message, errorCode } = errorFields(answer.body);
  const status = answer.status ?? STATUS_OF_TYPE.get(type) ?? 500;
  const code = codeOf(status, message);
  const retryAfterMs = retryAfter(answer.headers);
  const typed = STATUS_OF_TYPE.has(type) && type !== 'timeout_error';
  const requestId = answer.headers?.get('request-id') ?? facts.requestId;
  const said = message === '' ? `status ${status}` : message.slice(0, MESSAGE_CHARS_MAX);
  return modelFailure(code, `The model API answered ${status}: ${said}`, {
    ...(answer.status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    receivedInput: facts.assembly.started || (!typed && (status >= 500 || status === 408)),
    receivedOutputTokensEstimate: received(facts),
    shouldRetry: shouldRetry(code, answer.headers, { message, errorCode }),
    ...(requestId === undefined ? {} : { requestId }),
    cause,
  });
}

function codeOf(status: number, message: string): ModelErrorCode {
  if (status === 400 && REFUSED_CONTENT.test(message)) return 'ContentRefused';
  if (status === 400 && NO_MONEY.test(message)) return 'AuthError';
  if ((status === 400 || status === 413) && TOO_LONG.test(message)) return 'PromptTooLong';
  switch (status) {
    case 401:
    case 402:
    case 403:
      return 'AuthError';
    case 408:
      return 'NetworkTimeout';
    case 409:
    case 429:
      return 'RateLimited';
    case 413:
      // Compaction makes text smaller, not a single attachment.
      return /image|document|pdf|file/i.test(message) ? 'InvalidRequest' : 'PromptTooLong';
    case 529:
      return 'Overloaded';
    default:
      return status >= 500 ? 'ServerError' : 'InvalidRequest';
  }
}

function shouldRetry(
  code: ModelErrorCode,
  headers: Headers | undefined,
  said: { readonly message: string; readonly errorCode: string },
): boolean {
  if (!RETRYABLE.includes(code)) return false;
  if (SPEND_LIMIT_CODE.test(said.errorCode)) return false;
  if (code === 'RateLimited' && NO_MONEY.test(said.message)) return false;
  return headers?.get('x-should-retry') !== 'false';
}

function retryAfter(headers: Headers | undefined): number | undefined {
  const ms = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  const header = headers?.get('retry-after') ?? '';
  const seconds = Number.parseFloat(header);
  const date = /^\s*[\d.]+\s*$/.test(header) ? Number.NaN : Date.parse(header) - Date.now();
  const wait = [ms, /^\s*[\d.]+\s*$/.test(header) ? seconds * 1000 : date].find(Number.isFinite);
  if (wait === undefined || wait < 0) return undefined;
  return Math.min(Math.ceil(wait), RETRY_AFTER_MS_MAX);
}

function errorFields(body: unknown): { type: string; message: string; errorCode: string } {
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {};
  const details = isRecord(error['details']) ? error['details'] : {};
  return {
    type: text(error['type']),
    message: text(error['message']),
    errorCode: text(details['error_code']),
  };
}

function malformed(reason: string, cause: unknown, facts: AttemptFacts): HoldfastError {
  return modelFailure(
    'MalformedReply',
    `The model API sent a reply that cannot be read: ${reason}.`,
    {
      receivedInput: true,
      receivedOutputTokensEstimate: received(facts),
      shouldRetry: true,
      ...(facts.requestId === undefined ? {} : { requestId: facts.requestId }),
      cause,
    },
  );
}

function networkFailure(cause: unknown, facts: AttemptFacts): HoldfastError {
  const codes = causeCodes(cause);
  const neverConnected =
    !facts.assembly.started && codes.some((code) => NEVER_CONNECTED.test(code));
  return modelFailure('NetworkTimeout', networkMessage(cause, codes), {
    receivedInput: !neverConnected,
    receivedOutputTokensEstimate: received(facts),
    shouldRetry: true,
    ...(facts.requestId === undefined ? {} : { requestId: facts.requestId }),
    cause,
  });
}

function networkMessage(cause: unknown, codes: readonly string[]): string {
  if (cause instanceof StalledStream || cause instanceof CutStream) return cause.message;
  if (cause instanceof APIConnectionTimeoutError) return 'The model API did not answer in time.';
  const why = codes[0] ?? (cause instanceof Error ? cause.message : String(cause));
  return `The connection to the model API failed: ${why.slice(0, MESSAGE_CHARS_MAX)}.`;
}

/** By shape, not by class: the runtime's own network errors may be of another realm. */
function causeCodes(error: unknown): readonly string[] {
  const codes: string[] = [];
  let at: unknown = error;
  for (let depth = 0; depth < CAUSES_MAX && typeof at === 'object' && at !== null; depth += 1) {
    const { code, cause } = at as { code?: unknown; cause?: unknown };
    if (typeof code === 'string') codes.push(code);
    at = cause;
  }
  return codes;
}

function received(facts: AttemptFacts): number {
  return Math.max(facts.assembly.usage.output, estimateTokens(facts.assembly.outputBytes));
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
