/**
 * The prepared statements of one connection, kept for as long as they are used.
 * Invariant: errors of SQLite leave as HoldfastErrors.
 */
import type Database from 'better-sqlite3';
import type { SqliteDatabase, SqliteStatement } from '../query-builder.js';
import { keep, KEEPS_ALL } from './kept.js';
import { databaseFailure } from './sqlite-errors.js';

/** Prepared statements kept; the shapes of our queries are fewer, but inserts vary in their rows. */
const STATEMENTS_MAX = 200;

/** Kysely prepares each query anew; this keeps statements, of too many the newest, and translates errors. */
export function withStatementCache(connection: Database.Database): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    close: () => connection.close(),
    prepare(text) {
      const known = statements.get(text);
      if (known !== undefined) return known;
      const statement = translated(connection, text);
      statements.set(text, statement);
      const oldest = statements.keys().next();
      // What is kept anyway is not prepared again.
      if (statements.size > STATEMENTS_MAX && !oldest.done && !KEEPS_ALL) {
        statements.delete(oldest.value);
      }
      return statement;
    },
  };
}

function translated(connection: Database.Database, text: string): SqliteStatement {
  const statement = attempt(() => keep(connection.prepare<unknown[]>(text)));
  return {
    reader: statement.reader,
    all: (parameters) => attempt(() => statement.all(...parameters)),
    run: (parameters) => attempt(() => statement.run(...parameters)),
    iterate: (parameters) => attempt(() => statement.iterate(...parameters)),
  };
}

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw databaseFailure(error);
  }
}
