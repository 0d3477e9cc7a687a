/**
 * Every way an attempt can fail, as a HoldfastError with a model code (G29); what a vendor's own error means,
 * the vendor's folder says.
 * `receivedInput` errs towards true: what may have been billed is counted. An answer of 429 or 529 and
 * the vendor's own errors (a typed 500) cost nothing, nor does a connection that never came about.
 */
import { HoldfastError } from '../core/state/errors.js';
import { modelFailure, type ModelErrorCode } from './provider.js';
import { SseTooLarge } from './sse.js';
import { BadStream, CutStream, StalledStream, StreamError } from './stream-errors.js';

/** What had come of a reply when its attempt failed. */
export interface ReceivedPart {
  /** The vendor had begun to answer: the input is billed. */
  readonly started: boolean;
  readonly outputTokens: number;
}

/** What was known when the attempt failed. */
export interface AttemptFacts {
  readonly received: ReceivedPart;
  readonly requestId?: string;
  readonly readAnswer: ReadAnswer;
}

/** An error that the vendor itself reported. */
export interface VendorAnswer {
  /** Absent for an error within a reply that began well. */
  readonly status?: number;
  readonly headers?: Headers;
  readonly body: unknown;
}

/** What the vendor's error means. */
export interface VendorVerdict {
  readonly code: ModelErrorCode;
  readonly status: number;
  readonly message: string;
  /** It is the vendor's own error, no gateway's: nothing was generated. */
  readonly typed: boolean;
  /** It will be the same at the next attempt, whatever its code. */
  readonly lasting: boolean;
  readonly requestId?: string;
}

/** Total over anything that a vendor may answer. */
export type ReadAnswer = (answer: VendorAnswer) => VendorVerdict;

const OVERLOADED = 529;

/** What a status means where the vendor's own words say nothing else. */
export function codeOfStatus(status: number, said: string): ModelErrorCode {
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
      return ATTACHMENT.test(said) ? 'InvalidRequest' : 'PromptTooLong';
    case OVERLOADED:
      return 'Overloaded';
    default:
      return status >= 500 ? 'ServerError' : 'InvalidRequest';
  }
}

const ATTACHMENT = /image|document|pdf|file|audio/i;
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
/** Failures before a byte of the request could leave. */
const NEVER_CONNECTED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_INVALID_URL|CERT_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*|ERR_TLS_.*)$/;
/** What `fetch` says of an address that it does not even try; these errors have no code. */
const NEVER_TRIED: ReadonlySet<string> = new Set(['bad port', 'unknown scheme']);

/** Total: anything thrown by an attempt becomes a HoldfastError. */
export function attemptFailure(error: unknown, facts: AttemptFacts): HoldfastError {
  if (error instanceof HoldfastError) return error;
  if (error instanceof StreamError) return vendorFailure({ body: error.body }, error, facts);
  const answer = answerIn(error);
  if (answer !== undefined) return vendorFailure(answer, error, facts);
  if (error instanceof BadStream || error instanceof SseTooLarge) {
    return malformed(error.message, error, facts);
  }
  return networkFailure(error, facts);
}

/** By shape: the SDKs' errors of an answered request have a status, its headers and its body. */
function answerIn(error: unknown): VendorAnswer | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { status, headers, error: body } = error as Record<string, unknown>;
  if (typeof status !== 'number') return undefined;
  return { status, ...(isHeaders(headers) && { headers }), body };
}

function isHeaders(value: unknown): value is Headers {
  return typeof (value as Partial<Headers> | null | undefined)?.get === 'function';
}

function vendorFailure(answer: VendorAnswer, cause: unknown, facts: AttemptFacts): HoldfastError {
  const { code, status, message, typed, lasting, requestId } = facts.readAnswer(answer);
  const retryAfterMs = retryAfter(answer.headers);
  const id = requestId ?? facts.requestId;
  const refused = answer.headers?.get('x-should-retry') === 'false';
  return modelFailure(code, answeredText(status, message), {
    ...(answer.status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    receivedInput: facts.received.started || (!typed && maybeBilled(status)),
    receivedOutputTokensEstimate: facts.received.outputTokens,
    shouldRetry: RETRYABLE.includes(code) && !lasting && !refused,
    ...(id === undefined ? {} : { requestId: id }),
    cause,
  });
}

/** What an answer with an error status is told as. */
export function answeredText(status: number, said: string): string {
  return sentenceOf(`The model API answered ${status}: `, said || `status ${status}`);
}

/** Foreign words as the end of a sentence: a hint follows. */
export function sentenceOf(beginning: string, said: string): string {
  const text = `${beginning}${said.slice(0, MESSAGE_CHARS_MAX).trimEnd()}`;
  return /[.!?…。]$/.test(text) ? text : `${text}.`;
}

/** A gateway's words for what may have gone wrong after the vendor had begun; nobody begins when overloaded. */
function maybeBilled(status: number): boolean {
  return status === 408 || (status >= 500 && status !== OVERLOADED);
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

function malformed(reason: string, cause: unknown, facts: AttemptFacts): HoldfastError {
  return modelFailure(
    'MalformedReply',
    `The model API sent a reply that cannot be read: ${reason}.`,
    {
      receivedInput: true,
      receivedOutputTokensEstimate: facts.received.outputTokens,
      shouldRetry: true,
      ...(facts.requestId === undefined ? {} : { requestId: facts.requestId }),
      cause,
    },
  );
}

function networkFailure(cause: unknown, facts: AttemptFacts): HoldfastError {
  const causes = causesOf(cause);
  const codes = causes.flatMap(({ code }) => (typeof code === 'string' ? [code] : []));
  const untried = causes.map(({ message }) => message).find(isNeverTried);
  const neverConnected =
    !facts.received.started &&
    (untried !== undefined || codes.some((code) => NEVER_CONNECTED.test(code)));
  return modelFailure('NetworkTimeout', networkMessage(cause, codes[0] ?? untried), {
    receivedInput: !neverConnected,
    receivedOutputTokensEstimate: facts.received.outputTokens,
    shouldRetry: true,
    ...(facts.requestId === undefined ? {} : { requestId: facts.requestId }),
    cause,
  });
}

function isNeverTried(message: unknown): message is string {
  return typeof message === 'string' && NEVER_TRIED.has(message);
}

function networkMessage(cause: unknown, known: string | undefined): string {
  if (cause instanceof StalledStream || cause instanceof CutStream) return cause.message;
  const why = known ?? (cause instanceof Error ? cause.message : String(cause));
  return sentenceOf('The connection to the model API failed: ', why);
}

interface Cause {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
}

/** By shape, not by class: the runtime's own network errors may be of another realm. */
function causesOf(error: unknown): readonly Cause[] {
  const causes: Cause[] = [];
  let at: unknown = error;
  while (causes.length < CAUSES_MAX && typeof at === 'object' && at !== null) {
    const one = at as Cause;
    causes.push(one);
    at = one.cause;
  }
  return causes;
}
