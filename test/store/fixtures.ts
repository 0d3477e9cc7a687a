/**
 * What the tests of the store share: a store of its own in either database, and events of one run.
 * Every test file runs on SQLite by itself, and on PostgreSQL when postgres.test.ts loads it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Client } from 'pg';
import type { EventBody, RunEvent } from '../../core/state/event.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { RunResult } from '../../core/state/result.js';
import { isStoreUrl } from '../../store/postgres/store-url.js';
import { openStoreAt, type Store } from '../../store/store.js';
import { dropPostgres, emptyPostgresUrl, newPostgresUrl } from '../postgres-server.js';

export interface Opened {
  readonly store: Store;
  /** What it is opened with: the path of a file, or an address with a schema of its own. */
  readonly place: string;
}

const folders: string[] = [];
const stores: Store[] = [];
const databases: string[] = [];
let database: 'sqlite' | 'postgres' = 'sqlite';

/** What `newStore` opens from now on. */
export function useDatabase(name: typeof database): void {
  database = name;
}

export const databaseNow = (): typeof database => database;

/** For what only one of them can show. */
export function onlyOn(name: typeof database): typeof test {
  return database === name ? test : (test.skip as typeof test);
}

export function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-store-'));
  folders.push(folder);
  return join(folder, 'store.db');
}

/** Where nothing is yet. */
export async function newPlace(): Promise<string> {
  return database === 'sqlite' ? newFile() : ours(await emptyPostgresUrl());
}

export async function newStore(at?: string): Promise<Opened> {
  const place = at ?? (database === 'sqlite' ? newFile() : ours(await newPostgresUrl()));
  const store = await openStoreAt(place);
  stores.push(store);
  return { store, place };
}

function ours(url: string): string {
  databases.push(url);
  return url;
}

/** Rows of a statement that the store itself knows nothing of. */
export async function rawRows(place: string, statement: string): Promise<readonly unknown[]> {
  if (!isStoreUrl(place)) {
    const file = new Database(place);
    try {
      const prepared = file.prepare(statement);
      return prepared.reader ? prepared.all() : [prepared.run()];
    } finally {
      file.close();
    }
  }
  const client = new Client({ connectionString: place });
  await client.connect();
  try {
    return (await client.query(statement)).rows as unknown[];
  } finally {
    await client.end();
  }
}

/** Makes a store one of schema 6 again, as far as its tables of later schemas go. */
export async function withoutLaterTables(place: string): Promise<void> {
  for (const table of [
    'archivals',
    'store_identity',
    'adopted_runs',
    'served',
    'needs',
    'children',
    'proposals',
    'goal_effects',
    'work_folders',
    'folder_commits',
    'connector_tools',
    'letters',
    'user_messages',
    'forks',
    'recorded_calls',
    'connector_tokens',
    'connector_logins',
  ])
    await rawRows(place, `drop table ${table}`);
  await rawRows(place, 'alter table asks drop column search_text');
  await rawRows(place, 'alter table ledger drop column plain_digest');
  for (const index of ['runs_alarmed', 'goals_by_start', 'runs_by_root'])
    await rawRows(place, `drop index ${index}`);
  for (const column of [
    'alarm',
    'alarm_seq',
    'kind',
    'parent',
    'next_wake',
    'spent_micro_usd',
    'budget_micro_usd',
    'root',
    'rules',
    'tools_used',
    'error_codes',
    'last_error_tool',
    'last_error_code',
    'ended_by',
  ])
    await rawRows(place, `alter table runs drop column ${column}`);
  await rawRows(place, 'delete from schema_migrations where version >= 7');
}

export async function cleanUp(): Promise<void> {
  for (const store of stores.splice(0)) await store.close();
  for (const url of databases.splice(0)) await dropPostgres(url);
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** Events of run `r1` from `seq` on; `at` of each is 1,000 + its seq unless `clock` says otherwise. */
export function eventsFrom(seq: number, bodies: readonly EventBody[], clock = 1000): RunEvent[] {
  return bodies.map((body, index) => ({
    ...body,
    stamp: {
      seq: seq + index,
      runId: 'r1',
      traceId: 't1',
      at: clock + seq + index,
      phase: 'initializing',
      step: 0,
      turn: 0,
    },
  }));
}

export function warnings(count: number, message = 'careful'): EventBody[] {
  return Array.from({ length: count }, () => ({ type: 'warning', code: 'late_input', message }));
}

export const SESSION_INIT: EventBody = {
  type: 'session_init',
  agent: 'refund',
  taskId: 'r1',
  goal: { text: 'Refund order 7' },
  model: 'scripted/one',
  tools: ['payments.issue_refund'],
  caller: 'alice',
  versions: { code: '1' },
};

export function askView(askId: string, changes: Partial<AskView> = {}): AskView {
  return {
    askId,
    kind: 'approval',
    callId: 'c1',
    callKey: '1',
    tool: 'payments.issue_refund',
    toolVersion: '1',
    args: { orderId: '7' },
    argsHash: 'h1',
    roles: ['refund-manager'],
    quorum: 1,
    policyVersion: 'p1',
    requestedBy: 'alice',
    openedAt: 1001,
    expiresAt: 9001,
    ...changes,
  };
}

const USAGE = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 };

export const RESULT: RunResult = {
  runId: 'r1',
  status: 'stopped',
  stopReason: 'max_cost',
  detail: 'limit of 1 USD',
  completed: false,
  usage: USAGE,
  costMicroUsd: 4200,
  counters: {
    modelCalls: 1,
    turnCount: 1,
    step: 1,
    proposedCalls: 0,
    toolCalls: 0,
    toolAttempts: 0,
    deniedCalls: 0,
    invalidCalls: 0,
    skippedCalls: 0,
    inputRequests: 0,
    notStartedCalls: 0,
    recoveryCount: 0,
    compactions: { proactive: 0, reactive: 0 },
    stopHookReentries: 0,
    fallbacks: 0,
    usage: USAGE,
    costMicroUsd: 4200,
    activeMs: 1,
    waitingMs: 0,
  },
  versions: {},
  trace: { runId: 'r1', traceId: 't1', events: 3 },
};

/** Names that break programs which build SQL or index objects by hand. */
export const HOSTILE_NAMES = [
  '__proto__',
  'constructor',
  "o'brien'; drop table ledger; --",
  '"quoted"',
  '%_\\',
  '?1',
  'ключ 🔑',
  ' ',
];
