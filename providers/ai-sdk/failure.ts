/**
 * Every way in which an AI SDK model can fail, as a HoldfastError with a model code (G29). Errors of its
 * packages are known by name and fields, never by class: several copies of a package in one process are usual.
 */
import { HoldfastError } from '../../core/state/errors.js';
import {
  attemptFailure,
  codeOfStatus,
  sentenceOf,
  type AttemptFacts,
  type VendorAnswer,
  type VendorVerdict,
} from '../attempt-failure.js';
import { isRecord } from '../json-record.js';
import { modelFailure, type ModelErrorCode } from '../provider.js';
import { BadStream } from '../stream-errors.js';

const TEXT_CHARS_MAX = 4000;
const MESSAGE_CHARS_MAX = 500;
const HEADERS_MAX = 100;
const TOO_LONG =
  /context_length_exceeded|maximum context length|context window|(prompt|input) is too long|too large for model|exceeds? (the )?(model's )?(maximum )?(context|number of tokens)/i;
const REFUSED_CONTENT =
  /content_filter|content_policy|content management policy|content filtering policy|usage policy|guardrail/i;
const NO_MONEY =
  /insufficient_quota|billing|credit balance|exceeded your current quota|payment required/i;
const OVERLOADED = /overloaded|slow_down|ModelNotReady/i;
const NO_ACCESS = /API_KEY_INVALID|API key not valid|UnrecognizedClient|ExpiredToken/i;
/** The vendor's own error, no gateway's: nothing was generated. */
const VENDOR_ERROR = /"type"\s*:\s*"(api_error|overloaded_error)"/;
const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'x-amzn-requestid'] as const;

/** Names of errors that no other attempt mends. */
const OF_SETTINGS: readonly string[] = [
  'AI_LoadAPIKeyError',
  'AI_LoadSettingError',
  'AI_NoSuchModelError',
];
const OF_REQUEST: readonly string[] = [
  'AI_InvalidPromptError',
  'AI_InvalidArgumentError',
  'AI_UnsupportedFunctionalityError',
  'AI_TooManyEmbeddingValuesForCallError',
];
const OF_REPLY: readonly string[] = [
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_InvalidResponseDataError',
  'AI_EmptyResponseBodyError',
  'AI_NoContentGeneratedError',
];

type Facts = Omit<AttemptFacts, 'readAnswer'>;

/** Total: whatever the model threw, or sent as its error. */
export function aiSdkFailure(thrown: unknown, facts: Facts): HoldfastError {
  try {
    return failureOf(thrown, { ...facts, readAnswer });
  } catch (error) {
    // The object's own fields throw when they are read.
    return error instanceof HoldfastError
      ? error
      : attemptFailure(new BadStream('its error cannot be read'), { ...facts, readAnswer });
  }
}

function failureOf(thrown: unknown, facts: AttemptFacts): HoldfastError {
  if (thrown instanceof HoldfastError) return thrown;
  if (typeof thrown !== 'object' || thrown === null)
    return attemptFailure(answerOf(thrown) ?? new BadStream('an error that says nothing'), facts);
  const { name, message } = namesOf(thrown);
  // A package calls an answer that began well and then broke an error of its status, 200.
  const { statusCode, cause } = thrown as { statusCode?: unknown; cause?: unknown };
  if (typeof statusCode === 'number' && statusCode < 400)
    return attemptFailure(cause instanceof Error ? cause : new BadStream(message), facts);
  const answered = answerOf(thrown);
  if (answered !== undefined) return attemptFailure(answered, facts);
  if (OF_SETTINGS.includes(name)) return refused('AuthError', message, facts);
  if (OF_REQUEST.includes(name)) return refused('InvalidRequest', message, facts);
  if (OF_REPLY.includes(name)) return attemptFailure(new BadStream(message), facts);
  return attemptFailure(thrown, facts);
}

function refused(code: ModelErrorCode, message: string, { received }: AttemptFacts): HoldfastError {
  return modelFailure(code, sentenceOf("The model's package refused the request: ", message), {
    receivedInput: received.started,
    receivedOutputTokensEstimate: received.outputTokens,
    shouldRetry: false,
    ...(code === 'AuthError' && {
      hint: 'Give the worker the key or setting that the package names.',
    }),
  });
}

