import { randomUUID } from 'node:crypto';
import { readFile, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asIdentity, isAlive, type ProcessIdentity } from './process-identity.js';

/** An embedded server that runs now on a data folder. */
export interface RunningServer {
  readonly pid: number;
  readonly address: string;
  /** Address of Temporal's own web page; undefined when it runs without. */
  readonly uiUrl: string | undefined;
  readonly databaseFile: string;
  /** The process that started it and will stop it. */
  readonly ownerPid: number;
  /** The owner is gone: nobody will stop it, and the next start on this folder does. */
  readonly orphaned: boolean;
}

/** What the owner writes down, for other processes and for its own successor. */
export interface ServerRecord {
  readonly server: ProcessIdentity;
  readonly owner: ProcessIdentity;
  readonly address: string;
  readonly uiUrl: string | undefined;
  readonly databaseFile: string;
}

/** A database of another server version; the embedded server cannot open it. */
export interface LeftBehind {
  readonly file: string;
  readonly serverVersion: string;
  /** Together with its write-ahead log. */
  readonly bytes: number;
}

const RECORD_FILE = 'temporal-server.json';

/** The database of a server version: the schema changes between versions and is not migrated. */
export function databaseFile(dataDir: string, serverVersion: string): string {
  return join(dataDir, `temporal-${serverVersion}.db`);
}

/** The embedded server on this data folder, if one is alive. */
export async function runningServer(dataDir: string): Promise<RunningServer | undefined> {
  const record = await readRecord(dataDir);
  // A record outlives its server; only the process decides.
  if (record === undefined || !(await isAlive(record.server))) return undefined;
  const { server, owner, ...facts } = record;
  const orphaned = !(await isAlive(owner));
  return { ...facts, pid: server.pid, ownerPid: owner.pid, orphaned };
}

/** Databases in the folder that belong to other server versions. */
export async function leftBehind(
  dataDir: string,
  serverVersion: string,
): Promise<readonly LeftBehind[]> {
  const names = await readdir(dataDir).catch(() => []);
  const found = names.flatMap((name) => {
    const version = /^temporal-(.+)\.db$/.exec(name)?.[1];
    return version === undefined || version === serverVersion
      ? []
      : [{ file: join(dataDir, name), serverVersion: version }];
  });
  return Promise.all(
    found.map(async (entry) => ({
      ...entry,
      bytes: (await sizeOf(entry.file)) + (await sizeOf(`${entry.file}-wal`)),
    })),
  );
}

/** Writes the record down in one step, so that no reader sees half of it. */
export async function writeRecord(dataDir: string, record: ServerRecord): Promise<void> {
  const file = join(dataDir, RECORD_FILE);
  const temporary = `${file}.${randomUUID()}`;
  await writeFile(temporary, JSON.stringify(record, null, 2));
  await rename(temporary, file);
}

async function readRecord(dataDir: string): Promise<ServerRecord | undefined> {
  try {
    const parsed: unknown = JSON.parse(await readFile(join(dataDir, RECORD_FILE), 'utf8'));
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    const fields = parsed as Readonly<Record<string, unknown>>;
    const server = asIdentity(fields.server);
    const owner = asIdentity(fields.owner);
    if (server === undefined || owner === undefined) return undefined;
    if (typeof fields.address !== 'string' || typeof fields.databaseFile !== 'string') {
      return undefined;
    }
    return {
      server,
      owner,
      address: fields.address,
      uiUrl: typeof fields.uiUrl === 'string' ? fields.uiUrl : undefined,
      databaseFile: fields.databaseFile,
    };
  } catch {
    return undefined;
  }
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
