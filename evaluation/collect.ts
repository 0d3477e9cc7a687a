/**
 * Finds the cases of an evaluation.
 * Invariants: files are read in the order of their names; one bad file refuses the whole evaluation, because
 * a case that silently does not run is a case that nobody checks; a case_id names one case.
 */
import { realpath, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { HoldfastError } from '../core/state/errors.js';
import { filesBelow } from '../replay/below-folder.js';
import type { Fixture } from './fixture.js';
import { readFixture } from './read-fixture.js';

const FILES_MAX = 50_000;
const BAD_FILES_SHOWN = 20;

export interface Collecting {
  readonly paths: readonly string[];
  /** Paths are relative to it, and so are the names in messages. */
  readonly folder: string;
  /** Only cases whose id or title has this text. */
  readonly filter?: string;
}

/** Throws HoldfastError InvalidFixture, which names every bad file. */
export async function collectFixtures(collecting: Collecting): Promise<readonly Fixture[]> {
  const { folder, filter } = collecting;
  const files = await filesOf(collecting);
  const fixtures: Fixture[] = [];
  const failures: HoldfastError[] = [];
  for (const file of files) {
    const read = await readFixture(nameOf(file, folder), file).catch((error: unknown) => {
      if (!(error instanceof HoldfastError)) throw error;
      return error;
    });
    if (read instanceof HoldfastError) failures.push(read);
    else fixtures.push(read);
  }
  if (failures.length > 0) throw allOf(failures);
  refuseDuplicates(fixtures);
  return filter === undefined ? fixtures : fixtures.filter((fixture) => has(fixture, filter));
}

async function filesOf({ paths, folder }: Collecting): Promise<readonly string[]> {
  const found = new Map<string, string>();
  for (const path of paths) {
    for (const file of await filesAt(resolve(folder, path), path)) {
      const real = await realpath(file);
      if (!found.has(real)) found.set(real, file);
      if (found.size > FILES_MAX) throw bad(`${path} has more than ${FILES_MAX} files.`);
    }
  }
  return [...found.values()].toSorted();
}

/** The file itself, or every `*.json` below a folder but in `node_modules` and hidden folders; links to folders are not followed. */
async function filesAt(place: string, path: string): Promise<readonly string[]> {
  const facts = await stat(place).catch(() => undefined);
  if (facts === undefined) throw misnamed(`${path} does not exist.`);
  if (!facts.isDirectory()) return [place];
  const files = await filesBelow(
    place,
    (entry) => !entry.isDirectory() && entry.name.endsWith('.json'),
  );
  if (files.length === 0) throw misnamed(`There is no *.json in ${path}.`);
  return files.map((file) => join(place, file));
}

/** As a person in the folder would write it. */
function nameOf(file: string, folder: string): string {
  const name = relative(folder, file);
  return name.startsWith('..') ? file : name;
}

function has({ caseId, title = '' }: Fixture, text: string): boolean {
  return caseId.includes(text) || title.includes(text);
}

function refuseDuplicates(fixtures: readonly Fixture[]): void {
  const files = new Map<string, string>();
  const clashes: string[] = [];
  for (const { caseId, file } of fixtures) {
    const first = files.get(caseId);
    if (first === undefined) files.set(caseId, file);
    else clashes.push(`${file}: case_id: "${caseId}" is that of ${first} as well`);
  }
  if (clashes.length > 0) throw bad(listed(clashes));
}

function allOf(failures: readonly HoldfastError[]): HoldfastError {
  const hints = new Set(failures.map(({ hint }) => hint));
  const [hint] = hints.size === 1 ? hints : [];
  return bad(listed(failures.map(({ message }) => message)), hint);
}

function listed(lines: readonly string[]): string {
  const shown = lines.slice(0, BAD_FILES_SHOWN);
  const more = lines.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}

/** A wrong name is a wrong command line. */
function misnamed(message: string): HoldfastError {
  return new HoldfastError('Usage', message, { hint: 'Name other files; nothing has run.' });
}

function bad(message: string, hint = 'Mend it, or name other files; nothing has run.') {
  return new HoldfastError('InvalidFixture', message, { hint });
}
