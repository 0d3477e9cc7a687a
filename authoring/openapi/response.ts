/**
 * What a service answers, as the result of a call or as an error of it.
 * Invariants: at most so many bytes are read; an answer that says that something was done is never an error; an error that leaves
 * in doubt whether something was done is no ToolError.
 */
import type { Json } from '../../core/json/json.js';
import { RETRYABLE, ToolError, UNAVAILABLE } from '../tool-error.js';
import type { Method } from './operations.js';
import type { Hiding } from './secrets.js';

const WORDS_CHARS_MAX = 1_000;
/** Of an answer that is an error. */
const ERROR_BYTES_MAX = 16 * 1024;
const HEAD_FIELDS = ['content-type', 'content-length', 'etag', 'last-modified'] as const;
const TOLD_CHARS_MAX = 200;
const CAUSES_MAX = 4;
/** Nobody was reached, or nobody who proved to be the service: nothing was sent. */
const UNCONNECTED = [
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
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
];

/** The call that is answered. */
export interface Asking {
  readonly method: Method;
  /** `GET /pets/{petId}`, for messages. */
  readonly key: string;
  readonly isRead: boolean;
  /** It was sent with an idempotency key. */
  readonly isKeyed: boolean;
  /** As the tool's context has it. */
  readonly attempt: number;
  readonly bytesMax: number;
  readonly hiding: Hiding;
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
  const text = said === undefined ? '' : asking.hiding.text(said.text, said);
  const words = text.slice(0, WORDS_CHARS_MAX).trim();
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
  const faults = faultsOf(error, CAUSES_MAX);
  const code = faults.find(({ code }) => code !== undefined)?.code;
  const why = code === undefined ? '' : ` (${code})`;
  const message = `The service did not answer ${key}${why}.`;
  const isUnsent = faults.length > 0 && faults.every(isUnconnected);
  return isRead || isUnsent ? new ToolError(RETRYABLE, message) : new Error(message);
}

interface Fault {
  readonly code?: string;
  /** What failed, where the system said so. */
  readonly syscall?: unknown;
}

function isUnconnected({ code, syscall }: Fault): boolean {
  return syscall === 'connect' || (code !== undefined && UNCONNECTED.includes(code));
}

/** Errors of the network stand behind those of fetch, one for each address that was tried. */
function faultsOf(error: unknown, depth: number): readonly Fault[] {
  if (typeof error !== 'object' || error === null || depth === 0) return [{}];
  const { code, syscall, cause, errors } = error as { readonly [field: string]: unknown };
  if (Array.isArray(errors) && errors.length > 0) {
    return errors.flatMap((one) => faultsOf(one, depth - 1));
  }
  if (typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code)) return [{ code, syscall }];
  return cause === undefined ? [{}] : faultsOf(cause, depth - 1);
}

async function doneOf(response: Response, asking: Asking): Promise<unknown> {
  const { status, headers } = response;
  if (asking.method === 'head') {
    await drop(response);
    const told = HEAD_FIELDS.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, asking.hiding.text(value).slice(0, TOLD_CHARS_MAX)]];
    });
    return { status, ...Object.fromEntries(told) };
  }
  const said = headers.get('content-type') ?? '';
  const type = said.slice(0, 100).toLowerCase();
  const isJson = /^[\w.-]+\/([\w.-]+\+)?json\b/.test(type);
  if (response.body === null || status === 204) return { status };
  if (!isJson && type !== '' && !/^text\/|[/+]xml\b|[/+]yaml\b/.test(type)) {
    await drop(response);
    const contentType = asking.hiding.text(said).slice(0, TOLD_CHARS_MAX);
    return { status, contentType, note: 'The answer is no text and was not read.' };
  }
  const read = await bodyOf(response, asking.bytesMax).catch(() => undefined);
  if (read === undefined) return unread(status, asking);
  const text = asking.hiding.text(read.text, read);
  if (read.isCut) return `${text}\n[cut off: ${asking.bytesMax} bytes kept]`;
  if (text === '') return { status };
  if (!isJson) return text;
  const value = parsed(read.text);
  return value === undefined ? text : asking.hiding.value(value);
}

/** The status was heard: what was asked for is done, whatever became of the rest of the answer. */
function unread(status: number, { isRead, key }: Asking): unknown {
  if (isRead) throw new ToolError(RETRYABLE, `The answer to ${key} broke off.`);
  return { status, note: 'The call is done; the rest of its answer was lost.' };
}

const WORDS_AND_NUMBERS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** Integers that a number would change are texts: an id names one thing. Undefined: the text is no JSON. */
function parsed(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    if (!/\d{16}/.test(text)) return value;
    const exact = text.replaceAll(WORDS_AND_NUMBERS, (part) =>
      /^-?\d+$/.test(part) && !Number.isSafeInteger(Number(part)) ? `"${part}"` : part,
    );
    return JSON.parse(exact) as Json;
  } catch {
    return undefined;
  }
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
