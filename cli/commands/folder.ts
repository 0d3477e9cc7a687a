/** `holdfast folder`: the work folder of a run, as a list or written into a new folder of this machine. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { HoldfastError } from '../../core/state/errors.js';
import {
  folderDefect,
  folderOf,
  FOLDER_LIMITS,
  type FolderEntries,
} from '../../pure/work-folder/entry.js';
import { folderOwner } from '../../store/folder-owner.js';
import type { Store } from '../../store/store.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { TENANT } from '../desk/run-record.js';
import { writeFolder } from '../new-folder.js';
import { dateTimeText, inert, plural, table } from '../render/index.js';
import { neededStore } from '../session.js';
import type { Output } from '../terminal/output.js';
import { onInterrupt } from '../terminal/interrupt.js';
import { usage } from '../usage.js';

interface FolderOptions extends CommonOptions {
  readonly output?: string;
}

const HASH_CHARS = 12;
const PATH_CHARS = 200;
const SHAPE =
  '{runId, owner, version, bytes, entries: [{path, kind, bytes, sha256, runs, target}], folder, leftOut}';
const HELP = `
The folder is that of the run in its sandbox, as its last call has left it; the cycles of a goal share the folder of
their goal. With -o the files are written into a folder that is not there yet. Links are never written: where they
lead is for the sandbox alone. Files of a run are data from outside: look before you run any of them.`;

export function addFolder(program: Command, cli: Cli): void {
  const command = program
    .command('folder')
    .description('Show the work folder of a run, or write it into a new folder.')
    .argument('<run>', 'run id, or the id of a goal')
    .option('-o, --output <folder>', 'write the files there; the folder must not exist');
  withJson(withPlace(command), SHAPE)
    .addHelpText(
      'after',
      `${HELP}\n${examples('holdfast folder run_01J…', 'holdfast folder run_01J… -o made')}`,
    )
    .action((runId: string, options: FolderOptions) =>
      runCommand(cli, options, async (session, output) => {
        const store = await neededStore(session);
        const found = await readFolder(store, runId);
        const { output: wanted } = options;
        if (wanted === undefined) return list(found, output);
        const place = resolve(cli.environment.folder, wanted);
        await write(found, { store, place, output });
      }),
    );
}

interface Found {
  readonly runId: string;
  readonly owner: string;
  /** 0: there is no folder. */
  readonly version: number;
  readonly entries: FolderEntries;
}

/** Errors: RunNotFound; TranscriptMissing and InvalidRequest for a folder that cannot be read. */
async function readFolder(store: Store, runId: string): Promise<Found> {
  const { owner } = await folderOwner(store, { tenant: TENANT, runId });
  const { version, hash } = await store.folderHead({ tenant: TENANT, owner });
  if (hash === undefined) {
    await requireRun(store, runId);
    return { runId, owner, version, entries: new Map() };
  }
  const entries = folderOf(await store.getText(TENANT, { $blob: hash, bytes: 0, preview: '' }));
  const defect =
    entries === undefined
      ? 'was written by a newer release'
      : prefixed(folderDefect(entries, FOLDER_LIMITS));
  if (entries !== undefined && defect === undefined) return { runId, owner, version, entries };
  throw new HoldfastError(
    'InvalidRequest',
    `The work folder of ${runId.slice(0, 200)} ${defect}.`,
    {
      hint: 'Nothing of it was written. Read it with the release that the workers of the sandbox have.',
    },
  );
}

function prefixed(defect: string | undefined): string | undefined {
  return defect === undefined ? undefined : `cannot be used: it has ${defect}`;
}

async function requireRun(store: Store, runId: string): Promise<void> {
  const known = await store.getRun(TENANT, runId);
  if (known !== undefined) return;
  throw new HoldfastError(
    'RunNotFound',
    `There is no run ${runId.slice(0, 200)}, and no work folder of that name.`,
    {
      hint: 'See `holdfast list`.',
    },
  );
}

function told({ runId, owner, version, entries }: Found) {
  const shown = [...entries].map(([path, entry]) => {
    switch (entry.kind) {
      case 'file': {
        const { bytes, hash, runs } = entry;
        return { path, kind: 'file', bytes, sha256: hash, ...(runs === true && { runs }) };
      }
      case 'link':
        return { path, kind: 'link', target: entry.target };
      case 'folder':
        return { path, kind: 'folder' };
    }
  });
  return { runId, owner, version, bytes: bytesOf(entries), entries: shown };
}

function bytesOf(entries: FolderEntries): number {
  return [...entries.values()].reduce(
    (sum, entry) => sum + (entry.kind === 'file' ? entry.bytes : 0),
    0,
  );
}

function list(found: Found, output: Output): void {
  const { runId, owner, version, entries } = found;
  output.data(told(found));
  if (version === 0) {
    output.line(`${inert(runId)} has no work folder: no call has changed one.`);
    return;
  }
  const whose = owner === runId ? inert(runId) : `${inert(runId)} (of ${inert(owner)})`;
  output.line(`${whose}: version ${version}, ${bytesOf(entries)} bytes`);
  if (entries.size === 0) return output.line('The folder is empty.');
  output.line(
    table({
      head: ['path', 'bytes', 'changed', 'sha256'],
      rows: [...entries].map(([path, entry]) => [
        inert(path, PATH_CHARS),
        entry.kind === 'file' ? String(entry.bytes) : entry.kind,
        entry.kind === 'file' ? dateTimeText(entry.at) : '',
        entry.kind === 'file'
          ? entry.hash.slice(0, HASH_CHARS)
          : entry.kind === 'link'
            ? `to ${inert(entry.target, PATH_CHARS)}`
            : '',
      ]),
      paint: output.paint,
    }),
  );
}

interface Writing {
  readonly store: Store;
  readonly place: string;
  readonly output: Output;
}

async function write(found: Found, { store, place, output }: Writing): Promise<void> {
  const { runId, version, entries } = found;
  if (version === 0) {
    throw usage(
      `${runId.slice(0, 200)} has no work folder, so nothing was written.`,
      'A folder is there as soon as a call in a sandbox has changed it.',
    );
  }
  const interrupt = onInterrupt();
  try {
    const leftOut = await writeFolder(
      { entries, contents: (hashes) => store.getContents(TENANT, hashes) },
      { place, signal: interrupt.signal },
    );
    output.data({ ...told(found), folder: place, leftOut });
    const files = [...entries.values()].filter(({ kind }) => kind === 'file').length;
    output.line(`${inert(runId)}: ${plural(files, 'file')}, ${bytesOf(entries)} bytes in ${place}`);
    for (const path of leftOut)
      output.line(`  left out, because it is a link: ${inert(path, PATH_CHARS)}`);
  } finally {
    interrupt.release();
  }
}
