/**
 * Tools of connectors, as their servers described them: one row for each description that was met.
 * Invariants: a row is never altered but for its approval, so that a run finds the tool that it began with; the tools of a
 * connector that nobody has met before are approved as they are, and whatever differs from them later is not, until a
 * person says so.
 */
import { checkIdentifiers, listLimit } from './bounds.js';
import { change, holdConnector, immediate, rowsOf, type Db } from './database.js';
import type { ConnectorToolTable } from './connector-tables.js';

export interface SeenTool {
  readonly name: string;
  readonly version: string;
  /** sha256 of what the server says of it. */
  readonly hash: string;
  /** What a run gets of it, as JSON. */
  readonly pinned: string;
}

export interface SeenTools {
  readonly tenant: string;
  readonly connector: string;
  /** ms since epoch. */
  readonly at: number;
  readonly tools: readonly SeenTool[];
}

export interface ConnectorToolRow extends SeenTool {
  readonly connector: string;
  readonly seenAt: number;
  /** Absent: no run gets it. `by` absent: it was there when the connector was first seen. */
  readonly approved?: { readonly at: number; readonly by?: string };
}

export interface Approving {
  readonly tenant: string;
  readonly connector: string;
  /** Of what the server says. */
  readonly hashes: readonly string[];
  readonly by: string;
  readonly at: number;
}

export interface ConnectorTools {
  /** Keeps what a server offers; gives the rows, in the same order. */
  meetTools(seen: SeenTools): Promise<readonly ConnectorToolRow[]>;
  connectorTool(
    tenant: string,
    tool: Pick<SeenTool, 'name' | 'version'>,
  ): Promise<ConnectorToolRow | undefined>;
  /** By name, the newest description first, at most LIST_ROWS_MAX. */
  listConnectorTools(
    tenant: string,
    connector: string,
    limit: number,
  ): Promise<readonly ConnectorToolRow[]>;
  /** From now on runs get tools of these descriptions. Gives how many rows that are. */
  approveTools(approving: Approving): Promise<number>;
}

const READ = `select * from connector_tools
  where tenant = @tenant and name = @name and version = @version`;

const ANY = `select name from connector_tools
  where tenant = @tenant and connector = @connector limit 1`;

const APPROVED = `select * from connector_tools
  where tenant = @tenant and connector = @connector and name = @name and hash = @hash
    and approved_at is not null limit 1`;

const INSERT = `
  insert into connector_tools (tenant, name, version, connector, hash, pinned_json, seen_at,
    approved_at, approved_by)
  values (@tenant, @name, @version, @connector, @hash, @pinned, @at, @approvedAt, @approvedBy)
  on conflict (tenant, name, version) do nothing`;

const APPROVE = `
  update connector_tools set approved_at = @at, approved_by = @by
  where tenant = @tenant and connector = @connector and hash = @hash and approved_at is null`;

const LIST = `select * from connector_tools
  where tenant = @tenant and connector = @connector
  order by name, seen_at desc, version limit @limit`;

export function connectorTools(db: Db): ConnectorTools {
  return {
    async meetTools({ tenant, connector, at, tools }) {
      checkIdentifiers({ tenant, connector });
      const known = await Promise.all(tools.map((tool) => readTool(db, tenant, tool)));
      const rows = known.filter((row) => row !== undefined);
      if (rows.length === tools.length) return rows;
      return immediate(db, async (tx) => {
        // Of two who meet it at once only one is the first, whatever its server says to each.
        await holdConnector(tx, tenant, connector);
        const isFirst = (await rowsOf(tx, ANY, { tenant, connector })).length === 0;
        const met: ConnectorToolRow[] = [];
        for (const tool of tools) {
          const { name, version, hash, pinned } = tool;
          checkIdentifiers({ name, version, hash });
          const key = { tenant, connector, name, hash };
          const [same] = await rowsOf<ConnectorToolTable>(tx, APPROVED, key);
          const approvedAt = same?.approved_at ?? (isFirst ? at : null);
          const approvedBy = same?.approved_by ?? null;
          await change(tx, INSERT, { ...key, version, pinned, at, approvedAt, approvedBy });
          const row = await readTool(tx, tenant, tool);
          if (row !== undefined) met.push(row);
        }
        return met;
      });
    },
    async connectorTool(tenant, tool) {
      checkIdentifiers({ tenant, name: tool.name, version: tool.version });
      return readTool(db, tenant, tool);
    },
    async listConnectorTools(tenant, connector, limit) {
      checkIdentifiers({ tenant, connector });
      const values = { tenant, connector, limit: listLimit(limit) };
      return (await rowsOf<ConnectorToolTable>(db, LIST, values)).map(rowOf);
    },
    async approveTools({ tenant, connector, hashes, by, at }) {
      checkIdentifiers({ tenant, connector, by });
      return immediate(db, async (tx) => {
        // What is met at the moment is approved with it, or finds it approved.
        await holdConnector(tx, tenant, connector);
        let changed = 0;
        for (const hash of hashes)
          changed += await change(tx, APPROVE, { tenant, connector, hash, by, at });
        return changed;
      });
    },
  };
}

async function readTool(
  db: Db,
  tenant: string,
  { name, version }: Pick<SeenTool, 'name' | 'version'>,
): Promise<ConnectorToolRow | undefined> {
  const [row] = await rowsOf<ConnectorToolTable>(db, READ, { tenant, name, version });
  return row && rowOf(row);
}

function rowOf(row: ConnectorToolTable): ConnectorToolRow {
  const { name, version, hash, connector, pinned_json: pinned, seen_at: seenAt } = row;
  const { approved_at: at, approved_by: by } = row;
  return {
    name,
    version,
    hash,
    connector,
    pinned,
    seenAt,
    ...(at !== null && { approved: { at, ...(by !== null && { by }) } }),
  };
}
