/**
 * SQL texts of the examples, each prepared once for a database. Node from 24.19 on ends a process in which better-sqlite3 12
 * gives up a statement or a connection, so none is ever given up; a file of a few statements may do so under every Node.
 */
import type Sqlite from 'better-sqlite3';

const kept = new Map<Sqlite.Database, Map<string, Sqlite.Statement>>();

export function prepared<Parameters extends unknown[] = unknown[], Row = unknown>(
  database: Sqlite.Database,
  text: string,
): Sqlite.Statement<Parameters, Row> {
  const statements = kept.get(database) ?? new Map<string, Sqlite.Statement>();
  kept.set(database, statements);
  const statement = statements.get(text) ?? database.prepare(text);
  statements.set(text, statement);
  return statement as Sqlite.Statement<unknown[], unknown> as Sqlite.Statement<Parameters, Row>;
}
