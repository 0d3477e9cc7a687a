/**
 * The folders of a repair: the repository, which the agent changes, and beside it what it cannot reach: the copy that
 * judges, and the journal of patches.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { JUDGES, REPOSITORY, type Files } from './project.js';

export interface Workshop {
  readonly path: string;
  /** What the agent works in. */
  readonly repository: string;
  /** Tests and configuration that count. */
  readonly judges: string;
  readonly journal: string;
  remove(): void;
}

export function makeWorkshop(): Workshop {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-repair-')));
  const workshop = {
    path,
    repository: join(path, 'repository'),
    judges: join(path, 'judges'),
    journal: join(path, 'journal'),
  };
  write(workshop.repository, REPOSITORY);
  write(workshop.judges, JUDGES);
  mkdirSync(workshop.journal);
  return { ...workshop, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function write(folder: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
