/** The shop, seen from the agents' tools and the business process. */
import { ToolError } from '../../../index.js';
import type { Refund, RefundRequest } from './books.js';
import type { Delivery, Order, PolicySection } from './catalogue.js';

export type { Delivery, Order, PolicySection, Refund, RefundRequest };

export interface Shop {
  order(orderId: string, signal?: AbortSignal): Promise<Order>;
  delivery(orderId: string, signal?: AbortSignal): Promise<Delivery>;
  searchPolicy(words: string, signal?: AbortSignal): Promise<readonly PolicySection[]>;
  /** Safe to repeat: the shop pays a key once. */
  refund(request: RefundRequest, signal?: AbortSignal): Promise<Refund>;
  findByKey(key: string, signal?: AbortSignal): Promise<Refund | null>;
  refundsOf(orderId: string, signal?: AbortSignal): Promise<readonly Refund[]>;
}

const TIMEOUT_MS = 10_000;

export function shopAt(url: string): Shop {
  const get = async <T>(path: string, signal?: AbortSignal): Promise<T> =>
    (await ask(`${url}${path}`, { signal: within(signal) })) as T;
  return {
    order: (orderId, signal) => get(`/orders/${encodeURIComponent(orderId)}`, signal),
    delivery: (orderId, signal) => get(`/deliveries/${encodeURIComponent(orderId)}`, signal),
    searchPolicy: async (words, signal) => {
      const path = `/policy?words=${encodeURIComponent(words)}`;
      return (await get<{ sections: PolicySection[] }>(path, signal)).sections;
    },
    refund: async ({ key, ...body }, signal) =>
      (await ask(`${url}/refunds`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
        signal: within(signal),
      })) as Refund,
    findByKey: async (key, signal) =>
      (await get<{ refund: Refund | null }>(`/refunds?key=${encodeURIComponent(key)}`, signal))
        .refund,
    refundsOf: async (orderId, signal) =>
      (await get<{ refunds: Refund[] }>(`/refunds?order=${encodeURIComponent(orderId)}`, signal))
        .refunds,
  };
}

/**
 * A refusal by the shop means that nothing happened, which only a ToolError may say. Anything else, such as a
 * lost connection, leaves a payment in doubt, and Holdfast then looks the key up instead of paying again.
 */
async function ask(url: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(url, init);
  const body: unknown = await response.json();
  if (response.ok) return body;
  const { error } = body as { readonly error?: { readonly message?: string } };
  const message = error?.message ?? `The shop answered ${response.status}.`;
  if (response.status >= 400 && response.status < 500) throw new ToolError(message);
  throw new Error(message);
}

function within(signal: AbortSignal | undefined): AbortSignal {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  return signal === undefined ? limit : AbortSignal.any([signal, limit]);
}
