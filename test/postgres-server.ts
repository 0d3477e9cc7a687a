/**
 * One PostgreSQL server for all tests of a run of jest, started when the first of them wants it: loopback only,
 * a folder and a port of its own, and nothing of it is left when jest has ended, however it ended. Each store has a
 * database of its own: a copy of one that was brought up to date once.
 */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';

const INSTALL = 'apt-get install -y --no-install-recommends postgresql';
const START_LIMIT_MS = 60_000;
const POLL_MS = 50;
const USER = 'holdfast';
/** From this version on a cluster brings its own locales. */
const LOCALES_FROM = 15;
/** From this version on it says how a database is copied; copying its files takes half the work. */
const STRATEGIES_FROM = 15;
const TEMPLATE = 'opened_once';
const SCHEMA = 'holdfast';

/** Set by the global setup: the folder of this run of jest, and the process to outlive by no more than a second. */
const FOLDER = 'HOLDFAST_TEST_POSTGRES';
const OWNER = 'HOLDFAST_TEST_OWNER';

/** Where initdb and postgres are, or undefined: then the tests that need them are skipped, and say so. */
export function postgresBinaries(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  const newestFirst = versions.sort((one, other) => Number(other) - Number(one));
  const folders = [
    ...newestFirst.map((version) => join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  const found = folders.find((folder) => existsSync(join(folder, 'initdb')));
  if (found !== undefined) return found;
  const message = `PostgreSQL is not installed (${INSTALL})`;
  if (process.env.CI === 'true') throw new Error(message);
  console.log(`skipped: the store on PostgreSQL: ${message}`);
  return undefined;
}

/** For the global setup: nothing is started yet. */
export function announcePostgres(folder: string): void {
  process.env[FOLDER] = folder;
  process.env[OWNER] = String(process.pid);
}

/** For the global teardown; undefined: nobody wanted it. */
export function postgresPid(): number | undefined {
  const folder = process.env[FOLDER];
  return folder === undefined ? undefined : pidIn(folder);
}

/** For the global teardown. */
export async function stopPostgres(): Promise<void> {
  const folder = process.env[FOLDER];
  if (folder === undefined || !existsSync(folder)) return;
  const pid = pidIn(folder);
  if (pid !== undefined) {
    // Immediately: its data is for nobody.
    process.kill(pid, 'SIGQUIT');
    for (let waited = 0; waited < 5_000 && isAlive(pid); waited += POLL_MS) await sleep(POLL_MS);
  }
  rmSync(folder, { recursive: true, force: true });
}

/** The address of a new database with a store in it that was opened once and never used. */
export async function newPostgresUrl(): Promise<string> {
  const server = await sharedServer();
  const name = newName();
  await query(server, async (client) => {
    const { rows } = await client.query('show server_version_num');
    const isChoice = Number(rows[0].server_version_num) >= 10_000 * STRATEGIES_FROM;
    const how = isChoice ? 'strategy file_copy' : '';
    await client.query(`create database ${name} template ${TEMPLATE} ${how}`);
  });
  const url = urlOf(server, name);
  // A copy is a store of its own.
  const id = randomBytes(16).toString('hex');
  await query(url, (client) =>
    client.query('update store_identity set id = $1, epoch = 1, marks = null', [id]),
  );
  return url;
}

/** The address of a new database that nothing is in. */
export async function emptyPostgresUrl(): Promise<string> {
  return emptyDatabase(await sharedServer(), newName());
}

/** Another database that a dump of this one was restored into, as operators do it; at once, so that nothing is between. */
export function restoredPostgres(url: string): string {
  const server = readFileSync(join(process.env[FOLDER] ?? '', 'url'), 'utf8');
  const name = newName();
  queryAtOnce(server, `create database ${name}`);
  const copy = urlOf(server, name);
  const dump = execFileSync(program('pg_dump'), [url], { maxBuffer: DUMP_BYTES_MAX });
  execFileSync(program('psql'), [...QUIETLY, copy], { input: dump, stdio: 'pipe' });
  return copy;
}

const DUMP_BYTES_MAX = 64 * 1024 * 1024;
const QUIETLY = ['-Xq', '-v', 'ON_ERROR_STOP=1'];

export function queryAtOnce(url: string, statement: string): void {
  execFileSync(program('psql'), [...QUIETLY, '-c', statement, url], { stdio: 'pipe' });
}

function program(name: string): string {
  return join(postgresBinaries() ?? '', name);
}

/** Whoever still uses it loses it: a database takes eight megabytes of memory. */
export async function dropPostgres(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await query(await sharedServer(), async (client) => {
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
      [name],
    );
    await client.query(`drop database if exists ${name}`);
  });
}

async function emptyDatabase(server: string, name: string): Promise<string> {
  const url = urlOf(server, name);
  await query(server, (client) => client.query(`create database ${name}`));
  await query(url, (client) => client.query(`create schema ${SCHEMA}`));
  return url;
}

function newName(): string {
  return `s${randomBytes(8).toString('hex')}`;
}

function urlOf(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  // One that is not there by itself.
  url.searchParams.set('options', `-c search_path=${SCHEMA}`);
  url.searchParams.set('application_name', name);
  // The search parameters write a blank as `+`, which means itself to PostgreSQL.
  return url.href.replaceAll('+', '%20');
}

async function query(url: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const { Client: Connection } = await import('pg');
  const client = new Connection({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function sharedServer(): Promise<string> {
  const folder = process.env[FOLDER];
  if (folder === undefined) throw new Error('Run this with the global setup of the tests.');
  const ready = join(folder, 'url');
  const isFirst = takeTurn(folder);
  if (isFirst) writeFileSync(ready, await start(folder));
  for (let waited = 0; waited < START_LIMIT_MS; waited += POLL_MS) {
    const url = existsSync(ready) ? readFileSync(ready, 'utf8') : '';
    if (url !== '') return url;
    await sleep(POLL_MS);
  }
  throw new Error(`PostgreSQL was not ready within ${START_LIMIT_MS} ms.`);
}

/** Whether this process is the one that starts the server. */
function takeTurn(folder: string): boolean {
  mkdirSync(folder, { recursive: true });
  try {
    mkdirSync(join(folder, 'starting'));
    return true;
  } catch {
    return false;
  }
}

async function start(folder: string): Promise<string> {
  const binaries = postgresBinaries();
  if (binaries === undefined) throw new Error(`PostgreSQL is not installed (${INSTALL})`);
  const data = join(folder, 'data');
  const password = randomBytes(12).toString('hex');
  const passwordFile = join(folder, 'password');
  mkdirSync(data);
  writeFileSync(passwordFile, password);
  const account = unprivileged();
  if (account !== undefined) {
    for (const path of [folder, data, passwordFile]) chownSync(path, account.uid, account.gid);
  }
  chmodSync(folder, 0o700);
  execFileSync(
    join(binaries, 'initdb'),
    [
      ...localeOf(binaries),
      '-D',
      data,
      '-U',
      USER,
      '-A',
      'scram-sha-256',
      `--pwfile=${passwordFile}`,
      '-E',
      'UTF8',
      '-N',
    ],
    { ...account, cwd: folder, stdio: 'pipe' },
  );
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    max_connections: 200,
    shared_buffers: '32MB',
    fsync: 'off',
    full_page_writes: 'off',
    autovacuum: 'off',
  };
  const log = join(folder, 'log');
  const server = spawn(
    'sh',
    [
      '-c',
      `exec "$0" "$@" >>"${log}" 2>&1`,
      join(binaries, 'postgres'),
      '-D',
      data,
      '-p',
      `${port}`,
    ].concat(Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])),
    { ...account, cwd: folder, stdio: 'ignore', detached: true },
  );
  server.unref();
  watch(folder, server.pid!);
  const url = `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`;
  await untilItAnswers(url, log);
  const { openStoreAt } = await import('../store/store.js');
  const store = await openStoreAt(await emptyDatabase(url, TEMPLATE));
  await store.close();
  return url;
}

/** Like that of most servers, one that folds and sorts letters of its own accord, whatever that of this machine is. */
function localeOf(binaries: string): readonly string[] {
  const version = execFileSync(join(binaries, 'initdb'), ['--version'], { encoding: 'utf8' });
  const major = Number(/\d+/.exec(version)?.[0]);
  return major >= LOCALES_FROM ? ['--locale-provider=icu', '--icu-locale=en-US'] : [];
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (kind: '-u' | '-g'): number =>
    Number(execFileSync('id', [kind, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** Ends the server when jest is gone: also one that was killed. */
function watch(folder: string, serverPid: number): void {
  const owner = process.env[OWNER] ?? String(process.pid);
  const script = `while kill -0 ${owner} 2>/dev/null && kill -0 ${serverPid} 2>/dev/null; do sleep 1; done
    kill -QUIT ${serverPid} 2>/dev/null; rm -rf "$0"`;
  spawn('sh', ['-c', script, folder], { stdio: 'ignore', detached: true }).unref();
}

async function untilItAnswers(url: string, log: string): Promise<void> {
  const { Client } = await import('pg');
  for (let waited = 0; waited < START_LIMIT_MS; waited += POLL_MS) {
    const client = new Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await client.end().catch(() => undefined);
      await sleep(POLL_MS);
    }
  }
  throw new Error(`PostgreSQL does not answer:\n${readFileSync(log, 'utf8').slice(-2_000)}`);
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

function pidIn(folder: string): number | undefined {
  const file = join(folder, 'data', 'postmaster.pid');
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
