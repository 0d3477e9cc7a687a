/** What the tools answer when they refuse, word for word as each generation of the benchmark does. */
import type { Dialect } from '../domains/database.js';
import { ToolError } from '../python/tool-error.js';

type Wording = (subject: string) => string;

interface Pair {
  readonly tau2: Wording;
  readonly 'tau-bench': Wording;
}

/** Most refusals differ only in their first letter. */
function alike(text: string): Pair {
  const lower = `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
  return { tau2: () => text, 'tau-bench': () => lower };
}

const unavailable: Pair = {
  tau2: (id) => `New item ${id} not found or available`,
  'tau-bench': (id) => `new item ${id} not found or available`,
};

const REFUSALS = {
  orderNotFound: alike('Order not found'),
  userNotFound: alike('User not found'),
  productNotFound: alike('Product not found'),
  itemNotFound: alike('Item not found'),
  paymentMethodNotFound: alike('Payment method not found'),
  notPendingToCancel: alike('Non-pending order cannot be cancelled'),
  notPendingToModify: alike('Non-pending order cannot be modified'),
  notDeliveredToExchange: alike('Non-delivered order cannot be exchanged'),
  notDeliveredToReturn: alike('Non-delivered order cannot be returned'),
  invalidReason: alike('Invalid reason'),
  onePaymentOnly: alike('There should be exactly one payment for a pending order'),
  samePaymentMethod: alike('The new payment method should be different from the current one'),
  sameItem: alike('The new item id should be different from the old item id'),
  itemsMissing: alike('Some item not found'),
  balanceForOrder: alike('Insufficient gift card balance to pay for the order'),
  balanceForItem: alike('Insufficient gift card balance to pay for the new item'),
  balanceForDifference: alike('Insufficient gift card balance to pay for the price difference'),
  refundElsewhere: {
    tau2: () => 'Payment method should be the original payment method',
    'tau-bench': () => 'payment method should be either the original payment method or a gift card',
  },
  exchangeCount: {
    tau2: () => 'The number of items to be exchanged should match.',
    'tau-bench': () => 'the number of items to be exchanged should match',
  },
  modifyCount: alike('The number of items to be exchanged should match'),
  exchangedItemMissing: {
    tau2: (id: string) => `Number of ${id} not found.`,
    'tau-bench': (id: string) => `${id} not found`,
  },
  modifiedItemMissing: {
    tau2: (id: string) => `${id} not found`,
    'tau-bench': (id: string) => `${id} not found`,
  },
  variantMissing: { tau2: () => 'Variant not found', 'tau-bench': unavailable['tau-bench'] },
  variantUnavailable: unavailable,
} satisfies Record<string, Pair>;

export type Refusal = keyof typeof REFUSALS;

/** The refusal as an error to throw; `subject` is the id that some of the texts name. */
export function refuse(dialect: Dialect, refusal: Refusal, subject = ''): ToolError {
  return new ToolError(REFUSALS[refusal][dialect](subject));
}
