/**
 * Who sends a request.
 * Invariant: nothing of a request's body is read before its sender is known.
 */
import { notAllowed, Problem } from '../console/http/problem.js';
import type { Authorized, CheckedOptions } from './options.js';

const LOCAL_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
const DEVELOPER: Authorized = { actor: { id: 'developer' } };
const ID_CHARS_MAX = 200;
const ROLES_MAX = 50;
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip'];

/** Errors: a Problem. A Response is the answer. */
export async function callerOf(
  options: CheckedOptions,
  request: Request,
): Promise<Authorized | Response> {
  checkOrigin(options, request);
  if (options.authorize === undefined) return developer(request);
  const who = await options.authorize(request);
  if (who instanceof Response) return who;
  const { id, roles = [] } = who?.actor ?? {};
  const isPerson = typeof id === 'string' && id.trim() !== '' && id.length <= ID_CHARS_MAX;
  if (isPerson && Array.isArray(roles) && roles.length <= ROLES_MAX) return who;
  throw new Error('authorize gave no actor with an id of 1 to 200 characters');
}

/** Requests whose connection comes from another machine, as far as whoever made them has seen the connection. */
export const fromElsewhere = new WeakSet<Request>();

/** A proxy that forwards stands between this machine and somebody else. */
function developer(request: Request): Authorized {
  const isLocal = LOCAL_NAMES.includes(new URL(request.url).hostname);
  const isForwarded = FORWARDED.some((name) => request.headers.has(name));
  if (isLocal && !isForwarded && !fromElsewhere.has(request)) return DEVELOPER;
  throw notAllowed('Without authorize the handler serves this machine alone.');
}

/** Cookies go along with requests of any page: only pages of this origin, or of those that are named, may ask. */
function checkOrigin({ origins = [] }: CheckedOptions, request: Request): void {
  const origin = request.headers.get('origin');
  if (origin === null) {
    const site = request.headers.get('sec-fetch-site');
    if (site === null || site === 'same-origin' || site === 'none') return;
    throw notAllowed('Pages of other origins may not ask.');
  }
  const host = request.headers.get('host') ?? new URL(request.url).host;
  if (origins.includes(origin) || hostOf(origin) === host.toLowerCase()) return;
  throw notAllowed('Pages of this origin may not ask.');
}

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
}

/** Errors: a Problem for what is too large, too slow, or no JSON. */
export async function bodyOf({ limits }: CheckedOptions, request: Request): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\b/i.test(type)) {
    throw new Problem(415, { code: 'unsupported', detail: 'Send JSON (application/json).' });
  }
  if (Number(request.headers.get('content-length') ?? 0) > limits.bodyBytes) throw tooLarge();
  const text = await textOf(request, limits);
  if (text === '') {
    const hint = 'Mount the handler before what reads bodies: express.json().';
    throw new Problem(400, { code: 'invalid', detail: 'The body is empty.', hint });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Problem(400, { code: 'invalid', detail: 'The body is no JSON.' });
  }
}

async function textOf(
  { body }: Request,
  { bodyBytes, bodyMs }: CheckedOptions['limits'],
): Promise<string> {
  if (body === null) return '';
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    void reader.cancel().catch(() => undefined);
  }, bodyMs);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (isLate) throw new Problem(400, { code: 'invalid', detail: 'The body came too slowly.' });
      if (done) return Buffer.concat(pieces).toString('utf8');
      bytes += value.byteLength;
      if (bytes > bodyBytes) {
        void reader.cancel().catch(() => undefined);
        throw tooLarge();
      }
      pieces.push(value);
    }
  } finally {
    clearTimeout(late);
  }
}

function tooLarge(): Problem {
  return new Problem(413, { code: 'too_large', detail: 'The request is too large.' });
}
