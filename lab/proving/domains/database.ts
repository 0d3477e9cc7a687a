/**
 * The recorded database of a domain: one file with all tables (tau2-bench), or one file per table in a
 * folder (tau-bench). Loaded once, never changed; what a run changes lies in its own world.
 */
import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { HoldfastError } from '../../../core/state/errors.js';
import { parseJson } from '../python/python-json.js';
import type { PyObject } from '../python/python-value.js';

/** The tables of all domains. */
export type Table = 'flights' | 'orders' | 'products' | 'reservations' | 'users';

/** The two generations of the benchmark: they differ in error texts, fields and a few rules. */
export type Dialect = 'tau2' | 'tau-bench';

/** What a domain says of its database. */
export interface DatabaseShape {
  readonly tables: readonly Table[];
  /** The record as tools of this generation show it, where that is not how it is stored. */
  readonly shown?: (dialect: Dialect, table: Table, record: PyObject) => PyObject;
}

export type Records = ReadonlyMap<string, PyObject>;

export interface Database {
  readonly dialect: Dialect;
  readonly tables: ReadonlyMap<Table, Records>;
}

const FILE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Loads a database from files or folders. A file named after a table replaces that table, so a
 * folder can be followed by, say, another users.json, or by a folder that holds only that.
 */
export function loadDatabase(shape: DatabaseShape, paths: readonly string[]): Database {
  const tables = new Map<Table, Map<string, PyObject>>();
  for (const path of paths) {
    for (const file of databaseFiles(shape, path)) readTables(shape, file, tables);
  }
  const missing = shape.tables.find((table) => !tables.has(table));
  if (missing !== undefined)
    throw badDatabase(shape, paths.join(', '), `has no table "${missing}"`);
  const users = tables.get('users') ?? new Map<string, PyObject>();
  const dialect = [...users.values()].some((user) => user.has('user_id')) ? 'tau2' : 'tau-bench';
  const { shown } = shape;
  if (shown === undefined) return { dialect, tables };
  const shownTables = [...tables].map(([table, records]): [Table, Records] => [
    table,
    new Map([...records].map(([id, record]) => [id, shown(dialect, table, record)])),
  ]);
  return { dialect, tables: new Map(shownTables) };
}

function databaseFiles(shape: DatabaseShape, path: string): string[] {
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined) throw badDatabase(shape, path, 'does not exist');
  const files = info.isDirectory() ? tableFiles(shape, path) : [path];
  if (files.length === 0) throw badDatabase(shape, path, 'has no file of a table');
  for (const file of files) {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size > FILE_BYTES_MAX) {
      throw badDatabase(shape, file, `is larger than ${FILE_BYTES_MAX} bytes`);
    }
  }
  return files;
}

/** The files in a folder that each hold one table. */
export function tableFiles(shape: DatabaseShape, folder: string): string[] {
  return shape.tables
    .map((table) => join(folder, `${table}.json`))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true);
}

function readTables(
  shape: DatabaseShape,
  file: string,
  tables: Map<Table, Map<string, PyObject>>,
): void {
  const content = parseJson(readFileSync(file, 'utf8'));
  if (!(content instanceof Map)) throw badDatabase(shape, file, 'is not an object');
  const recordsOf = (records: PyObject): Map<string, PyObject> =>
    new Map(
      [...records].map(([id, record]) => {
        if (record instanceof Map) return [id, record];
        throw badDatabase(shape, file, `has a record ${id} that is not an object`);
      }),
    );
  const own = shape.tables.find((table) => basename(file) === `${table}.json`);
  if (own !== undefined) {
    tables.set(own, recordsOf(content));
    return;
  }
  for (const table of shape.tables) {
    const records = content.get(table);
    if (!(records instanceof Map)) throw badDatabase(shape, file, `has no table "${table}"`);
    tables.set(table, recordsOf(records));
  }
}

function badDatabase(shape: DatabaseShape, path: string, what: string): HoldfastError {
  const tables = shape.tables.join(', ');
  return new HoldfastError('InvalidTask', `The database ${path} ${what}.`, {
    hint: `Name a file with the tables ${tables}, or a folder with one file of each.`,
  });
}
