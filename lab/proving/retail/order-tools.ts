/** Cancelling an order, and changing its address or its payment. */
import { idArgument, type BoundArguments } from '../domains/arguments.js';
import { editOrder, isGiftCard, paymentMethodOf, requireStatus } from './lookups.js';
import { creditGiftCard, paymentEntry } from './payments.js';
import { dumpJson } from '../python/python-json.js';
import { negate } from '../python/python-number.js';
import type { PyObject } from '../python/python-value.js';
import { listField, numberField, objectsField, textField } from '../domains/records.js';
import { refuse } from './texts.js';
import { validated, type Model } from '../python/validation.js';
import type { World } from '../domains/world.js';

/** The parts of an address in the order in which the older tools store them. */
const ADDRESS_PARTS = ['address1', 'address2', 'city', 'state', 'country', 'zip'] as const;

/** The newer ones check them. */
const ADDRESS: Model = {
  name: 'UserAddress',
  fields: ['address1', 'address2', 'city', 'country', 'state', 'zip'].map((part) => [part, 'text']),
};

export function cancelPendingOrder(world: World, args: BoundArguments): string {
  const order = editOrder(world, args);
  requireStatus(world, order, { status: 'pending', otherwise: 'notPendingToCancel' });
  const reason = args.get('reason') ?? null;
  if (reason !== 'no longer needed' && reason !== 'ordered by mistake') {
    throw refuse(world.dialect, 'invalidReason');
  }
  // Every entry is refunded, earlier refunds included: so did the recorded tool.
  const history = listField(order, 'payment_history');
  const refunds = objectsField(order, 'payment_history').map((payment) => {
    const methodId = textField(payment, 'payment_method_id');
    const amount = numberField(payment, 'amount');
    paymentMethodOf(world, order, methodId);
    creditGiftCard(world, order, { amount, methodId });
    return paymentEntry(world, { type: 'refund', amount, methodId });
  });
  order.set('status', 'cancelled');
  order.set('cancel_reason', reason);
  history.push(...refunds);
  return dumpJson(order);
}

export function modifyPendingOrderAddress(world: World, args: BoundArguments): string {
  const order = editOrder(world, args);
  const status = textField(order, 'status');
  // tau2 still lets the address be changed after the items were.
  const open = world.dialect === 'tau2' ? status.includes('pending') : status === 'pending';
  if (!open) throw refuse(world.dialect, 'notPendingToModify');
  order.set('address', addressFrom(world, args));
  return dumpJson(order);
}

export function modifyUserAddress(world: World, args: BoundArguments): string {
  const user = world.edit('users', idArgument(args, 'user_id'));
  if (user === undefined) throw refuse(world.dialect, 'userNotFound');
  user.set('address', addressFrom(world, args));
  return dumpJson(user);
}

function addressFrom(world: World, args: BoundArguments): PyObject {
  if (world.dialect === 'tau2') return validated(ADDRESS, args as PyObject);
  return new Map(ADDRESS_PARTS.map((part) => [part, args.get(part) ?? null]));
}

export function modifyPendingOrderPayment(world: World, args: BoundArguments): string {
  const order = editOrder(world, args);
  const status = textField(order, 'status');
  const open = world.dialect === 'tau2' ? status.includes('pending') : status === 'pending';
  if (!open) throw refuse(world.dialect, 'notPendingToModify');
  const methodId = idArgument(args, 'payment_method_id');
  const method = paymentMethodOf(world, order, methodId);
  const [paid, ...others] = objectsField(order, 'payment_history');
  if (paid === undefined || others.length > 0 || paid.get('transaction_type') !== 'payment') {
    throw refuse(world.dialect, 'onePaymentOnly');
  }
  const paidWith = textField(paid, 'payment_method_id');
  if (paidWith === methodId) throw refuse(world.dialect, 'samePaymentMethod');
  const amount = numberField(paid, 'amount');
  if (isGiftCard(method) && numberField(method, 'balance') < amount) {
    throw refuse(world.dialect, 'balanceForOrder');
  }
  listField(order, 'payment_history').push(
    paymentEntry(world, { type: 'payment', amount, methodId }),
    paymentEntry(world, { type: 'refund', amount, methodId: paidWith }),
  );
  creditGiftCard(world, order, { amount: negate(amount), methodId });
  paymentMethodOf(world, order, paidWith);
  creditGiftCard(world, order, { amount, methodId: paidWith });
  return dumpJson(order);
}
