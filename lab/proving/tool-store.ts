/**
 * The durable state of the tool service: what each run changed, the result of each keyed call, and
 * the append-only ledger of effects.
 *
 * Invariants: (1) an effect, its ledger row and its keyed result are one transaction, on disk
 * before the call is answered; (2) rows of the ledger and of arrivals are never changed or deleted,
 * the database itself refuses it; (3) a key has one result for ever, unless the store ignores keys:
 * then it only writes them down, and each call of a changing tool takes effect anew.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { HoldfastError } from '../../core/state/errors.js';
import { keep } from '../../store/sqlite/kept.js';
import type { Database, Table } from './domains/database.js';
import { dumpCanonical, dumpJson, parseJson } from './python/python-json.js';
import type { PyObject } from './python/python-value.js';
import { isWrite, runTool, type Domain, type ToolAnswer } from './domains/domain.js';
import { changedRecords, openStage, type Overlay, type StagedRecord } from './domains/world.js';

const FILE_NAME = 'tool-service.sqlite';
const LEDGER_ROWS_SHOWN_MAX = 100_000;

export interface ToolCall {
  readonly tenant: string;
  readonly run: string;
  /** Which step of the run makes the call; for the ledger only. */
  readonly step: string;
  readonly tool: string;
  readonly args: PyObject;
  readonly key?: string;
  readonly attempt: number;
}

export interface LedgerRow {
  readonly seq: number;
  readonly tenant: string;
  readonly run: string;
  readonly step: string;
  readonly key: string | null;
  readonly tool: string;
  readonly args_hash: string;
  readonly applied_at: string;
  readonly attempt: number;
  /** What the call was answered. */
  readonly result: string;
}

/** A call of a changing tool that reached the service, whether it took effect or not. */
export interface Arrival {
  readonly key: string | null;
  readonly tool: string;
}

/** `keys`: a repeated key gets the first result; `nokeys`: keys are ignored. */
export const MODES = ['keys', 'nokeys'] as const;
export type Mode = (typeof MODES)[number];

export interface KeyedResult extends ToolAnswer {
  readonly run: string;
  readonly tool: string;
}

export interface ToolStore {
  /** Runs the call, or gives the recorded result of its key. */
  call(call: ToolCall): ToolAnswer & { readonly replayed: boolean };
  find(key: string): KeyedResult | undefined;
  changes(run: string): PyObject;
  ledger(run?: string): LedgerRow[];
  /** In the order in which they came. */
  arrivals(run: string): Arrival[];
  close(): void;
}

export interface ToolStoreOptions {
  readonly domain: Domain;
  readonly database: Database;
  /** Made if missing; a store that a killed process left there is continued. */
  readonly dataDir: string;
  readonly mode: Mode;
}

