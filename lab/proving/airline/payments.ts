/** Money: the payment methods of a user, and what a changed reservation costs or gives back. */
import { numberField, objectField, textField } from '../domains/records.js';
import type { World } from '../domains/world.js';
import { subtract } from '../python/python-number.js';
import type { PyNumber, PyObject, PyValue } from '../python/python-value.js';
import { refuse } from './texts.js';

/** What each piece of baggage beyond the free ones costs. */
export const BAGGAGE_PRICE = 50n;
/** Insurance of one passenger. */
export const INSURANCE_PRICE = 30n;

export interface Payment {
  readonly id: string;
  readonly amount: PyNumber;
}

/** One line of a payment history. */
export function paymentEntry({ id, amount }: Payment): PyObject {
  return new Map<string, PyValue>([
    ['payment_id', id],
    ['amount', amount],
  ]);
}

export function isGiftCard(method: PyObject): boolean {
  return method.get('source') === 'gift_card';
}

export function isCertificate(method: PyObject): boolean {
  return method.get('source') === 'certificate';
}

/** The run's own copy of a user that a record of the database names. */
export function editUser(world: World, id: string): PyObject {
  const user = world.edit('users', id);
  if (user === undefined) throw refuse(world.dialect, 'userNotFound', id);
  return user;
}

/**
 * Settles the difference of a changed reservation with one method of its user; a negative one is paid
 * back. The line for its history, or undefined when nothing is owed.
 */
export function settleDifference(
  world: World,
  reservation: PyObject,
  { id, amount }: Payment,
): PyObject | undefined {
  const user = editUser(world, textField(reservation, 'user_id'));
  const method = objectField(user, 'payment_methods').get(id);
  if (!(method instanceof Map)) throw refuse(world.dialect, 'noPaymentMethod');
  if (isCertificate(method)) throw refuse(world.dialect, 'certificateForUpdate');
  if (isGiftCard(method)) {
    const balance = numberField(method, 'amount');
    if (balance < amount) throw refuse(world.dialect, 'giftCardBalance');
    method.set('amount', subtract(balance, amount));
  }
  return Number(amount) === 0 ? undefined : paymentEntry({ id, amount });
}
