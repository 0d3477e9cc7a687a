/** A PostgreSQL server of the trial's own, which can be crashed and comes back with its data. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../core/state/errors.js';

export interface PostgresServer {
  readonly url: string;
  /** Ends as in a crash, without a checkpoint, and a new one on the same data after `downMs`. */
  crash(downMs: number): Promise<void>;
  /** The whole database as SQL, as `pg_dump` writes it. */
  dump(file: string): void;
  /** Replaces everything in it by a dump. Nobody may be using it. */
  restore(file: string): void;
  stop(): Promise<void>;
}

const USER = 'holdfast';
const DATABASE = 'postgres';
const START_LIMIT_MS = 60_000;
const POLL_MS = 50;

/** `folder`: an empty one that everybody may enter. */
export async function startPostgres(folder: string, port: number): Promise<PostgresServer> {
  const binaries = findBinaries();
  const account = unprivileged();
  const data = join(folder, 'data');
  const password = randomBytes(12).toString('hex');
  const passwordFile = join(folder, 'password');
  mkdirSync(data);
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (account !== undefined) {
    for (const path of [folder, data, passwordFile]) chownSync(path, account.uid, account.gid);
  }
  const access = ['-U', USER, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8'];
  const making = { ...account, cwd: folder, stdio: 'pipe' } as const;
  execFileSync(join(binaries, 'initdb'), ['-D', data, ...access], making);
  const url = `postgres://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`;
  const log = openSync(join(folder, 'log'), 'a');
  const launch = async (): Promise<ChildProcess> => {
    const place = ['-D', data, '-p', `${port}`, '-k', folder];
    const settings = ['listen_addresses=127.0.0.1', 'max_connections=200'];
    const args = [...place, ...settings.flatMap((setting) => ['-c', setting])];
    const server = spawn(join(binaries, 'postgres'), args, {
      ...account,
      cwd: folder,
      stdio: ['ignore', log, log],
    });
    await untilItAnswers(url);
    return server;
  };
  let server = await launch();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server.exitCode !== null) return;
    const gone = once(server, 'exit');
    server.kill(signal);
    await gone;
  };
  const client = (program: string, args: readonly string[]) =>
    execFileSync(join(binaries, program), ['-d', url, ...args], { stdio: 'pipe' });
  return {
    url,
    async crash(downMs) {
      // SIGQUIT ends every process of it at once; what the log has not is lost, as when the machine dies.
      await end('SIGQUIT');
      await sleep(downMs);
      server = await launch();
    },
    dump: (file) => void client('pg_dump', ['--clean', '--if-exists', '-f', file]),
    restore: (file) => void client('psql', ['-q', '-v', 'ON_ERROR_STOP=1', '-f', file]),
    stop: () => end('SIGQUIT'),
  };
}

function findBinaries(): string {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  const folders = [
    ...versions.toSorted((a, b) => Number(b) - Number(a)).map((name) => join(debian, name, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  const found = folders.find((folder) => existsSync(join(folder, 'initdb')));
  if (found !== undefined) return found;
  throw new HoldfastError('InvalidConfig', 'PostgreSQL is not installed.', {
    hint: 'Install it (apt-get install -y --no-install-recommends postgresql).',
  });
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (kind: '-u' | '-g'): number =>
    Number(execFileSync('id', [kind, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

async function untilItAnswers(url: string): Promise<void> {
  const { Client } = await import('pg');
  for (let waited = 0; waited < START_LIMIT_MS; waited += POLL_MS) {
    const client = new Client({ connectionString: url });
    try {
      await client.connect();
      return;
    } catch {
      await sleep(POLL_MS);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  throw new HoldfastError('StoreUnavailable', 'The PostgreSQL of the trial does not answer.', {
    hint: 'Read its log in the folder of the trial.',
  });
}
