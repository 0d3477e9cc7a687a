/**
 * The schema's history: an ordered list that only grows; a released migration is never edited. It is written
 * in SQLite's words, and PostgreSQL's dialect has its own for some of them.
 * Invariants: each runs in its own write transaction and is recorded in the same one; of several processes
 * that migrate at once one does it and the others find it done; a database that is newer than this list is
 * refused before anything is written.
 */
import { HoldfastError } from '../core/state/errors.js';
import { dialectOf, immediate, type Db, type Definition } from './database.js';
import { sql } from './query-builder.js';

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly statements: readonly Definition[];
}

const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: 'first tables',
    statements: [
      `create table blobs (tenant text not null, hash text not null, content blob not null,
        primary key (tenant, hash))`,
      `create table nodes (tenant text not null, hash text not null, parent text, body text not null,
        primary key (tenant, hash))`,
      `create table events (tenant text not null, run_id text not null, seq integer not null,
        execution text not null, at bigint not null, superseded integer not null, body text not null,
        primary key (tenant, run_id, seq, execution))`,
      `create table executions (tenant text not null, run_id text not null, execution text not null,
        rank integer not null, primary key (tenant, run_id, execution))`,
      `create table resets (tenant text not null, run_id text not null, epoch integer not null,
        from_seq integer not null, primary key (tenant, run_id, epoch))`,
      `create table runs (tenant text not null, run_id text not null, agent text not null,
        task_id text not null, goal_preview text not null, model text not null, caller text,
        status text not null, started_at bigint not null, updated_at bigint not null,
        last_seq integer not null, epoch integer not null, stop_reason text, detail text,
        cost_micro_usd bigint, completed_at bigint, result_seq integer, result_json text,
        primary key (tenant, run_id))`,
      `create index runs_by_start on runs (tenant, started_at, run_id)`,
      `create index runs_by_status on runs (tenant, status, started_at, run_id)`,
      `create index runs_by_agent on runs (tenant, agent, started_at, run_id)`,
      `create table asks (tenant text not null, run_id text not null, ask_id text not null,
        kind text not null, opened_at bigint not null, opened_seq integer not null,
        view_json text not null, outcome text not null, by_json text not null, reason text,
        resolved_at bigint, closed_seq integer, primary key (tenant, run_id, ask_id))`,
      `create index asks_by_id on asks (tenant, ask_id)`,
      `create index asks_by_time on asks (tenant, opened_at, ask_id)`,
      `create index asks_pending on asks (tenant, opened_at, ask_id) where outcome = 'pending'`,
      `create table ledger (tenant text not null, key text not null, args_digest text not null,
        attempt integer not null, state text not null, was_claimed integer not null,
        definite integer not null, claimed_until bigint not null, result_json text, source text,
        run_id text not null, call_key text not null, tool text not null,
        primary key (tenant, key))`,
      `create index ledger_by_run on ledger (tenant, run_id, key)`,
      `create table attempts (tenant text not null, run_id text not null, effect_id text not null,
        attempt integer not null, kind text not null, bound_cost_micro_usd bigint not null,
        bound_input_tokens bigint not null, bound_output_tokens bigint not null,
        started_at bigint not null, outcome text, code text, usage_json text,
        cost_micro_usd bigint, estimated integer not null, finished_at bigint,
        primary key (tenant, run_id, effect_id, attempt))`,
      `create table replies (tenant text not null, run_id text not null, call integer not null,
        request_digest text not null, output_json text not null,
        primary key (tenant, run_id, call, request_digest))`,
      `create table histories (tenant text not null, run_id text not null, segment integer not null,
        execution text not null, gzip blob not null,
        primary key (tenant, run_id, segment, execution))`,
    ],
  },
  {
    version: 2,
    name: 'late words of claimants',
    statements: [`alter table ledger add column late_json text`],
  },
  {
    version: 3,
    name: 'sessions',
    statements: [
      `create table sessions (tenant text not null, session_id text not null,
        revision integer not null, head text not null, run_id text not null, agent text not null,
        caller text not null, cwd text not null, title text not null, carry_json text not null,
        before_head text, before_carry_json text, created_at bigint not null, updated_at bigint not null, forked_from text,
        primary key (tenant, session_id))`,
      `create index sessions_by_time on sessions (tenant, updated_at, session_id)`,
      {
        sqlite: `create index sessions_by_place on sessions (tenant, caller, cwd, updated_at, session_id)`,
        // An entry of an index has 2,700 bytes at most there, and folders can be longer.
        postgres: `create index sessions_by_place on sessions (tenant, caller, updated_at, session_id)`,
      },
      `alter table runs add column session_id text`,
      `alter table runs add column head text`,
      `create index runs_by_session on runs (tenant, session_id, started_at)
        where session_id is not null`,
    ],
  },
  {
    version: 4,
    name: 'streams of tokens',
    statements: [
      `create table streams (tenant text not null, run_id text not null, fence bigint not null,
        open_json text, closed integer not null, chars bigint not null, keep_ms bigint not null,
        removable_at bigint, primary key (tenant, run_id))`,
      `create index streams_to_remove on streams (removable_at) where removable_at is not null`,
      `create table stream_chunks (tenant text not null, run_id text not null, fence bigint not null,
        first integer not null, count integer not null, call integer not null,
        attempt integer not null, message_id text not null, entries_json text not null,
        primary key (tenant, run_id, fence, first))`,
    ],
  },
  {
    version: 5,
    name: 'business controls',
    statements: [
      `create table freezes (tenant text not null, freeze_id text not null, kind text not null,
        pattern text not null, frozen_by text not null, reason text not null,
        frozen_at bigint not null, until bigint, lifted_at bigint, lifted_by text,
        lift_reason text, primary key (tenant, freeze_id))`,
      `create index freezes_open on freezes (tenant, frozen_at) where lifted_at is null`,
      `create table effects (tenant text not null, key text not null, tool text not null,
        tool_version text not null, run_id text not null, args_digest text not null,
        attempt integer not null, claimed_at bigint not null, limited integer not null,
        day integer not null, amount bigint, customer text, identity text,
        identity_json text not null, approved_json text not null, reference text not null,
        released integer not null, primary key (tenant, key))`,
      `create index effects_by_identity on effects (tenant, tool, identity, claimed_at)
        where identity is not null`,
      `create table effect_subjects (tenant text not null, subject text not null, key text not null,
        primary key (tenant, subject, key))`,
      `create table effect_totals (tenant text not null, tool text not null, name text not null,
        amount bigint not null, count bigint not null, primary key (tenant, tool, name))`,
    ],
  },
  {
    version: 6,
    name: 'the desk',
    statements: [
      `create table audit (tenant text not null, seq integer not null, at bigint not null,
        kind text not null, by_whom text, run_id text, ask_id text, facts_json text not null,
        prev_hash text not null, hash text not null, primary key (tenant, seq))`,
      `create index audit_by_run on audit (tenant, run_id, seq) where run_id is not null`,
      `create index audit_by_ask on audit (tenant, ask_id, seq) where ask_id is not null`,
      `create table desk_keys (tenant text not null, kid text not null, public_key text not null,
        state text not null, added_at bigint not null, changed_at bigint not null,
        primary key (tenant, kid))`,
      `create table desk_requests (tenant text not null, by_whom text not null, key text not null,
        digest text not null, at bigint not null, status integer, body text,
        primary key (tenant, by_whom, key))`,
      `create table notices (tenant text not null, target text not null, ask_id text not null,
        kind text not null, at bigint not null, outcome text not null,
        primary key (tenant, target, ask_id, kind))`,
    ],
  },
  {
    version: 7,
    name: 'searching questions',
    statements: [
      // What the table before noted cannot be carried over: it named no run and no try. It is dropped, so that a
      // question which is still open is told again, also where the release before has told it.
      `drop table notices`,
      `create table notices (tenant text not null, target text not null, run_id text not null,
        ask_id text not null, opened_at bigint not null, kind text not null, state text not null,
        tries integer not null, first_at bigint not null, next_at bigint not null,
        claimed_by text, claimed_until bigint, fault text,
        primary key (tenant, run_id, ask_id, opened_at, target, kind))`,
      `create index notices_due on notices (target, next_at, opened_at, tenant, ask_id)
        where state = 'waiting'`,
      // Empty where an older release has asked: that is found by its JSON, and by ASCII letters of either case.
      `alter table asks add column search_text text not null default ''`,
    ],
  },
  {
    version: 8,
    name: 'archiving closed segments',
    statements: [
      `create table archivals (tenant text not null, run_id text not null, segment integer not null,
        execution text not null, namespace text not null, state text not null, tries integer not null,
        since bigint not null, next_at bigint not null, lost_at bigint, fault text,
        primary key (tenant, run_id, segment, execution))`,
      `create index archivals_due on archivals (namespace, next_at) where state = 'waiting'`,
    ],
  },
  {
    version: 9,
    name: 'identity of the store',
    statements: [
      `create table store_identity (one integer not null primary key, id text not null,
        epoch integer not null, marks text)`,
      {
        sqlite: `insert into store_identity (one, id, epoch) values (1, lower(hex(randomblob(16))), 1)`,
        postgres: `insert into store_identity (one, id, epoch)
          values (1, md5(concat(random(), clock_timestamp(), pg_backend_pid())), 1)`,
      },
      `create table adopted_runs (tenant text not null, run_id text not null, at bigint not null,
        by_whom text not null, primary key (tenant, run_id))`,
    ],
  },
  {
    version: 10,
    name: 'what workers serve',
    statements: [
      `create table served (worker text not null, namespace text not null, task_queue text not null,
        since bigint not null, alive_at bigint not null, ended_at bigint, code_json text not null,
        primary key (worker))`,
      `create index served_by_queue on served (namespace, task_queue)`,
      `create table needs (tenant text not null, run_id text not null, namespace text not null,
        task_queue text not null, code_json text not null, primary key (tenant, run_id))`,
      `create index needs_by_queue on needs (namespace, task_queue, tenant, run_id)`,
    ],
  },
  {
    version: 11,
    name: 'alarms of runs',
    statements: [
      `alter table runs add column alarm text`,
      `alter table runs add column alarm_seq bigint`,
      `create index runs_alarmed on runs (updated_at) where alarm is not null`,
    ],
  },
  {
    version: 12,
    name: 'goals',
    statements: [
      `alter table runs add column kind text not null default 'run'`,
      `alter table runs add column parent text`,
      `alter table runs add column next_wake bigint`,
      `alter table runs add column spent_micro_usd bigint`,
      `alter table runs add column budget_micro_usd bigint`,
      `create index goals_by_start on runs (tenant, started_at, run_id) where kind = 'goal'`,
      `create table children (tenant text not null, child text not null, parent text not null,
        n bigint not null, digest text not null, start_json text not null, state text not null,
        primary key (tenant, child))`,
      `create index children_by_parent on children (tenant, parent, n)`,
      `create table proposals (tenant text not null, goal text not null, cycle bigint not null,
        k integer not null, call_key text not null, proposal_json text not null,
        primary key (tenant, goal, cycle, k))`,
      `create index proposals_by_call on proposals (tenant, goal, cycle, call_key)`,
      `create table goal_effects (tenant text not null, goal text not null,
        args_digest text not null, cycle bigint not null, key text not null,
        primary key (tenant, goal, args_digest))`,
      `create index goal_effects_by_cycle on goal_effects (tenant, goal, cycle)`,
    ],
  },
  {
    version: 13,
    name: 'sub-agents',
    statements: [
      `alter table children add column root text`,
      `alter table children add column path_json text`,
      `alter table children add column call_id text`,
      `create index children_by_root on children (tenant, root, state) where root is not null`,
      `alter table runs add column root text`,
      `create index runs_by_root on runs (tenant, root) where root is not null`,
    ],
  },
  {
    version: 14,
    name: 'work folders',
    statements: [
      `create table work_folders (tenant text not null, owner text not null, version integer not null,
        hash text not null, updated_at bigint not null, primary key (tenant, owner))`,
      `create table folder_commits (tenant text not null, owner text not null, call_key text not null,
        attempt integer not null, version integer not null, state text not null,
        result_json text not null, primary key (tenant, owner, call_key))`,
    ],
  },
  {
    version: 15,
    name: 'tools of connectors, as their servers described them',
    statements: [
      `create table connector_tools (tenant text not null, name text not null, version text not null,
        connector text not null, hash text not null, pinned_json text not null,
        seen_at bigint not null, approved_at bigint, approved_by text,
        primary key (tenant, name, version))`,
      `create index connector_tools_by_connector on connector_tools (tenant, connector, name)`,
    ],
  },
  {
    version: 16,
    name: 'letters between runs',
    statements: [
      `create table letters (tenant text not null, to_run text not null, seq bigint not null,
        from_run text not null, from_agent text not null, key text not null, body text not null,
        written_at bigint not null, is_read integer not null,
        primary key (tenant, to_run, seq))`,
      `create unique index letters_by_key on letters (tenant, from_run, key)`,
    ],
  },
  {
    version: 17,
    name: 'orphans',
    statements: [
      `alter table children add column namespace text`,
      `alter table children add column watch integer not null default 0`,
      `alter table children add column look_at bigint not null default 0`,
      `create index children_watched on children (look_at) where watch < 2`,
    ],
  },
  {
    version: 18,
    name: 'forks',
    statements: [
      `create table forks (tenant text not null, run_id text not null, parent text not null,
        root text not null, step bigint not null, digest text not null, body text not null,
        created_at bigint not null, primary key (tenant, run_id))`,
      `create index forks_by_root on forks (tenant, root)`,
    ],
  },
  {
    version: 19,
    name: 'calls of recorded runs, for their forks',
    statements: [
      `create table recorded_calls (tenant text not null, run_id text not null, key text not null,
        tool text not null, args_digest text not null, at bigint not null, done integer not null,
        primary key (tenant, run_id, key))`,
      `create index recorded_calls_by_digest on recorded_calls (tenant, tool, args_digest)`,
      `create index forks_by_parent on forks (tenant, parent, created_at)`,
    ],
  },
  {
    version: 20,
    name: 'what searches ask of the events of runs',
    statements: [
      `alter table runs add column rules integer`,
      `alter table runs add column tools_used text`,
      `alter table runs add column error_codes text`,
      `alter table runs add column last_error_tool text`,
      `alter table runs add column last_error_code text`,
      `alter table runs add column ended_by text`,
    ],
  },
  {
    version: 21,
    name: 'tokens of connectors',
    statements: [
      `create table connector_tokens (tenant text not null, connector text not null,
        server text not null, version bigint not null, state text not null,
        wanted_json text not null, key_id text, sealed text, lease text, lease_until bigint,
        logged_in_by text, logged_in_at bigint, updated_at bigint not null,
        primary key (tenant, connector))`,
      `create table connector_logins (tenant text not null, id text not null,
        connector text not null, begun_by text not null, key_id text not null,
        sealed text not null, expires_at bigint not null, primary key (tenant, id))`,
    ],
  },
  {
    version: 22,
    name: 'messages of users',
    statements: [
      `create table user_messages (tenant text not null, run_id text not null, seq bigint not null,
        message_id text not null, client_message_id text, primary key (tenant, run_id, seq))`,
      `create index user_messages_by_client_id on user_messages (tenant, client_message_id)
        where client_message_id is not null`,
    ],
  },
  {
    version: 23,
    name: 'calls by their arguments alone',
    statements: [
      // Null where an older release has written: what it claimed is told by events, or counts as the same.
      `alter table ledger add column plain_digest text`,
      `alter table recorded_calls add column plain_digest text`,
    ],
  },
];