/** An error that the vendor reported, as the attempt's reader takes it. */
class Answered extends Error {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  readonly error: { readonly message: string; readonly text: string; readonly lasting: boolean };

  constructor(status: number, answer: Pick<Answered, 'headers' | 'error'>) {
    super(answer.error.message);
    this.status = status;
    this.headers = answer.headers;
    this.error = answer.error;
  }
}

/** Undefined: no vendor said so, but the network or the package. */
function answerOf(thrown: unknown): Answered | undefined {
  // An error within a stream is at times the vendor's plain object or text.
  if (typeof thrown === 'string') return answered(500, { message: thrown });
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  const error = thrown as Record<string, unknown>;
  const { statusCode, isRetryable, responseBody } = error;
  const isError = thrown instanceof Error || typeof error['stack'] === 'string';
  if (typeof statusCode !== 'number' && isError) return undefined;
  const inner = isRecord(error['error']) ? error['error'] : error;
  const status = typeof statusCode === 'number' ? statusCode : statusIn(inner);
  return answered(status, {
    message: stringOf(error['message']) || stringOf(inner['message']),
    text: stringOf(responseBody) || (isError ? '' : writtenOf(inner)),
    lasting: isRetryable === false,
    headers: error['responseHeaders'],
  });
}

function answered(
  status: number,
  given: { message: string; text?: string; lasting?: boolean; headers?: unknown },
): Answered {
  const { message, text = '', lasting = false } = given;
  return new Answered(status, {
    headers: headersOf(given.headers),
    error: {
      message: message.slice(0, MESSAGE_CHARS_MAX),
      text: text.slice(0, TEXT_CHARS_MAX),
      lasting,
    },
  });
}

function statusIn(error: Record<string, unknown>): number {
  const status = [error['code'], error['status'], error['statusCode']].find(
    (one) => Number.isInteger(one) && (one as number) >= 400 && (one as number) < 600,
  );
  return (status as number | undefined) ?? 500;
}

function headersOf(given: unknown): Pick<Headers, 'get'> {
  const entries = isRecord(given) ? Object.entries(given).slice(0, HEADERS_MAX) : [];
  const values = new Map(
    entries.flatMap(([name, value]: [string, unknown]): [string, string][] =>
      typeof value === 'string' ? [[name.toLowerCase(), value]] : [],
    ),
  );
  return { get: (name) => values.get(name) ?? null };
}

function readAnswer({ status = 500, headers, body }: VendorAnswer): VendorVerdict {
  const { message, text, lasting } = body as Answered['error'];
  const said = `${message} ${text}`;
  const code = codeOf(status, said);
  const requestId = REQUEST_ID_HEADERS.map((name) => headers?.get(name)).find(Boolean);
  return {
    code,
    status,
    message,
    // A package does not say whether the vendor or a gateway speaks: what may have been billed counts.
    typed: (status < 500 && status !== 408) || VENDOR_ERROR.test(text),
    lasting: lasting || (code === 'RateLimited' && NO_MONEY.test(said)),
    ...(typeof requestId === 'string' && { requestId }),
  };
}

function codeOf(status: number, said: string): ModelErrorCode {
  const rejected = status === 400 || status === 413 || status === 422;
  if (rejected && TOO_LONG.test(said)) return 'PromptTooLong';
  if (rejected && NO_ACCESS.test(said)) return 'AuthError';
  if (rejected && REFUSED_CONTENT.test(said)) return 'ContentRefused';
  if (rejected && NO_MONEY.test(said)) return 'AuthError';
  if (status === 503 && OVERLOADED.test(said)) return 'Overloaded';
  return codeOfStatus(status, said);
}

function namesOf(thrown: unknown): { readonly name: string; readonly message: string } {
  if (typeof thrown !== 'object' || thrown === null) return { name: '', message: '' };
  const { name, message } = thrown as Record<string, unknown>;
  return { name: stringOf(name), message: stringOf(message).slice(0, MESSAGE_CHARS_MAX) };
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function writtenOf(value: unknown): string {
  return JSON.stringify(value) ?? '';
}