/** Opens the store. */
export function openToolStore(options: ToolStoreOptions): ToolStore {
  const { database, dataDir } = options;
  mkdirSync(dataDir, { recursive: true });
  const sqlite = keep(new Sqlite(join(dataDir, FILE_NAME)));
  sqlite.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  sqlite.exec(SCHEMA);
  const statements = keep(prepare(sqlite));
  const apply = sqlite.transaction((call: ToolCall) => applyCall(options, statements, call));
  return {
    call: (call) => apply.immediate(call),
    find(key) {
      const row = statements.result.get(key);
      if (row === undefined) return undefined;
      return { content: row.content, error: row.error === 1, run: row.run, tool: row.tool };
    },
    changes: (run) => changedRecords(database, overlayOf(statements, run)),
    ledger: (run) =>
      run === undefined ? statements.ledger.all() : statements.ledgerOfRun.all(run),
    arrivals: (run) => statements.arrivals.all(run),
    close: () => void sqlite.close(),
  };
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS overlay (
    run TEXT NOT NULL, tbl TEXT NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (run, tbl, id)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS results (
    key TEXT PRIMARY KEY, run TEXT NOT NULL, tool TEXT NOT NULL, args_hash TEXT NOT NULL,
    content TEXT NOT NULL, error INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ledger (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, run TEXT NOT NULL,
    step TEXT NOT NULL, key TEXT, tool TEXT NOT NULL, args_hash TEXT NOT NULL,
    applied_at TEXT NOT NULL, attempt INTEGER NOT NULL, result TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS ledger_by_run ON ledger (run, seq);
  CREATE TRIGGER IF NOT EXISTS ledger_no_update BEFORE UPDATE ON ledger
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
  CREATE TRIGGER IF NOT EXISTS ledger_no_delete BEFORE DELETE ON ledger
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
  CREATE TABLE IF NOT EXISTS arrivals (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, key TEXT, tool TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS arrivals_by_run ON arrivals (run, seq);
  CREATE TRIGGER IF NOT EXISTS arrivals_no_update BEFORE UPDATE ON arrivals
    BEGIN SELECT RAISE(ABORT, 'arrivals are append-only'); END;
  CREATE TRIGGER IF NOT EXISTS arrivals_no_delete BEFORE DELETE ON arrivals
    BEGIN SELECT RAISE(ABORT, 'arrivals are append-only'); END;
`;

interface ResultRow {
  readonly run: string;
  readonly tool: string;
  readonly args_hash: string;
  readonly content: string;
  readonly error: number;
}

type Statements = ReturnType<typeof prepare>;

function prepare(sqlite: Sqlite.Database) {
  return {
    result: sqlite.prepare<[string], ResultRow>('SELECT * FROM results WHERE key = ?'),
    keepResult: sqlite.prepare<[string, string, string, string, string, number]>(
      'INSERT INTO results (key, run, tool, args_hash, content, error) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    record: sqlite.prepare<[string, string, string], { record: string }>(
      'SELECT record FROM overlay WHERE run = ? AND tbl = ? AND id = ?',
    ),
    records: sqlite.prepare<[string, string], { id: string; record: string }>(
      'SELECT id, record FROM overlay WHERE run = ? AND tbl = ? ORDER BY id',
    ),
    keepRecord: sqlite.prepare<[string, string, string, string]>(
      'INSERT INTO overlay (run, tbl, id, record) VALUES (?, ?, ?, ?) ' +
        'ON CONFLICT (run, tbl, id) DO UPDATE SET record = excluded.record',
    ),
    append: sqlite.prepare<Omit<LedgerRow, 'seq'>>(
      'INSERT INTO ledger (tenant, run, step, key, tool, args_hash, applied_at, attempt, result) ' +
        'VALUES (@tenant, @run, @step, @key, @tool, @args_hash, @applied_at, @attempt, @result)',
    ),
    arrive: sqlite.prepare<[string, string | null, string]>(
      'INSERT INTO arrivals (run, key, tool) VALUES (?, ?, ?)',
    ),
    arrivals: sqlite.prepare<[string], Arrival>(
      `SELECT key, tool FROM arrivals WHERE run = ? ORDER BY seq LIMIT ${LEDGER_ROWS_SHOWN_MAX}`,
    ),
    ledger: sqlite.prepare<[], LedgerRow>(
      `SELECT * FROM ledger ORDER BY seq LIMIT ${LEDGER_ROWS_SHOWN_MAX}`,
    ),
    ledgerOfRun: sqlite.prepare<[string], LedgerRow>(
      `SELECT * FROM ledger WHERE run = ? ORDER BY seq LIMIT ${LEDGER_ROWS_SHOWN_MAX}`,
    ),
  };
}

function applyCall(
  { domain, database, mode }: ToolStoreOptions,
  statements: Statements,
  call: ToolCall,
): ToolAnswer & { readonly replayed: boolean } {
  const writes = isWrite(domain, call.tool);
  const argsHash = hashOf(call.args);
  const key = mode === 'keys' ? call.key : undefined;
  if (writes) statements.arrive.run(call.run, call.key ?? null, call.tool);
  const recorded = key === undefined ? undefined : statements.result.get(key);
  if (recorded !== undefined) {
    requireSameCall(call, argsHash, recorded);
    return { content: recorded.content, error: recorded.error === 1, replayed: true };
  }
  const stage = openStage(database, overlayOf(statements, call.run));
  const answer = runTool(domain, stage, { name: call.tool, args: call.args });
  if (!writes) return { ...answer, replayed: false };
  if (!answer.error) {
    keepRecords(statements, call.run, stage.staged());
    statements.append.run({ ...ledgerRow(call, argsHash), result: answer.content });
  }
  if (key !== undefined) {
    const error = answer.error ? 1 : 0;
    statements.keepResult.run(key, call.run, call.tool, argsHash, answer.content, error);
  }
  return { ...answer, replayed: false };
}

function requireSameCall(call: ToolCall, argsHash: string, recorded: ResultRow): void {
  const same =
    recorded.run === call.run && recorded.tool === call.tool && recorded.args_hash === argsHash;
  if (same) return;
  throw new HoldfastError('KeyConflict', 'The key belongs to another call.', {
    details: { tool: recorded.tool, run: recorded.run },
  });
}

function keepRecords(statements: Statements, run: string, staged: readonly StagedRecord[]): void {
  for (const { table, id, record } of staged) {
    statements.keepRecord.run(run, table, id, dumpJson(record));
  }
}

function ledgerRow(call: ToolCall, argsHash: string): Omit<LedgerRow, 'seq' | 'result'> {
  return {
    tenant: call.tenant,
    run: call.run,
    step: call.step,
    key: call.key ?? null,
    tool: call.tool,
    args_hash: argsHash,
    applied_at: new Date().toISOString(),
    attempt: call.attempt,
  };
}

function overlayOf(statements: Statements, run: string): Overlay {
  return {
    read(table: Table, id: string) {
      const row = statements.record.get(run, table, id);
      return row === undefined ? undefined : parseRecord(row.record);
    },
    entries: (table: Table) =>
      statements.records.all(run, table).map((row) => [row.id, parseRecord(row.record)] as const),
  };
}

function parseRecord(text: string): PyObject {
  const record = parseJson(text);
  if (!(record instanceof Map))
    throw new HoldfastError('Internal', 'A stored record is no object.');
  return record;
}

function hashOf(args: PyObject): string {
  return createHash('sha256').update(dumpCanonical(args)).digest('hex');
}
