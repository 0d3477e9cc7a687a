/**
 * What a new store of this schema begins with, as one text of SQL. The migrations that lead to it take five times as
 * long, so a process goes through them for the first of its new stores alone.
 * Invariant: what begins so holds what it would hold after the migrations, and an identity of its own.
 */
import type Database from 'better-sqlite3';
import type { Db } from '../database.js';
import { migrate } from '../migrations.js';
import { keep } from './kept.js';
import { databaseFailure } from './sqlite-errors.js';

const NEW_IDENTITY = `insert into store_identity (one, id, epoch) values (1, lower(hex(randomblob(16))), 1)`;

/** What migrations write. */
const WITH_ROWS = new Set(['schema_migrations', 'store_identity']);

let beginning: string | undefined;

/** Brings the schema up to date; a store without one has all of it at once, if this process has made one before. */
export async function makeTables(db: Db, connection: Database.Database): Promise<void> {
  try {
    await makeIn(db, connection);
  } catch (error) {
    throw databaseFailure(error);
  }
}

async function makeIn(db: Db, connection: Database.Database): Promise<void> {
  const isNew = objectsOf(connection).length === 0;
  if (isNew && beginning !== undefined && begins(connection, beginning)) return;
  // It says what is wrong with a store of a newer release.
  await migrate(db);
  if (isNew) beginning ??= beginningOf(connection);
}

/** False: somebody else has begun it meanwhile, under another name of the file. */
function begins(connection: Database.Database, statements: string): boolean {
  connection.exec('begin immediate');
  const isNew = objectsOf(connection).length === 0;
  connection.exec(isNew ? `${statements}; commit` : 'rollback');
  return isNew;
}

/** Of a database that was made by its migrations just now. */
function beginningOf(connection: Database.Database): string | undefined {
  const objects = objectsOf(connection);
  const hasRows = ({ name }: SchemaObject) =>
    keep(connection.prepare(`select 1 from "${name}" limit 1`)).get() !== undefined;
  const tables = objects.filter(({ type }) => type === 'table');
  // A migration that writes rows of its own says more than its tables do.
  if (tables.some((table) => !WITH_ROWS.has(table.name) && hasRows(table))) return undefined;
  const migrations = keep(
    connection.prepare<[], { statement: string }>(
      `select format('insert into schema_migrations (version, name) values (%d, %Q)', version, name) as statement
        from schema_migrations order by version`,
    ),
  ).all();
  const statements = migrations.map(({ statement }) => statement);
  return [...objects.map(({ sql }) => sql), ...statements, NEW_IDENTITY].join(';\n');
}

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/** In the order in which they were made; what SQLite makes by itself has no text. */
function objectsOf(connection: Database.Database): readonly SchemaObject[] {
  return keep(
    connection.prepare<[], SchemaObject>(
      `select type, name, sql from sqlite_master where sql is not null and name not like 'sqlite~_%' escape '~'
        order by rowid`,
    ),
  ).all();
}