/** The newest schema that this program knows. */
export const SCHEMA_VERSION = Math.max(...MIGRATIONS.map((migration) => migration.version));

/** Brings the database to SCHEMA_VERSION. Errors: `StoreUnavailable` when it is newer than that. */
export async function migrate(db: Db): Promise<void> {
  const found = await schemaVersion(db);
  if (found > SCHEMA_VERSION) throw newerStore(found);
  for (const migration of MIGRATIONS) {
    if (migration.version > found) await apply(db, migration);
  }
}

/** The database's schema version; 0 for an empty one. */
export async function schemaVersion(db: Db): Promise<number> {
  if (!(await dialectOf(db).hasMigrations(db))) return 0;
  const newest = await db
    .selectFrom('schema_migrations')
    .select((eb) => eb.fn.max('version').as('version'))
    .executeTakeFirst();
  return newest?.version ?? 0;
}

async function apply(db: Db, { version, name, statements }: Migration): Promise<void> {
  const dialect = dialectOf(db);
  await immediate(db, async (tx) => {
    await dialect.holdSchema(tx);
    if ((await schemaVersion(tx)) >= version) return;
    const list = `create table if not exists schema_migrations (
      version integer not null primary key, name text not null)`;
    for (const definition of [list, ...statements]) {
      await sql.raw(dialect.define(definition)).execute(tx);
    }
    await tx.insertInto('schema_migrations').values({ version, name }).execute();
  });
}

function newerStore(found: number): HoldfastError {
  return new HoldfastError(
    'StoreUnavailable',
    `The store was written by a newer Holdfast: its schema is version ${found}, this program knows ${SCHEMA_VERSION}.`,
    {
      hint: 'Upgrade Holdfast on this machine, or point it at another store.',
      details: { found, known: SCHEMA_VERSION },
    },
  );
}
