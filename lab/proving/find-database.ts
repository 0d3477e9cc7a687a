/**
 * Finds the recorded database that a recording was made on. What lies in the folder of the domain is
 * tried on the recording itself: the database whose tools give the recorded outputs again is the one,
 * whatever generation and variant it is.
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { HoldfastError } from '../../core/state/errors.js';
import { loadDatabase, tableFiles } from './domains/database.js';
import type { Domain } from './domains/domain.js';
import { replayRun } from './offline-replay.js';
import type { Recording } from './recording.js';

export interface FoundDatabase {
  readonly paths: readonly string[];
  /** Recorded outputs that were tried, and how many of them this database gives again. */
  readonly outputs: number;
  readonly outputsEqual: number;
}

/** How far above a recording its database is looked for. */
const LEVELS_MAX = 5;
/** Enough to tell databases apart; recordings may be long. */
const OUTPUTS_TRIED_MAX = 2_000;
const CANDIDATES_MAX = 20;

/** The database of a recording in this file. */
export function findDatabase(domain: Domain, recording: Recording, file: string): FoundDatabase {
  const candidates = candidatesFor(domain, recording, file);
  let best: FoundDatabase | undefined;
  for (const paths of candidates) {
    const found = tried(domain, recording, paths);
    if (best === undefined || found.outputsEqual > best.outputsEqual) best = found;
    if (best.outputsEqual === best.outputs) break;
  }
  if (best !== undefined) return best;
  throw new HoldfastError(
    'InvalidTask',
    `There is no database in a folder "${domain.name}" above the recording.`,
    { hint: 'Name the database with --database.' },
  );
}

function tried(domain: Domain, recording: Recording, paths: readonly string[]): FoundDatabase {
  const database = loadDatabase(domain, paths);
  let outputs = 0;
  let different = 0;
  for (const run of recording.runs) {
    if (outputs >= OUTPUTS_TRIED_MAX) break;
    const replay = replayRun({ domain, database }, run);
    outputs += replay.outputs;
    different += replay.differences.length;
  }
  return { paths, outputs, outputsEqual: outputs - different };
}

/** Nearest folders first; in each the database that the recording's format suggests first. */
function candidatesFor(domain: Domain, { format }: Recording, file: string): readonly string[][] {
  const folders = [...foldersAbove(file), ...materialFolders()].map((folder) =>
    join(folder, domain.name),
  );
  const found = [...new Set(folders)].flatMap((folder) => {
    const single = databasesIn(folder);
    const split = tablesIn(domain, folder);
    return format === 'tau2' ? [...single, ...split] : [...split, ...single];
  });
  return found.slice(0, CANDIDATES_MAX);
}

function foldersAbove(file: string): string[] {
  const folders = [dirname(resolve(file))];
  for (let level = 1; level < LEVELS_MAX; level += 1) folders.push(dirname(folders.at(-1) ?? '/'));
  return folders;
}

/** Files with all tables: db.json, db.reconstructed.json. */
function databasesIn(folder: string): string[][] {
  return entriesOf(folder)
    .filter((name) => /^db(\.[\w-]+)?\.json$/.test(name))
    .map((name) => [join(folder, name)]);
}

/** The folder `data` alone, and with each `data_…` beside it, whose tables replace those of the same name. */
function tablesIn(domain: Domain, folder: string): string[][] {
  const base = join(folder, 'data');
  if (tableFiles(domain, base).length < domain.tables.length) return [];
  const variants = entriesOf(folder)
    .filter((name) => name.startsWith('data_'))
    .map((name) => join(folder, name))
    .filter((variant) => tableFiles(domain, variant).length > 0);
  return [[base], ...variants.map((variant) => [base, variant])];
}

function entriesOf(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).toSorted() : [];
}

/** Where the test material lies: beside the project's folder. */
export function materialFolder(): string {
  let folder = __dirname;
  // From the sources it is one folder up, from the build two; nothing is nested deeper than that.
  for (let level = 0; level < 3 && !existsSync(join(folder, 'package.json')); level += 1) {
    folder = dirname(folder);
  }
  return join(dirname(folder), 'shared', 'material');
}

function materialFolders(): string[] {
  return ['tau-bench', 'tau2-bench'].map((name) => join(materialFolder(), name));
}
