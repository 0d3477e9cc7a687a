/** Stores and copies of them, made as an operator makes and restores a backup, in either database. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import {
  dropPostgres,
  newPostgresUrl,
  postgresBinaries,
  queryAtOnce,
  restoredPostgres,
} from './postgres-server.js';

export type DatabaseName = 'sqlite' | 'postgres';

/** Those that are here. */
export const databases = (): readonly DatabaseName[] =>
  postgresBinaries() === undefined ? ['sqlite'] : ['sqlite', 'postgres'];

export interface StoreCopies {
  /** Where a new store is, or will be. */
  fresh(): Promise<string>;
  /** As it is at this moment; nothing happens meanwhile. */
  copyOf(place: string): string;
  /** A statement that the store itself knows nothing of. */
  change(place: string, statement: string): void;
  /** Stores are closed before. */
  end(): Promise<void>;
}

export function storeCopies(database: DatabaseName): StoreCopies {
  return database === 'sqlite' ? inFiles() : inPostgres();
}

function inFiles(): StoreCopies {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-stores-'));
  let count = 0;
  const newFile = (): string => join(folder, `${(count += 1)}.db`);
  const within = (place: string, work: (file: Database.Database) => void): void => {
    const file = new Database(place);
    work(file);
    file.close();
  };
  return {
    fresh: async () => newFile(),
    copyOf(place) {
      const copy = newFile();
      within(place, (file) => void file.prepare('vacuum into ?').run(copy));
      return copy;
    },
    change: (place, statement) => within(place, (file) => void file.prepare(statement).run()),
    end: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

function inPostgres(): StoreCopies {
  const made: string[] = [];
  const noted = (url: string): string => {
    made.push(url);
    return url;
  };
  return {
    fresh: async () => noted(await newPostgresUrl()),
    copyOf: (url) => noted(restoredPostgres(url)),
    change: queryAtOnce,
    async end() {
      for (const url of made) await dropPostgres(url);
    },
  };
}
