/**
 * What the store takes of its builder of queries. The build puts that package's code in this file's place
 * (build-query-builder.cjs): as its 260 modules it takes a tenth of a second to load, for every command that opens a store.
 */
export { Kysely, PostgresAdapter, PostgresQueryCompiler, sql, SqliteDialect } from 'kysely';
export type {
  AliasedRawBuilder,
  CompiledQuery,
  DatabaseConnection,
  Driver,
  Expression,
  QueryResult,
  SqlBool,
  SqliteDatabase,
  SqliteStatement,
} from 'kysely';
