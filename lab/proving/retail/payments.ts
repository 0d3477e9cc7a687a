/** Money: entries of an order's payment history and the balance of gift cards. */
import { isGiftCard } from './lookups.js';
import { add, roundToCents } from '../python/python-number.js';
import type { PyNumber, PyObject } from '../python/python-value.js';
import { numberField, objectField, textField } from '../domains/records.js';
import type { World } from '../domains/world.js';

export interface Payment {
  readonly type: 'payment' | 'refund';
  readonly amount: PyNumber;
  readonly methodId: string;
}

/** One line of a payment history; tau2 stores every amount as a float. */
export function paymentEntry(world: World, payment: Payment): PyObject {
  const amount = world.dialect === 'tau2' ? Number(payment.amount) : payment.amount;
  return new Map<string, string | PyNumber>([
    ['transaction_type', payment.type],
    ['amount', amount],
    ['payment_method_id', payment.methodId],
  ]);
}

/** Adds an amount to a gift card of the order's owner at once; other methods take days. */
export function creditGiftCard(
  world: World,
  order: PyObject,
  payment: Omit<Payment, 'type'>,
): void {
  const user = world.edit('users', textField(order, 'user_id'));
  if (user === undefined) return;
  const method = objectField(user, 'payment_methods').get(payment.methodId);
  if (!(method instanceof Map) || !isGiftCard(method)) return;
  method.set('balance', roundToCents(add(numberField(method, 'balance'), payment.amount)));
}
