/** Stands in for a shop's own service: its orders, and what was paid back. It forgets when the process ends. */
export interface Refund {
  readonly refundId: string;
  readonly orderId: string;
  readonly amountCents: number;
}

const refunds = new Map<string, Refund>();

export function orderOf(orderId: string) {
  return {
    orderId,
    item: 'tea set',
    totalCents: 4_999,
    status: 'delivered',
    deliveredOn: '2026-03-19',
  };
}

/** A service that takes a key pays once for each key, however often it is asked. */
export function payRefund(key: string, orderId: string, amountCents: number): Refund {
  const paid = refunds.get(key) ?? { refundId: `R-${refunds.size + 1}`, orderId, amountCents };
  refunds.set(key, paid);
  return paid;
}

/** What became of a payment whose answer was lost. */
export function refundWithKey(key: string): Refund | undefined {
  return refunds.get(key);
}
