/**
 * The database as one run sees it: the recorded one, overlaid by what this run changed. A tool
 * works on a stage on top of that; only a tool that succeeds has its stage kept, so a refused call
 * leaves nothing behind.
 */
import type { Database, Dialect, Table } from './database.js';
import { cloneValue, sameValue, type PyObject } from '../python/python-value.js';

/** What a run changed so far; the tool service keeps it in SQLite, an offline replay in memory. */
export interface Overlay {
  read(table: Table, id: string): PyObject | undefined;
  entries(table: Table): Iterable<readonly [string, PyObject]>;
}

export interface StagedRecord {
  readonly table: Table;
  readonly id: string;
  readonly record: PyObject;
}

export interface World {
  readonly dialect: Dialect;
  /** A record to look at; it must not be changed. */
  read(table: Table, id: string): PyObject | undefined;
  /** The run's own copy of a record, to change; what is read afterwards shows the change. */
  edit(table: Table, id: string): PyObject | undefined;
  /** Puts a new record in; one of the same id is replaced. */
  add(table: Table, id: string, record: PyObject): void;
  /** All recorded records of a table, in the order of the file. */
  records(table: Table): Iterable<readonly [string, PyObject]>;
}

/** A world whose changes can be taken out again. */
export interface Stage extends World {
  staged(): StagedRecord[];
}

/** Opens the world of one run for one call. */
export function openStage(database: Database, overlay: Overlay): Stage {
  const edits = new Map<string, StagedRecord>();
  const read = (table: Table, id: string): PyObject | undefined =>
    edits.get(`${table}/${id}`)?.record ??
    overlay.read(table, id) ??
    database.tables.get(table)?.get(id);
  return {
    dialect: database.dialect,
    read,
    edit(table, id) {
      const staged = edits.get(`${table}/${id}`);
      if (staged !== undefined) return staged.record;
      const current = read(table, id);
      if (current === undefined) return undefined;
      const record = cloneValue(current);
      edits.set(`${table}/${id}`, { table, id, record });
      return record;
    },
    add: (table, id, record) => void edits.set(`${table}/${id}`, { table, id, record }),
    *records(table) {
      const changed = new Map(overlay.entries(table));
      for (const [id, record] of database.tables.get(table) ?? []) {
        yield [id, changed.get(id) ?? record];
      }
    },
    staged: () => [...edits.values()],
  };
}

/** An overlay in memory, with the means to keep a stage. */
export interface MemoryOverlay extends Overlay {
  keep(records: readonly StagedRecord[]): void;
}

/** A new, empty overlay in memory. */
export function createMemoryOverlay(): MemoryOverlay {
  const tables = new Map<Table, Map<string, PyObject>>();
  return {
    read: (table, id) => tables.get(table)?.get(id),
    entries: (table) => tables.get(table) ?? [],
    keep(records) {
      for (const { table, id, record } of records) {
        const kept = tables.get(table) ?? new Map<string, PyObject>();
        tables.set(table, kept.set(id, record));
      }
    },
  };
}

/** The records of an overlay that differ from the recorded database: `{table: {id: record}}`. */
export function changedRecords(database: Database, overlay: Overlay): PyObject {
  const changes: PyObject = new Map();
  for (const [table, base] of database.tables) {
    const changed: PyObject = new Map(
      [...overlay.entries(table)].filter(
        ([id, record]) => !sameValue(record, base.get(id) ?? null),
      ),
    );
    if (changed.size > 0) changes.set(table, changed);
  }
  return changes;
}
