/**
 * The recorded retail database: one file with all tables (tau2-bench), or one file per table in a
 * folder (tau-bench). Loaded once, never changed; what a run changes lies in its own world.
 */
import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { HoldfastError } from '../../core/errors.js';
import { parseJson } from './python-json.js';
import type { PyObject } from './python-value.js';

export const TABLES = ['orders', 'products', 'users'] as const;
export type Table = (typeof TABLES)[number];

/** The two generations of the benchmark: they differ in error texts, fields and a few rules. */
export type Dialect = 'tau2' | 'tau-bench';

export interface Database {
  readonly dialect: Dialect;
  readonly tables: Readonly<Record<Table, ReadonlyMap<string, PyObject>>>;
}

const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** tau2 shows an order with all its fields, in this order, and null where nothing happened yet. */
const TAU2_ORDER_FIELDS = [
  'order_id',
  'user_id',
  'address',
  'items',
  'status',
  'fulfillments',
  'payment_history',
  'cancel_reason',
  'exchange_items',
  'exchange_new_items',
  'exchange_payment_method_id',
  'exchange_price_difference',
  'return_items',
  'return_payment_method_id',
] as const;

/**
 * Loads a database from files or folders. A file named after a table replaces that table, so a
 * folder can be followed by, say, another users.json.
 */
export function loadDatabase(paths: readonly string[]): Database {
  const tables = new Map<Table, Map<string, PyObject>>();
  for (const path of paths) {
    for (const file of databaseFiles(path)) readTables(file, tables);
  }
  const users = completeTable(tables, 'users', paths);
  const dialect = [...users.values()].some((user) => user.has('user_id')) ? 'tau2' : 'tau-bench';
  const orders = completeTable(tables, 'orders', paths);
  const products = completeTable(tables, 'products', paths);
  const shown =
    dialect === 'tau2' ? new Map([...orders].map(([id, o]) => [id, allFields(o)])) : orders;
  return { dialect, tables: { orders: shown, products, users } };
}

function databaseFiles(path: string): string[] {
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined) throw badDatabase(path, 'does not exist');
  const files = info.isDirectory() ? TABLES.map((table) => join(path, `${table}.json`)) : [path];
  for (const file of files) {
    const size = statSync(file, { throwIfNoEntry: false })?.size;
    if (size === undefined) throw badDatabase(file, 'does not exist');
    if (size > FILE_BYTES_MAX) throw badDatabase(file, `is larger than ${FILE_BYTES_MAX} bytes`);
  }
  return files;
}

function readTables(file: string, tables: Map<Table, Map<string, PyObject>>): void {
  const content = parseJson(readFileSync(file, 'utf8'));
  if (!(content instanceof Map)) throw badDatabase(file, 'is not an object');
  const own = TABLES.find((table) => basename(file) === `${table}.json`);
  if (own !== undefined) {
    tables.set(own, recordsOf(content, file));
    return;
  }
  for (const table of TABLES) {
    const records = content.get(table);
    if (!(records instanceof Map)) throw badDatabase(file, `has no table "${table}"`);
    tables.set(table, recordsOf(records, file));
  }
}

function recordsOf(content: PyObject, file: string): Map<string, PyObject> {
  const records = new Map<string, PyObject>();
  for (const [id, record] of content) {
    if (!(record instanceof Map)) throw badDatabase(file, 'has a record that is not an object');
    records.set(id, record);
  }
  return records;
}

function completeTable(
  tables: Map<Table, Map<string, PyObject>>,
  table: Table,
  paths: readonly string[],
): Map<string, PyObject> {
  const records = tables.get(table);
  if (records === undefined) throw badDatabase(paths.join(', '), `has no table "${table}"`);
  return records;
}

function allFields(order: PyObject): PyObject {
  return new Map(TAU2_ORDER_FIELDS.map((field) => [field, order.get(field) ?? null]));
}

function badDatabase(path: string, what: string): HoldfastError {
  return new HoldfastError('InvalidTask', `The database ${path} ${what}.`, {
    hint: 'Name a file with the tables orders, products and users, or a folder with one file of each.',
  });
}
