/** The tools that look something up; none of them changes a record. */
import { idArgument, textArgument, type BoundArguments } from '../domains/arguments.js';
import type { Table } from '../domains/database.js';
import { dumpJson } from '../python/python-json.js';
import type { PyObject } from '../python/python-value.js';
import { objectField, textField } from '../domains/records.js';
import { refuse, type Refusal } from './texts.js';
import type { World } from '../domains/world.js';

export function getOrderDetails(world: World, args: BoundArguments): string {
  return details(world, { table: 'orders', id: idArgument(args, 'order_id') }, 'orderNotFound');
}

export function getUserDetails(world: World, args: BoundArguments): string {
  return details(world, { table: 'users', id: idArgument(args, 'user_id') }, 'userNotFound');
}

export function getProductDetails(world: World, args: BoundArguments): string {
  return details(
    world,
    { table: 'products', id: idArgument(args, 'product_id') },
    'productNotFound',
  );
}

function details(world: World, at: { table: Table; id: string }, missing: Refusal): string {
  const record = world.read(at.table, at.id);
  if (record === undefined) throw refuse(world.dialect, missing);
  return dumpJson(record);
}

/** The variant with this item id, whatever its product. */
export function getItemDetails(world: World, args: BoundArguments): string {
  const id = idArgument(args, 'item_id');
  for (const [, product] of world.records('products')) {
    const variant = objectField(product, 'variants').get(id);
    if (variant !== undefined) return dumpJson(variant);
  }
  throw refuse(world.dialect, 'itemNotFound');
}

export function findUserIdByEmail(world: World, args: BoundArguments): string {
  const email = textArgument(args, 'email').toLowerCase();
  return findUser(world, (user) => textField(user, 'email').toLowerCase() === email);
}

export function findUserIdByNameZip(world: World, args: BoundArguments): string {
  const first = textArgument(args, 'first_name').toLowerCase();
  const last = textArgument(args, 'last_name').toLowerCase();
  const zip = args.get('zip');
  return findUser(world, (user) => {
    const name = objectField(user, 'name');
    return (
      textField(name, 'first_name').toLowerCase() === first &&
      textField(name, 'last_name').toLowerCase() === last &&
      objectField(user, 'address').get('zip') === zip
    );
  });
}

function findUser(world: World, matches: (user: PyObject) => boolean): string {
  for (const [id, user] of world.records('users')) {
    if (matches(user)) return id;
  }
  throw refuse(world.dialect, 'userNotFound');
}

/** Names and ids of all products, sorted by name. */
export function listAllProductTypes(world: World): string {
  const names = [...world.records('products')].map(([, product]): [string, string] => [
    textField(product, 'name'),
    textField(product, 'product_id'),
  ]);
  names.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
  return dumpJson(new Map(names));
}
