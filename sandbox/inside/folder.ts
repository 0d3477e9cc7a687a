/**
 * The work folder inside of the sandbox: made from a request, read back for the reply.
 * Invariants: nothing but regular files, links and folders is read, no link is followed, and no file is opened that
 * could block; a folder that is larger than its limits is read no further.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { FolderEntry, FolderLimits } from '../../pure/work-folder/entry.js';
import type { ListedEntry, SandboxReply, SandboxRequest } from '../protocol.js';

const RUNS = 0o100;

export function makeFolder(
  root: string,
  { entries }: Pick<SandboxRequest, 'entries'>,
  contents: ReadonlyMap<string, Buffer>,
): void {
  for (const [path, entry] of entries) {
    const place = join(root, path);
    mkdirSync(entry.kind === 'folder' ? place : dirname(place), { recursive: true });
    if (entry.kind === 'link') symlinkSync(entry.target, place);
    if (entry.kind !== 'file') continue;
    writeFileSync(place, contents.get(entry.hash) ?? '', { mode: entry.runs ? 0o755 : 0o644 });
    utimesSync(place, entry.at / 1_000, entry.at / 1_000);
  }
}

export type FolderRead = Pick<SandboxReply, 'entries' | 'refused' | 'skipped'> & {
  readonly contents: ReadonlyMap<string, Buffer>;
};

class TooLarge extends Error {}

interface Reading {
  readonly limits: FolderLimits;
  readonly entries: ListedEntry[];
  readonly contents: Map<string, Buffer>;
  bytes: number;
  skipped: number;
}

export function readFolder(root: string, limits: FolderLimits): FolderRead {
  const reading: Reading = { limits, entries: [], contents: new Map(), bytes: 0, skipped: 0 };
  try {
    readBelow(reading, root, '');
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    return { refused: error.message, skipped: reading.skipped, contents: new Map() };
  }
  const { entries, contents, skipped } = reading;
  return { entries, contents, skipped };
}

function readBelow(reading: Reading, root: string, folder: string): void {
  const place = join(root, folder);
  openFolder(place);
  const names = readdirSync(place, { encoding: 'buffer' });
  if (names.length === 0 && folder !== '') add(reading, folder, { kind: 'folder' });
  for (const raw of names) {
    const name = raw.toString('utf8');
    if (!Buffer.from(name).equals(raw)) {
      reading.skipped += 1;
      continue;
    }
    const path = folder === '' ? name : `${folder}/${name}`;
    const stat = lstatSync(join(root, path));
    if (stat.isDirectory()) readBelow(reading, root, path);
    else if (stat.isSymbolicLink())
      add(reading, path, { kind: 'link', target: readlinkSync(join(root, path)) });
    else if (stat.isFile()) add(reading, path, readFile(reading, join(root, path)));
    else reading.skipped += 1;
  }
}

/** The command may have shut its own folders; the outermost may be another's, and is open to all. */
function openFolder(place: string): void {
  try {
    chmodSync(place, 0o755);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}

function add({ entries, limits }: Reading, path: string, entry: FolderEntry): void {
  if (entries.length >= limits.entries)
    throw new TooLarge(`The work folder has more than ${limits.entries} files and folders.`);
  entries.push([path, entry]);
}

function readFile(reading: Reading, place: string): FolderEntry {
  chmodSync(place, lstatSync(place).mode & RUNS ? 0o755 : 0o644);
  const file = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    bound(reading, stat, place);
    const content = readFileSync(file);
    const hash = createHash('sha256').update(content).digest('hex');
    reading.contents.set(hash, content);
    const at = Math.round(stat.mtimeMs);
    const runs = (stat.mode & RUNS) !== 0;
    return { kind: 'file', hash, bytes: content.length, at, ...(runs && { runs }) };
  } finally {
    closeSync(file);
  }
}

function bound(reading: Reading, { size }: Stats, place: string): void {
  const { limits } = reading;
  reading.bytes += size;
  if (size > limits.fileBytes)
    throw new TooLarge(`${place.slice(-100)} has ${size} bytes, of at most ${limits.fileBytes}.`);
  if (reading.bytes > limits.bytes)
    throw new TooLarge(`The work folder has more than ${limits.bytes} bytes.`);
}
