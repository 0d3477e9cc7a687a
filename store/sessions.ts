/**
 * Stored sessions: by id the newest conversation, and what goes with it to the next run.
 * Invariants: a save replaces exactly the revision that its run began with, or its own earlier save; the
 * store never decides which of two conversations of one session is the right one: the later is told no.
 */
import type { SessionCarry } from '../core/state/session.js';
import { checkIdentifiers, listLimit, wellFormed } from './bounds.js';
import { change, rowsOf, type Db } from './database.js';
import type { SessionTable } from './schema.js';

export interface SessionRow {
  readonly tenant: string;
  readonly sessionId: string;
  /** How often it has been stored. */
  readonly revision: number;
  readonly head: string;
  /** The run that stored it last. */
  readonly runId: string;
  readonly agent: string;
  /** '' for nobody in particular. */
  readonly caller: string;
  readonly cwd: string;
  /** What its first run was to achieve. */
  readonly title: string;
  readonly carry: SessionCarry;
  /** What its newest revision has replaced: where the run that stored it had begun. */
  readonly before?: Pick<SessionRow, 'head' | 'carry'>;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly forkedFrom?: string;
}

/** A session in a list. */
export type SessionEntry = Omit<SessionRow, 'carry' | 'before'>;

export type SessionSave = Omit<SessionRow, 'revision' | 'before' | 'createdAt' | 'updatedAt'> & {
  /** The revision that this replaces; 0: the session begins. */
  readonly base: number;
  /** ms since epoch. */
  readonly at: number;
};

export interface SessionsQuery {
  readonly limit: number;
  readonly caller?: string;
  /** The last row of the page before. */
  readonly before?: { readonly updatedAt: number; readonly sessionId: string };
}

export interface Sessions {
  /** Compare and set, in one statement. undefined: another run has stored the session meanwhile. */
  saveSession(save: SessionSave): Promise<number | undefined>;
  getSession(tenant: string, sessionId: string): Promise<SessionRow | undefined>;
  /** The newest of a caller at a place (G63). */
  latestSession(
    tenant: string,
    place: { readonly caller: string; readonly cwd: string },
  ): Promise<SessionEntry | undefined>;
  /** Newest first, at most LIST_ROWS_MAX. */
  listSessions(tenant: string, query: SessionsQuery): Promise<readonly SessionEntry[]>;
  /** Of the sessions that runs belong to and whose ids begin so, the last one by its id. */
  lastSessionBelow(tenant: string, prefix: string): Promise<string | undefined>;
  /** Runs of a session that have no result yet, newest first. */
  openRunsOf(tenant: string, sessionId: string): Promise<readonly string[]>;
}

/** Runs of one session that are looked at. */
const OPEN_RUNS_MAX = 20;

const SAVE = `
  insert into sessions (tenant, session_id, revision, head, run_id, agent, caller, cwd, title,
    carry_json, created_at, updated_at, forked_from)
  values (@tenant, @sessionId, @revision, @head, @runId, @agent, @caller, @cwd, @title,
    @carry, @at, @at, @forkedFrom)
  on conflict (tenant, session_id) do update set
    before_head = case when sessions.revision = excluded.revision
      then sessions.before_head else sessions.head end,
    before_carry_json = case when sessions.revision = excluded.revision
      then sessions.before_carry_json else sessions.carry_json end,
    revision = excluded.revision, head = excluded.head, run_id = excluded.run_id,
    agent = excluded.agent, caller = excluded.caller, cwd = excluded.cwd,
    carry_json = excluded.carry_json, updated_at = excluded.updated_at
  where sessions.revision = excluded.revision - 1
    or (sessions.revision = excluded.revision and sessions.run_id = excluded.run_id)`;

const SELECT = `select * from sessions where tenant = @tenant and session_id = @sessionId`;

const LATEST = `
  select * from sessions where tenant = @tenant and caller = @caller and cwd = @cwd
  order by updated_at desc, session_id desc limit 1`;

const OPEN_RUNS = `
  select run_id from runs
  where tenant = @tenant and session_id = @sessionId and result_json is null
  order by started_at desc limit ${OPEN_RUNS_MAX}`;

/** Ids of sessions have no character that comes after `~`. */
const LAST_BELOW = `
  select session_id from runs
  where tenant = @tenant and session_id >= @prefix and session_id < @end
  order by session_id desc limit 1`;

export function sessions(db: Db): Sessions {
  return {
    async saveSession(save) {
      const { tenant, sessionId, head, runId, agent, caller, cwd, base, at } = save;
      checkIdentifiers({ tenant, sessionId, head, runId });
      const revision = base + 1;
      const names = { tenant, sessionId, head, runId, agent, caller, cwd };
      const changed = await change(db, SAVE, {
        ...names,
        revision,
        at,
        title: wellFormed(save.title),
        carry: JSON.stringify(save.carry),
        forkedFrom: save.forkedFrom ?? null,
      });
      return changed > 0 ? revision : undefined;
    },
    async getSession(tenant, sessionId) {
      checkIdentifiers({ tenant, sessionId });
      const [row] = await rowsOf<SessionTable>(db, SELECT, { tenant, sessionId });
      return row === undefined ? undefined : sessionRow(row);
    },
    async latestSession(tenant, { caller, cwd }) {
      checkIdentifiers({ tenant });
      const [row] = await rowsOf<SessionTable>(db, LATEST, { tenant, caller, cwd });
      return row === undefined ? undefined : entryOf(row);
    },
    async listSessions(tenant, query) {
      checkIdentifiers({ tenant });
      return (await selectSessions(db, tenant, query).execute()).map(entryOf);
    },
    async lastSessionBelow(tenant, prefix) {
      checkIdentifiers({ tenant, prefix });
      const [row] = await rowsOf<{ readonly session_id: string }>(db, LAST_BELOW, {
        tenant,
        prefix,
        end: `${prefix}~`,
      });
      return row?.session_id;
    },
    async openRunsOf(tenant, sessionId) {
      checkIdentifiers({ tenant, sessionId });
      const rows = await rowsOf<{ readonly run_id: string }>(db, OPEN_RUNS, { tenant, sessionId });
      return rows.map((row) => row.run_id);
    },
  };
}

function selectSessions(db: Db, tenant: string, { limit, caller, before }: SessionsQuery) {
  let rows = db.selectFrom('sessions').selectAll().where('tenant', '=', tenant);
  if (caller !== undefined) rows = rows.where('caller', '=', caller);
  if (before !== undefined) {
    const { updatedAt, sessionId } = before;
    rows = rows.where((eb) =>
      eb.or([
        eb('updated_at', '<', updatedAt),
        eb.and([eb('updated_at', '=', updatedAt), eb('session_id', '<', sessionId)]),
      ]),
    );
  }
  return rows.orderBy('updated_at', 'desc').orderBy('session_id', 'desc').limit(listLimit(limit));
}

function sessionRow(row: SessionTable): SessionRow {
  const { before_head: head, before_carry_json: before } = row;
  return {
    ...entryOf(row),
    carry: JSON.parse(row.carry_json) as SessionCarry,
    ...(head !== null &&
      before !== null && { before: { head, carry: JSON.parse(before) as SessionCarry } }),
  };
}

function entryOf(row: SessionTable): SessionEntry {
  return {
    tenant: row.tenant,
    sessionId: row.session_id,
    revision: row.revision,
    head: row.head,
    runId: row.run_id,
    agent: row.agent,
    caller: row.caller,
    cwd: row.cwd,
    title: row.title,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(row.forked_from === null ? {} : { forkedFrom: row.forked_from }),
  };
}
