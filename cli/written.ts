/**
 * Files that commands have written into a project: reports, bundles and cases, which are no code of it. `holdfast dev`
 * beside them asks.
 * Invariant: a note that cannot be kept or read changes nothing but that.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const HOME = '.holdfast';
const NAME = 'written';
const NOTES_MAX = 500;
const FOLDERS_MAX = 50;

/** Where a project's data folder lies above the file. Elsewhere nobody watches. */
export function noteWritten(file: string): void {
  const notes = notesFor(file);
  if (notes === undefined || file.includes('\n')) return;
  try {
    const others = notesIn(notes).filter((one) => one !== file);
    writeFileSync(notes, `${[...others, file].slice(-NOTES_MAX).join('\n')}\n`, { mode: 0o600 });
  } catch {
    // A folder of somebody else, or a full disk.
  }
}

export function wasWritten(file: string): boolean {
  const notes = notesFor(file);
  return notes !== undefined && notesIn(notes).includes(file);
}

function notesFor(file: string): string | undefined {
  let folder = dirname(file);
  for (let level = 0; level < FOLDERS_MAX; level += 1) {
    if (existsSync(join(folder, HOME))) return join(folder, HOME, NAME);
    if (dirname(folder) === folder) return undefined;
    folder = dirname(folder);
  }
  return undefined;
}

function notesIn(notes: string): readonly string[] {
  try {
    return readFileSync(notes, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
