/** Where the run of a row stands among sub-agents; nothing of a run that is none. */
import { sql, type AliasedRawBuilder, type Expression, type SqlBool } from './query-builder.js';

export interface ShownPlace {
  /** Run id of the root of its tree. */
  readonly root?: string;
  /** Names of the agents from the root to it, both among them. */
  readonly agentPath?: readonly string[];
}

export interface PlaceColumns {
  readonly tree_root: string | null;
  readonly tree_path: string | null;
}

/** Columns of a select from runs or asks. */
export function placeColumns(
  of: 'runs' | 'asks',
): readonly [
  AliasedRawBuilder<string | null, 'tree_root'>,
  AliasedRawBuilder<string | null, 'tree_path'>,
] {
  const row = sql`from children where children.tenant = ${sql.ref(`${of}.tenant`)}
    and children.child = ${sql.ref(`${of}.run_id`)}`;
  return [
    sql<string | null>`(select children.root ${row})`.as('tree_root'),
    sql<string | null>`(select children.path_json ${row})`.as('tree_path'),
  ];
}

/** The run itself, or a sub-agent below it. */
export function isUnder(tenant: string, runId: string): Expression<SqlBool> {
  return sql<boolean>`(run_id = ${runId} or run_id in (
    with recursive below(id) as (
      select child from children where tenant = ${tenant} and parent = ${runId} and root is not null
      union
      select c.child from children c join below on c.parent = below.id
      where c.tenant = ${tenant} and c.root is not null
    ) select id from below))`;
}

export function shownPlace(columns: Partial<PlaceColumns>): ShownPlace {
  const { tree_root: root = null, tree_path: path = null } = columns;
  if (root === null || path === null) return {};
  return { root, agentPath: JSON.parse(path) as readonly string[] };
}
