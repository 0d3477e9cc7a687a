/**
 * The folder that an agent begins its work folder with (`sandbox: { seed }`), copied into the store as a run is opened.
 * Invariants: a work folder that has a version is never seeded, so that cycles of a goal and repeated openings go on with
 * what is there; no link is followed; a folder that is larger than work folders may be refuses the run.
 */
import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunRef } from '../../core/state/effect.js';
import { HoldfastError } from '../../core/state/errors.js';
import {
  folderDefect,
  folderText,
  FOLDER_LIMITS,
  PATH_PARTS_MAX,
  type FolderEntry,
} from '../../pure/work-folder/entry.js';
import { sha256OfBytes } from '../../store/blobs.js';
import { folderOwner } from '../../store/folder-owner.js';
import { now, type InTransaction } from '../deps.js';

const RUNS = 0o100;

/** Errors: InvalidTask that names what cannot be taken. */
export async function seedFolder(
  deps: Pick<InTransaction, 'store' | 'clock'>,
  run: RunRef,
  seed: string | undefined,
): Promise<void> {
  if (seed === undefined) return;
  const { store } = deps;
  const owner = await folderOwner(store, run);
  if ((await store.folderHead(owner)).version > 0) return;
  const reading: Reading = { seed, entries: new Map(), contents: new Map(), bytes: 0 };
  await readBelow(reading, '', 0);
  const defect = folderDefect(reading.entries, FOLDER_LIMITS);
  if (defect !== undefined) throw refused(seed, `it has ${defect}`);
  await store.putContents(run.tenant, reading.contents.values());
  const { $blob: hash } = await store.putBlob(run.tenant, folderText(reading.entries));
  const commit = { ...owner, key: `${run.runId}:seed`, attempt: 1, from: 0, hash };
  const at = now({ ...(deps.clock && { clock: deps.clock }) });
  // Another opening of the run, or another cycle, may have been faster: then its folder counts.
  await store.commitFolder({ ...commit, result: 'null', at });
}

interface Reading {
  readonly seed: string;
  readonly entries: Map<string, FolderEntry>;
  readonly contents: Map<string, Buffer>;
  bytes: number;
}

async function readBelow(reading: Reading, folder: string, depth: number): Promise<void> {
  const { seed, entries } = reading;
  if (depth > PATH_PARTS_MAX) throw refused(seed, 'it is nested too deeply');
  const found = await readdir(join(seed, folder), { withFileTypes: true }).catch(
    (cause: unknown) => {
      throw refused(seed, cause instanceof Error ? cause.message : 'it cannot be read');
    },
  );
  if (found.length === 0 && folder !== '') entries.set(folder, { kind: 'folder' });
  for (const one of found) {
    const path = folder === '' ? one.name : `${folder}/${one.name}`;
    if (entries.size >= FOLDER_LIMITS.entries)
      throw refused(seed, `it has more than ${FOLDER_LIMITS.entries} files and folders`);
    if (one.isDirectory()) await readBelow(reading, path, depth + 1);
    else if (one.isFile()) entries.set(path, await readFile(reading, path));
    else
      throw refused(seed, `${JSON.stringify(path.slice(0, 200))} is neither a file nor a folder`);
  }
}

async function readFile(reading: Reading, path: string): Promise<FolderEntry> {
  const { seed, contents } = reading;
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(join(seed, path), flags).catch((cause: unknown) => {
    throw refused(seed, cause instanceof Error ? cause.message : 'a file of it cannot be read');
  });
  try {
    const { size, mtimeMs, mode } = await file.stat();
    reading.bytes += size;
    if (size > FOLDER_LIMITS.fileBytes || reading.bytes > FOLDER_LIMITS.bytes) {
      const { fileBytes, bytes } = FOLDER_LIMITS;
      throw refused(seed, `it has more than ${bytes} bytes, or a file of more than ${fileBytes}`);
    }
    const content = await file.readFile();
    const hash = sha256OfBytes(content);
    contents.set(hash, content);
    const runs = (mode & RUNS) !== 0;
    const at = Math.round(mtimeMs);
    return { kind: 'file', hash, bytes: content.length, at, ...(runs && { runs }) };
  } finally {
    await file.close();
  }
}

function refused(seed: string, why: string): HoldfastError {
  return new HoldfastError('InvalidTask', `The run cannot begin with the folder ${seed}: ${why}.`, {
    hint: 'Correct the folder that `sandbox.seed` of the agent names; links, pipes and sockets have no place in it.',
  });
}
