/**
 * Changes of files that happen once for each key.
 * Invariants: a file changes only from the content that the patch expects to the one that it makes; the same key does
 * nothing twice, also when the process died between writing and answering; the journal is outside the repository.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ToolError } from '../../index.js';
import { FILE_BYTES_MAX, fileAt, textAt } from './repository-file.js';

export interface Patch {
  readonly path: string;
  /** Of the file as it was read. */
  readonly expectedSha256: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface Patched {
  readonly path: string;
  /** sha256. */
  readonly before: string;
  readonly after: string;
}

/** Written down before the file changes, and once more when it has. */
interface Entry extends Patched {
  readonly done: boolean;
}

export interface PatchPlace {
  readonly repository: string;
  readonly journal: string;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Errors: ToolError, and then nothing has changed. */
export function applyPatch(place: PatchPlace, key: string, patch: Patch): Patched {
  const happened = patchOf(place, key);
  if (happened !== null) return happened;
  const { path, expectedSha256: before, find, replace } = patch;
  const text = textAt(place.repository, path);
  if (sha256(text) !== before) {
    throw new ToolError(`${path} is not what you expect: read it again. Nothing was changed.`);
  }
  const parts = text.split(find);
  if (parts.length !== 2) {
    throw new ToolError(`The text to find stands ${parts.length - 1} times in ${path}, not once.`);
  }
  const next = parts.join(replace);
  if (Buffer.byteLength(next) > FILE_BYTES_MAX) throw new ToolError(`${path} would be too large.`);
  const patched = { path, before, after: sha256(next) };
  note(place, key, { ...patched, done: false });
  replaceFile(fileAt(place.repository, path), next);
  note(place, key, { ...patched, done: true });
  return patched;
}

/** What happened under this key; null: nothing. Errors: nobody can know. */
export function patchOf(place: PatchPlace, key: string): Patched | null {
  const file = entryOf(place, key);
  if (!existsSync(file)) return null;
  const { done, ...patched } = JSON.parse(readFileSync(file, 'utf8')) as Entry;
  if (done) return patched;
  // The process died in between: the file tells how far it came.
  const now = sha256(textAt(place.repository, patched.path));
  if (now === patched.after) return patched;
  if (now === patched.before) return null;
  throw new Error(`${patched.path} has changed since, so nobody knows whether it was patched.`);
}

function note(place: PatchPlace, key: string, entry: Entry): void {
  replaceFile(entryOf(place, key), JSON.stringify(entry));
}

function entryOf({ journal }: PatchPlace, key: string): string {
  return join(journal, `${sha256(key)}.json`);
}

function replaceFile(file: string, text: string): void {
  const made = `${file}.new`;
  writeFileSync(made, text);
  renameSync(made, file);
}
