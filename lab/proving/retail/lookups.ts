/** Finding orders, users, payment methods and items, or refusing as the recorded tools do. */
import { type BoundArguments, idArgument } from '../domains/arguments.js';
import type { PyObject } from '../python/python-value.js';
import { objectField, objectsField, textField } from '../domains/records.js';
import { refuse, type Refusal } from './texts.js';
import type { World } from '../domains/world.js';

/** The run's own copy of the order that the call names. */
export function editOrder(world: World, args: BoundArguments): PyObject {
  const order = world.edit('orders', idArgument(args, 'order_id'));
  if (order === undefined) throw refuse(world.dialect, 'orderNotFound');
  return order;
}

/** The payment method of the order's owner that the call names. */
export function paymentMethodOf(world: World, order: PyObject, id: string): PyObject {
  const user = world.read('users', textField(order, 'user_id'));
  if (user === undefined) throw refuse(world.dialect, 'userNotFound');
  const method = objectField(user, 'payment_methods').get(id);
  if (!(method instanceof Map)) throw refuse(world.dialect, 'paymentMethodNotFound');
  return method;
}

export function isGiftCard(method: PyObject): boolean {
  return method.get('source') === 'gift_card';
}

/** Refuses when the call names an item more often than the order has it. */
export function requireItems(
  order: PyObject,
  ids: readonly string[],
  missing: (id: string) => Error,
): void {
  const owned = countOf(objectsField(order, 'items').map((item) => textField(item, 'item_id')));
  const wanted = countOf(ids);
  for (const id of ids) {
    if ((wanted.get(id) ?? 0) > (owned.get(id) ?? 0)) throw missing(id);
  }
}

function countOf(ids: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** The first item of the order with this id; earlier replacements in the same call count. */
export function itemOf(order: PyObject, id: string): PyObject {
  const item = objectsField(order, 'items').find((entry) => entry.get('item_id') === id);
  // The caller has counted the items before, so this is a broken database rather than an answer.
  if (item === undefined) throw new RangeError(`the order has no item ${id}`);
  return item;
}

/** The available variant that shall replace an item of the same product. */
export function replacementFor(world: World, item: PyObject, newId: string): PyObject {
  const product = world.read('products', textField(item, 'product_id'));
  if (product === undefined) throw refuse(world.dialect, 'productNotFound');
  const variant = objectField(product, 'variants').get(newId);
  if (!(variant instanceof Map)) throw refuse(world.dialect, 'variantMissing', newId);
  if (variant.get('available') !== true) throw refuse(world.dialect, 'variantUnavailable', newId);
  return variant;
}

/** Refuses an order in another status than this. */
export function requireStatus(world: World, order: PyObject, rule: StatusRule): void {
  if (textField(order, 'status') !== rule.status) throw refuse(world.dialect, rule.otherwise);
}

interface StatusRule {
  readonly status: 'pending' | 'delivered';
  readonly otherwise: Refusal;
}
