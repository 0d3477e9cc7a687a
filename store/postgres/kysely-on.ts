/** Kysely over connections that somebody else lends. */
import { HoldfastError } from '../../core/state/errors.js';
import {
  Kysely,
  PostgresAdapter,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
} from '../query-builder.js';
import type { Tables } from '../schema.js';

export interface Lender {
  lend(): Promise<Lent>;
}

export interface Lent {
  run(
    text: string,
    parameters: readonly unknown[],
  ): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null }>;
  giveBack(): void;
}

export function kyselyOn(lender: Lender): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driverOn(lender),
      createIntrospector: refused,
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

function driverOn(lender: Lender): Driver {
  const lent = new WeakMap<DatabaseConnection, Lent>();
  return {
    init: async () => undefined,
    async acquireConnection() {
      const one = await lender.lend();
      const connection: DatabaseConnection = {
        executeQuery: (query) => execute(one, query),
        streamQuery: refused,
      };
      lent.set(connection, one);
      return connection;
    },
    async releaseConnection(connection) {
      lent.get(connection)?.giveBack();
    },
    // Transactions are begun through the store's dialect alone.
    beginTransaction: refused,
    commitTransaction: refused,
    rollbackTransaction: refused,
    destroy: async () => undefined,
  };
}

async function execute<Row>(
  one: Lent,
  { sql, parameters }: CompiledQuery,
): Promise<QueryResult<Row>> {
  const { rows, rowCount } = await one.run(sql, parameters);
  return { rows: rows as Row[], ...(rowCount !== null && { numAffectedRows: BigInt(rowCount) }) };
}

function refused(): never {
  throw new HoldfastError('Internal', 'The store does not use Kysely for this.');
}
