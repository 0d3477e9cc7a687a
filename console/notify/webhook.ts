/** One signed request to somebody's webhook (the scheme of Standard Webhooks). */
import { createHmac } from 'node:crypto';
import type { NoticeReply } from '../../pure/notice.js';

/** How long one request may take, in ms. */
export const SEND_LIMIT_MS = 10_000;

export interface Posting {
  readonly url: string;
  readonly secret: string;
  /** Names the message: the same again is the same message. */
  readonly id: string;
  readonly at: number;
  readonly body: string;
}

/** What the other side said by its status; its text is not read, and no redirect is followed. */
export async function post(
  { url, secret, id, at, body }: Posting,
  signal: AbortSignal,
): Promise<NoticeReply> {
  const timestamp = String(Math.floor(at / 1_000));
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signatureOf(secret, `${id}.${timestamp}.${body}`)}`,
  };
  const ended = AbortSignal.any([signal, AbortSignal.timeout(SEND_LIMIT_MS)]);
  try {
    const init = { method: 'POST', headers, body, redirect: 'manual', signal: ended } as const;
    const response = await fetch(url, init);
    // What comes after its head changes nothing: it is taken, or it is not.
    await response.body?.cancel().catch(() => undefined);
    const retryAfterMs = pauseIn(response.headers.get('retry-after'), at);
    const asked = retryAfterMs !== undefined && { retryAfterMs };
    return { kind: 'answered', status: response.status, ...asked };
  } catch {
    return { kind: 'no_answer' };
  }
}

/** Retry-After: seconds, or a date of HTTP; undefined: neither. */
function pauseIn(text: string | null, at: number): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1_000;
  if (!/^[A-Z][a-z]{2}, .{10,30} GMT$/.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - at);
}

function signatureOf(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64');
}
