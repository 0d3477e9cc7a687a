/**
 * Headers that a configuration sends with each request.
 * Invariant: a value that a function gives is asked for before each request and leaves this process in that request alone: no
 * result, error or event has it.
 */
import { HoldfastError } from '../../core/state/errors.js';
import { ToolError, UNAVAILABLE } from '../tool-error.js';
import type { ToolContext } from '../tool.js';
import { isHeaderText } from './request.js';
import { hidingOf, type Hiding } from './secrets.js';

const HEADERS_MAX = 50;
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const KEY_HEADER = 'idempotency-key';
const REFUSED = ['host', 'content-length', 'transfer-encoding', 'connection', 'content-type'];

/** A text that is no secret, or a function that gives the value of one request. */
export type HeaderValue =
  string | ((ctx: ToolContext) => string | undefined | Promise<string | undefined>);

export interface OwnHeaders {
  /** In small letters. */
  readonly names: readonly string[];
  /** The headers of one request. Errors: ToolError, before anything was sent; it quotes no value. */
  of(ctx: ToolContext): Promise<SentHeaders>;
}

interface SentHeaders {
  readonly pairs: readonly (readonly [string, string])[];
  /** Hides the values that functions gave. */
  readonly hiding: Hiding;
}

/** Errors: InvalidTool, which quotes no value. */
export function ownHeadersOf(given: { readonly [name: string]: HeaderValue }): OwnHeaders {
  const entries = Object.entries(given).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  if (entries.length > HEADERS_MAX) throw wrong(`${entries.length} headers are too many`);
  for (const [name, value] of entries) {
    if (name === KEY_HEADER) {
      const hint =
        "Name it in idempotencyKeys: { createOrder: 'Idempotency-Key' }; each call has a key of its own.";
      throw wrong('headers sets Idempotency-Key for every call', hint);
    }
    if (!NAME.test(name) || REFUSED.includes(name)) {
      throw wrong(`${JSON.stringify(name.slice(0, 60))} is no header that can be sent`);
    }
    const isUsable =
      typeof value === 'function' || (typeof value === 'string' && isHeaderText(value));
    if (!isUsable) throw wrong(`the header ${name} is neither a text of one line nor a function`);
  }
  return {
    names: entries.map(([name]) => name),
    async of(ctx) {
      const pairs: (readonly [string, string])[] = [];
      const secrets: string[] = [];
      for (const [name, value] of entries) {
        const text =
          typeof value === 'string' ? value : await asked(name, ctx.signal, () => value(ctx));
        pairs.push([name, text]);
        if (typeof value === 'function') secrets.push(text);
      }
      return { pairs, hiding: hidingOf(secrets) };
    },
  };
}

type HeaderGiver = () => string | undefined | Promise<string | undefined>;

async function asked(name: string, signal: AbortSignal, give: HeaderGiver): Promise<string> {
  let text: unknown;
  try {
    text = await unlessStopped(give, signal);
  } catch {
    // Its words may have the secret.
    throw new ToolError(UNAVAILABLE, `The header ${name} cannot be made now.`);
  }
  if (typeof text === 'string' && text !== '' && isHeaderText(text)) return text;
  throw new ToolError(UNAVAILABLE, `The header ${name} has no value that can be sent.`);
}

/** Throws when the signal stops first: nothing was sent yet. */
async function unlessStopped<T>(give: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const over = new AbortController();
  const stopped = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new Error('The call was given up.'));
    signal.addEventListener('abort', stop, { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([give(), stopped]);
  } finally {
    over.abort();
  }
}

const HINT = "Use headers: { authorization: () => `Bearer ${process.env['API_TOKEN']}` }.";

function wrong(what: string, hint = HINT): HoldfastError {
  return new HoldfastError('InvalidTool', `fromOpenAPI: ${what}.`, { hint });
}
