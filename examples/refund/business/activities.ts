/** Activities of the business worker: ordinary Temporal activities that read the shop's books. */
import type { Shop } from '../shop/client.js';

export interface PaidRefund {
  readonly refundId: string;
  readonly amountCents: number;
  readonly key: string;
}

export interface BusinessActivities {
  refundsPaidBy(run: {
    readonly orderId: string;
    readonly runId: string;
  }): Promise<readonly PaidRefund[]>;
}

export function businessActivities(shop: Shop): BusinessActivities {
  return {
    refundsPaidBy: async ({ orderId, runId }) =>
      (await shop.refundsOf(orderId))
        // An idempotency key is the run's id and the step that paid.
        .filter(({ key }) => key.startsWith(`${runId}:`))
        .map(({ refundId, amountCents, key }) => ({ refundId, amountCents, key })),
  };
}
