/**
 * One call of an operation: its request is made, sent and answered.
 * Invariants: until the request is sent, every failure is a ToolError; secrets go to the service's own origin alone.
 */
import { ToolError } from '../tool-error.js';
import type { ToolContext } from '../tool.js';
import type { Json } from '../../core/json/json.js';
import type { Operation } from './operations.js';
import type { OwnHeaders } from './own-headers.js';
import type { Plan } from './plan.js';
import { requestOf, type Destination, type Requested } from './request.js';
import { resultOf, unansweredBy, type Asking } from './response.js';

const REDIRECTS_MAX = 5;
const ACCEPT = 'application/json, text/*;q=0.9, */*;q=0.5';

export interface Callable {
  readonly operation: Operation;
  readonly plan: Plan;
  readonly destination: Destination;
  readonly headers: OwnHeaders;
  readonly isRead: boolean;
  readonly bytesMax: number;
  /** In small letters. */
  readonly keyHeader?: string;
  readonly send?: typeof fetch;
}

type Input = { readonly [argument: string]: Json };

export function callOf(callable: Callable): (input: Input, ctx: ToolContext) => Promise<unknown> {
  const { operation, plan, destination, headers, isRead, bytesMax, keyHeader } = callable;
  const { method, key } = operation;
  return async (input, ctx) => {
    const requested = requestOf(plan, input, destination);
    const own = await headers.of(ctx);
    const isKeyed = keyHeader !== undefined;
    const asking: Asking = {
      method,
      key,
      isRead,
      isKeyed,
      attempt: ctx.attempt,
      bytesMax,
      hiding: own.hiding,
    };
    const sent = {
      ...requested,
      headers: [
        ['accept', ACCEPT] as const,
        ...requested.headers,
        ...(isKeyed ? [[keyHeader, ctx.idempotencyKey] as const] : []),
        ...own.pairs,
      ],
    };
    if (ctx.signal.aborted)
      throw new ToolError('The call was given up before its request was sent.');
    const response = await answered(callable, sent, ctx.signal).catch((error: unknown) => {
      throw error instanceof ToolError ? error : unansweredBy(error, asking);
    });
    return resultOf(response, asking);
  };
}

/** The headers of the configuration come last, and win. A read follows to places of its own origin; nothing else is sent anywhere else than it was meant for. */
async function answered(
  { operation: { method, key }, isRead, send = globalThis.fetch }: Callable,
  { url, headers, body }: Requested,
  signal: AbortSignal,
): Promise<Response> {
  const follows = isRead && (method === 'get' || method === 'head');
  let at = url;
  for (let hops = 0; ; hops += 1) {
    const init = {
      method: method.toUpperCase(),
      headers: Object.fromEntries(headers),
      signal,
    };
    const response = await send(at, {
      ...init,
      redirect: 'manual',
      ...(body !== undefined && { body }),
    });
    const next = follows ? placeOf(response, at) : undefined;
    if (next === undefined) return response;
    await response.body?.cancel().catch(() => undefined);
    if (next.origin !== url.origin || hops >= REDIRECTS_MAX) {
      throw new ToolError(`The service sends ${key} elsewhere, where it is not followed.`);
    }
    at = next;
  }
}

function placeOf({ status, headers }: Response, from: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status)) return undefined;
  const location = headers.get('location') ?? '';
  return location !== '' && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
}
