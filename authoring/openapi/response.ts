/**
 * What a service answers, as the result of a call or as an error of it.
 * Invariants: at most so many bytes are read; an answer that says that something was done is never an error; an error that leaves
 * in doubt whether something was done is no ToolError.
 */
import { RETRYABLE, ToolError, UNAVAILABLE } from '../tool-error.js';
import type { Method } from './operations.js';

const WORDS_CHARS_MAX = 1_000;
/** Of an answer that is an error. */
const ERROR_BYTES_MAX = 16 * 1024;
const HEAD_FIELDS = ['content-type', 'content-length', 'etag', 'last-modified'] as const;
const CAUSES_MAX = 4;
/** Nobody was reached, or nobody who may be trusted. */
const UNREACHED: readonly string[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_TLS_CERT_ALTNAME_INVALID',
];
/** A number that a float changes. */
const LARGE_NUMBER = /(?<![\w".])-?\d{16,}(?![\w".])/;
const DEPTH_MAX = 200;

/** The call that is answered. */
export interface Asking {
  readonly method: Method;
  /** `GET /pets/{petId}`, for messages. */
  readonly key: string;
  readonly isRead: boolean;
  /** It was sent with an idempotency key. */
  readonly isKeyed: boolean;
  /** Number of this execution of the call, from 1. */
  readonly attempt: number;
  readonly bytesMax: number;
  readonly strip: (text: string) => string;
  readonly stripCut: (text: string) => string;
}

/** A result, or what is thrown. */
export async function resultOf(response: Response, asking: Asking): Promise<unknown> {
  const { status } = response;
  if (status >= 200 && status < 300) return doneOf(response, asking);
  const isGone = status === 404 || status === 410;
  if (isGone && asking.method === 'delete' && asking.attempt > 1) {
    await drop(response);
    return {
      status,
      note: 'The thing was gone before; an earlier request of this call may have deleted it.',
    };
  }
  const said = await bodyOf(response, ERROR_BYTES_MAX).catch(() => undefined);
  const words = said === undefined ? '' : stripped(said, asking).slice(0, WORDS_CHARS_MAX).trim();
  const message = `The service answered ${asking.key} with status ${status}${words === '' ? '.' : `: ${words}`}`;
  throw faultOf(status, message, asking);
}

function faultOf(status: number, message: string, { isRead, isKeyed }: Asking): Error {
  if (status === 429 || status === 425) return new ToolError(RETRYABLE, message);
  if (status === 401) return new ToolError(UNAVAILABLE, message);
  const isTransient = status === 408 || status >= 500;
  if (isRead) return isTransient ? new ToolError(RETRYABLE, message) : new ToolError(message);
  // With a key a conflict may mean that an earlier request of this call is still at work.
  if (isTransient || (isKeyed && status === 409)) return new Error(message);
  // A service that shows the way to a result has made one; 307 and 308 want the request elsewhere.
  if (status >= 300 && status < 307) return new Error(message);
  return new ToolError(message);
}

/** What sending itself threw: nobody was reached, or nobody knows. */
export function unansweredBy(
  error: unknown,
  { key, isRead }: Pick<Asking, 'key' | 'isRead'>,
): Error {
  const message = `The service did not answer ${key}${codeOf(error, CAUSES_MAX)}.`;
  return isRead || isUnreached(error, CAUSES_MAX)
    ? new ToolError(RETRYABLE, message)
    : new Error(message);
}

interface NetworkError {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** Errors of the network stand behind those of fetch, one for each address that was tried. */
function isUnreached(error: unknown, depth: number): boolean {
  if (typeof error !== 'object' || error === null || depth === 0) return false;
  const { code, syscall, cause, errors } = error as NetworkError;
  if (Array.isArray(errors) && errors.length > 0) {
    return errors.every((one) => isUnreached(one, depth - 1));
  }
  if (syscall === 'connect' || UNREACHED.includes(String(code))) return true;
  return isUnreached(cause, depth - 1);
}

function codeOf(error: unknown, depth: number): string {
  if (typeof error !== 'object' || error === null || depth === 0) return '';
  const { code, cause, errors } = error as NetworkError;
  if (typeof code === 'string' && /^[A-Z_]{1,60}$/.test(code)) return ` (${code})`;
  return codeOf(Array.isArray(errors) ? errors[0] : cause, depth - 1);
}

async function doneOf(response: Response, asking: Asking): Promise<unknown> {
  const { status, headers } = response;
  if (asking.method === 'head') {
    await drop(response);
    const told = HEAD_FIELDS.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, asking.strip(value).slice(0, 200)]];
    });
    return { status, ...Object.fromEntries(told) };
  }
  const type = (headers.get('content-type') ?? '').slice(0, 100).toLowerCase();
  const isJson = /^[\w.-]+\/([\w.-]+\+)?json\b/.test(type);
  if (response.body === null || status === 204) return { status };
  if (!isJson && type !== '' && !/^text\/|[/+]xml\b|[/+]yaml\b/.test(type)) {
    await drop(response);
    return {
      status,
      contentType: asking.strip(type),
      note: 'The answer is no text and was not read.',
    };
  }
  const read = await bodyOf(response, asking.bytesMax).catch(() => undefined);
  if (read === undefined) return unread(status, asking);
  if (read.isCut) {
    return `${stripped(read, asking)}\n[cut off: ${asking.bytesMax} bytes kept]`;
  }
  if (read.text === '') return { status };
  return isJson ? parsed(read.text, asking) : stripped(read, asking);
}

function stripped({ text, isCut }: Read, { strip, stripCut }: Asking): string {
  return isCut ? stripCut(text) : strip(text);
}

/** The status was heard: what was asked for is done, whatever became of the rest of the answer. */
function unread(status: number, { isRead, key }: Asking): unknown {
  if (isRead) throw new ToolError(RETRYABLE, `The answer to ${key} broke off.`);
  return { status, note: 'The call is done; the rest of its answer was lost.' };
}

/** What JSON writes in other words is looked at as it is meant. */
function parsed(text: string, { strip }: Asking): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    const clean = cleaned(value, strip, DEPTH_MAX);
    // Ids that a number cannot hold stay as they were written.
    const isSame = LARGE_NUMBER.test(text) && JSON.stringify(clean) === JSON.stringify(value);
    return isSame ? text : clean;
  } catch {
    return strip(text);
  }
}

function cleaned(value: unknown, strip: Asking['strip'], depth: number): unknown {
  if (typeof value === 'string') return strip(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '[deeper]';
  if (Array.isArray(value)) return value.map((one) => cleaned(one, strip, depth - 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [strip(key), cleaned(one, strip, depth - 1)]),
  );
}

interface Read {
  readonly text: string;
  readonly isCut: boolean;
}

async function bodyOf(response: Response, bytesMax: number): Promise<Read> {
  if (response.body === null) return { text: '', isCut: false };
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { text: textOf(parts), isCut: false };
    const room = bytesMax - bytes;
    parts.push(value.subarray(0, room));
    bytes += value.byteLength;
    if (value.byteLength <= room) continue;
    void reader.cancel().catch(() => undefined);
    return { text: textOf(parts).replace(/\uFFFD+$/, ''), isCut: true };
  }
}

function textOf(parts: readonly Uint8Array[]): string {
  return new TextDecoder().decode(Buffer.concat(parts));
}

async function drop(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => undefined);
}
