/** The peers of the trial: how a process of each is begun, and where what it keeps is weighed. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { extname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { keep } from '../../store/sqlite/kept.js';

export type PeerName = 'holdfast' | 'temporal' | 'dbos' | 'langgraph';

export interface Contestant {
  readonly name: PeerName;
  readonly title: string;
  /** File of its process. */
  readonly entry: string;
  readonly execArgv: readonly string[];
  /** Keeps its runs in PostgreSQL; the others in Temporal's histories. */
  readonly keepsInPostgres: boolean;
  /** What somebody has to do after a crash. */
  readonly goesOn: string;
}

/** Of the project: both its sources and its build are below it. */
const ROOT = extname(__filename) === '.ts' ? join(__dirname, '../..') : join(__dirname, '../../..');
const OTHERS = join(ROOT, 'lab', 'peers', 'others');

export const CONTESTANTS: readonly Contestant[] = [
  own('holdfast', 'Holdfast'),
  own('temporal', 'Temporal, a plain loop'),
  other('dbos', 'DBOS 5.3.0', 'by itself, at its next launch'),
  other('langgraph', 'LangGraph 1.7.3', 'when its caller invokes it again'),
];

function own(name: PeerName, title: string): Contestant {
  const file = `${name}-peer${extname(__filename)}`;
  return {
    name,
    title,
    entry: join(__dirname, file),
    execArgv: extname(__filename) === '.ts' ? ['--import', 'tsx'] : [],
    keepsInPostgres: false,
    goesOn: 'by itself',
  };
}

function other(name: PeerName, title: string, goesOn: string): Contestant {
  const entry = join(OTHERS, `${name}.mjs`);
  return { name, title, entry, execArgv: ['--no-deprecation'], keepsInPostgres: true, goesOn };
}

/** The packages of the others are none of the project's: they are fetched when they are first needed. */
export function installOthers(say: (line: string) => void): void {
  if (existsSync(join(OTHERS, 'node_modules', '.package-lock.json'))) return;
  say('installing the packages of the other peers …');
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: OTHERS, stdio: 'pipe' });
}

/** Of all tables and their indexes. */
export async function bytesInPostgres(databaseUrl: string): Promise<number> {
  const { Client } = await import('pg');
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ readonly bytes: string }>(
      `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bytes FROM pg_class c
       JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')`,
    );
    return Number(rows[0]!.bytes);
  } finally {
    await client.end();
  }
}

/** Of a store's pages in use. */
export function bytesInStore(file: string): number {
  const db = keep(new Sqlite(file, { readonly: true }));
  try {
    const pragma = (name: string): number => Number(db.pragma(name, { simple: true }));
    return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
  } finally {
    db.close();
  }
}
