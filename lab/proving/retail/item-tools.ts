/** Returning, exchanging and replacing the items of an order. */
import {
  idArgument,
  idsArgument,
  sizedIdsArgument,
  type BoundArguments,
} from '../domains/arguments.js';
import {
  editOrder,
  isGiftCard,
  itemOf,
  paymentMethodOf,
  replacementFor,
  requireItems,
  requireStatus,
} from './lookups.js';
import { creditGiftCard, paymentEntry } from './payments.js';
import { dumpJson } from '../python/python-json.js';
import { absolute, add, negate, roundToCents, subtract } from '../python/python-number.js';
import { cloneValue, type PyNumber, type PyObject } from '../python/python-value.js';
import {
  listField,
  numberField,
  objectField,
  objectsField,
  textField,
} from '../domains/records.js';
import { refuse } from './texts.js';
import type { World } from '../domains/world.js';

export function returnDeliveredOrderItems(world: World, args: BoundArguments): string {
  const order = editOrder(world, args);
  requireStatus(world, order, { status: 'delivered', otherwise: 'notDeliveredToReturn' });
  const methodId = idArgument(args, 'payment_method_id');
  const method = paymentMethodOf(world, order, methodId);
  const paidWith = objectsField(order, 'payment_history')[0]?.get('payment_method_id');
  if (!isGiftCard(method) && methodId !== paidWith) throw refuse(world.dialect, 'refundElsewhere');
  const ids = idsArgument(args, 'item_ids');
  requireItems(order, ids, () => refuse(world.dialect, 'itemsMissing'));
  order.set('status', 'return requested');
  order.set('return_items', [...ids].sort());
  order.set('return_payment_method_id', methodId);
  return dumpJson(order);
}

export function exchangeDeliveredOrderItems(world: World, args: BoundArguments): string {
  const order = editOrder(world, args);
  requireStatus(world, order, { status: 'delivered', otherwise: 'notDeliveredToExchange' });
  const ids = idsArgument(args, 'item_ids');
  requireItems(order, ids, (id) => refuse(world.dialect, 'exchangedItemMissing', id));
  const newIds = sizedIdsArgument(args, 'new_item_ids');
  if (ids.length !== newIds.length) throw refuse(world.dialect, 'exchangeCount');
  const difference = roundToCents(planReplacements(world, order, { ids, newIds }).difference);
  const methodId = idArgument(args, 'payment_method_id');
  const method = paymentMethodOf(world, order, methodId);
  if (isGiftCard(method) && numberField(method, 'balance') < difference) {
    throw refuse(world.dialect, 'balanceForDifference');
  }
  order.set('status', 'exchange requested');
  order.set('exchange_items', [...ids].sort());
  order.set('exchange_new_items', [...newIds].sort());
  order.set('exchange_payment_method_id', methodId);
  order.set('exchange_price_difference', difference);
  return dumpJson(order);
}

export function modifyPendingOrderItems(world: World, args: BoundArguments): string {
  const order = editOrder(world, args);
  requireStatus(world, order, { status: 'pending', otherwise: 'notPendingToModify' });
  const ids = idsArgument(args, 'item_ids');
  requireItems(order, ids, (id) => refuse(world.dialect, 'modifiedItemMissing', id));
  const newIds = sizedIdsArgument(args, 'new_item_ids');
  if (ids.length !== newIds.length) throw refuse(world.dialect, 'modifyCount');
  const distinct = world.dialect === 'tau2';
  const plan = planReplacements(world, order, { ids, newIds, distinct });
  const methodId = idArgument(args, 'payment_method_id');
  const method = paymentMethodOf(world, order, methodId);
  if (isGiftCard(method) && numberField(method, 'balance') < plan.difference) {
    throw refuse(world.dialect, 'balanceForItem');
  }
  const type = plan.difference > 0 ? 'payment' : 'refund';
  const amount = absolute(plan.difference);
  listField(order, 'payment_history').push(paymentEntry(world, { type, amount, methodId }));
  creditGiftCard(world, order, { amount: negate(plan.difference), methodId });
  replaceItems(world, order, { ids, newIds, variants: plan.variants });
  order.set('status', 'pending (item modified)');
  return dumpJson(order);
}

interface Swap {
  readonly ids: readonly string[];
  readonly newIds: readonly string[];
}

interface ReplacementPlan {
  readonly difference: PyNumber;
  readonly variants: readonly PyObject[];
}

function planReplacements(
  world: World,
  order: PyObject,
  swap: Swap & { readonly distinct?: boolean },
): ReplacementPlan {
  let difference: PyNumber = 0n;
  const variants = swap.ids.map((id, index) => {
    const newId = swap.newIds[index] ?? '';
    if (swap.distinct === true && id === newId) throw refuse(world.dialect, 'sameItem');
    const item = itemOf(order, id);
    const variant = replacementFor(world, item, newId);
    const change = subtract(numberField(variant, 'price'), numberField(item, 'price'));
    difference = add(difference, change);
    return variant;
  });
  return { difference, variants };
}

/**
 * Writes the new items into the order. The recorded tau2 tool gives every replaced item the price
 * and options of the last variant; its outputs and records show it, so this one does too.
 */
function replaceItems(
  world: World,
  order: PyObject,
  swap: Swap & { readonly variants: readonly PyObject[] },
): void {
  swap.ids.forEach((id, index) => {
    const item = itemOf(order, id);
    const newId = swap.newIds[index] ?? '';
    const variant =
      world.dialect === 'tau2' ? swap.variants.at(-1) : ownVariant(world, item, newId);
    if (variant === undefined) return;
    item.set('item_id', newId);
    item.set('price', numberField(variant, 'price'));
    item.set('options', cloneValue(objectField(variant, 'options')));
  });
}

function ownVariant(world: World, item: PyObject, id: string): PyObject | undefined {
  const product = world.read('products', textField(item, 'product_id'));
  return product === undefined ? undefined : objectField(objectField(product, 'variants'), id);
}
