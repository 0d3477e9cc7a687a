/**
 * Headers that a configuration sends with each request.
 * Invariant: a value that a function gives is asked for before each request and leaves this process in that request alone: no
 * result, error or event has it.
 */
import { HoldfastError } from '../../core/state/errors.js';
import { formsOfValue, withoutValues, withoutValuesCut } from '../hidden-values.js';
import { ToolError, UNAVAILABLE } from '../tool-error.js';
import type { ToolContext } from '../tool.js';
import { isHeaderText } from './request.js';

const HEADERS_MAX = 50;
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const REFUSED = ['host', 'content-length', 'transfer-encoding', 'connection', 'content-type'];
const KEY_HEADER = 'idempotency-key';

/** A text that is no secret, or a function that gives the value of one request. */
export type HeaderValue =
  string | ((ctx: ToolContext) => string | undefined | Promise<string | undefined>);

export interface OwnHeaders {
  /** In small letters. */
  readonly names: readonly string[];
  /** A function gives at least one of them. */
  readonly isSecret: boolean;
  /** The headers of one request. Errors: ToolError, before anything was sent; it quotes no value. */
  of(ctx: ToolContext): Promise<SentHeaders>;
}

interface SentHeaders {
  readonly pairs: readonly (readonly [string, string])[];
  /** The text without the values that functions gave, and the parts of them, of six characters and more. */
  readonly strip: (text: string) => string;
  /** The same of a text that was cut off. */
  readonly stripCut: (text: string) => string;
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
    isSecret: entries.some(([, value]) => typeof value === 'function'),
    async of(ctx) {
      const pairs: (readonly [string, string])[] = [];
      const secrets: string[] = [];
      for (const [name, value] of entries) {
        const text =
          typeof value === 'string' ? value : await asked(name, ctx.signal, () => value(ctx));
        pairs.push([name, text]);
        if (typeof value === 'function') secrets.push(...partsOf(text));
      }
      return {
        pairs,
        strip: (text) => withoutValues(secrets, text),
        stripCut: (text) => withoutValuesCut(secrets, text),
      };
    },
  };
}

type Asked = () => string | undefined | Promise<string | undefined>;

async function asked(name: string, signal: AbortSignal, give: Asked): Promise<string> {
  let text: unknown;
  try {
    text = await unlessAborted(signal, give);
  } catch {
    // Its words may have the secret.
    throw new ToolError(UNAVAILABLE, `The header ${name} cannot be made now.`);
  }
  if (typeof text === 'string' && text !== '' && isHeaderText(text)) return text;
  throw new ToolError(UNAVAILABLE, `The header ${name} has no value that can be sent.`);
}

/** A function that takes longer than the call may, is given up. */
function unlessAborted<T>(signal: AbortSignal, give: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error('The call was given up.'));
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    Promise.resolve()
      .then(give)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', stop));
  });
}

/** `Bearer abc` has the secret `abc`, a cookie one for each of its parts, `Basic` a name and a password in base64. */
function partsOf(text: string): readonly string[] {
  const parts = text.split(/[\s;,=]+/);
  const basic = /^basic\s+(\S+)$/i.exec(text)?.[1];
  const plain = basic === undefined ? '' : Buffer.from(basic, 'base64').toString();
  const all = [text, ...text.split(/\s+/), ...parts, plain, ...plain.split(':').slice(1)];
  return [...new Set(all.flatMap(formsOfValue))];
}

const HINT = "Use headers: { authorization: () => `Bearer ${process.env['API_TOKEN']}` }.";

function wrong(what: string, hint = HINT): HoldfastError {
  return new HoldfastError('InvalidTool', `fromOpenAPI: ${what}.`, { hint });
}
