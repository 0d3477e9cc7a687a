/**
 * The sandbox of a call: the work folder of its run, kept in the store, and commands in it.
 * Invariants: a call changes the folder once, whatever is delivered twice; a command works on a copy that nobody else
 * has, and what it made counts when it is committed, whole or not at all; the cycles of a goal share the goal's folder.
 */
import type { Json } from '../../core/json/json.js';
import type { RunRef, ToolCallRef } from '../../core/state/effect.js';
import type {
  CommandResult,
  FolderChange,
  FolderView,
  Sandbox,
  SandboxedCommand,
} from '../../authoring/sandbox/sandbox.js';
import { ToolError, UNAVAILABLE } from '../../authoring/tool-error.js';
import {
  folderDefect,
  folderOf,
  foldersAbove,
  folderText,
  FOLDER_LIMITS,
  type FolderEntries,
  type FolderEntry,
} from '../../pure/work-folder/entry.js';
import { findIsolation } from '../../sandbox/isolation.js';
import { runInSandbox, SandboxBroken, type CommandRan } from '../../sandbox/run-command.js';
import { sha256OfBytes } from '../../store/blobs.js';
import { folderOwner } from '../../store/folder-owner.js';
import type { CommitKey, FolderHead, FolderName } from '../../store/work-folders.js';
import { now, type ActivityDeps } from '../deps.js';

/** Calls that may change the folder while one is at work on it. */
const TRIES_MAX = 5;
const PATHS_MAX = 100;

export interface SandboxSite {
  readonly run: RunRef;
  readonly call: ToolCallRef;
  readonly signal: AbortSignal;
}

type Deps = Pick<ActivityDeps, 'store' | 'isolation' | 'clock'>;

export function sandboxOf(deps: Deps, site: SandboxSite): Sandbox {
  return {
    look: async () => (await stateOf(deps, await ownerOf(deps, site))).view,
    change: (make) => changeFolder(deps, site, make),
    run: (command) => runCommand(deps, site, command),
    made: async () => {
      const commit = await deps.store.burnFolderCommit(keyOf(await ownerOf(deps, site), site));
      return commit.state === 'made' ? (JSON.parse(commit.result) as Json) : null;
    },
  };
}

/** A cycle works on, and leaves, what its goal has. */
function ownerOf({ store }: Deps, { run }: SandboxSite): Promise<FolderName> {
  return folderOwner(store, run);
}

/** Counts from one finding out to the next: all starts of an attempt are one. */
function keyOf(owner: FolderName, { call }: SandboxSite): CommitKey {
  return { ...owner, key: call.key, attempt: call.attempt };
}

interface FolderState {
  readonly head: FolderHead;
  readonly view: FolderView;
}

async function stateOf({ store }: Deps, owner: FolderName): Promise<FolderState> {
  const { tenant } = owner;
  const head = await store.folderHead(owner);
  const entries = head.hash === undefined ? new Map() : await entriesOf(store, tenant, head.hash);
  const view: FolderView = { entries, contents: (hashes) => store.getContents(tenant, hashes) };
  return { head, view };
}

async function entriesOf(
  store: Deps['store'],
  tenant: string,
  $blob: string,
): Promise<FolderEntries> {
  const entries = folderOf(await store.getText(tenant, { $blob, bytes: 0, preview: '' }));
  if (entries !== undefined) return entries;
  throw new ToolError(UNAVAILABLE, 'The work folder was written by a newer release.');
}

interface Kept<Made extends Json> {
  readonly entries: FolderEntries;
  readonly fresh: Iterable<Buffer>;
  readonly result: Made;
}

/** 'moved': another call has changed the folder since. */
async function commit<Made extends Json>(
  { store, clock }: Deps,
  key: CommitKey,
  { head, kept }: { readonly head: FolderHead; readonly kept: Kept<Made> },
): Promise<Made | 'moved'> {
  const { tenant } = key;
  await store.putContents(tenant, kept.fresh);
  const { $blob: hash } = await store.putBlob(tenant, folderText(kept.entries));
  const result = JSON.stringify(kept.result);
  const at = now({ ...(clock && { clock }) });
  const done = await store.commitFolder({ ...key, from: head.version, hash, result, at });
  switch (done) {
    case 'made':
      return kept.result;
    case 'moved':
      return 'moved';
    case 'spent':
      return spent<Made>(store, key);
  }
}

/** The call has made its change before, or was found not to have. */
async function spent<Made extends Json>(store: Deps['store'], key: CommitKey): Promise<Made> {
  const before = await store.folderCommit(key);
  if (before?.state === 'made') return JSON.parse(before.result) as Made;
  throw new ToolError('This attempt was given up meanwhile. Nothing was changed.');
}

async function changeFolder<Made extends Json>(
  deps: Deps,
  site: SandboxSite,
  make: (folder: FolderView) => FolderChange<Made> | Promise<FolderChange<Made>>,
): Promise<Made> {
  const key = keyOf(await ownerOf(deps, site), site);
  if ((await deps.store.folderCommit(key))?.state === 'made') return spent(deps.store, key);
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const { head, view } = await stateOf(deps, key);
    const { files, result } = await make(view);
    const entries = withFiles(view.entries, files, now(deps));
    const defect = folderDefect(entries, FOLDER_LIMITS);
    if (defect !== undefined)
      throw new ToolError(`The work folder cannot be kept: ${defect}. Nothing was changed.`);
    const fresh = [...files.values()].filter((content) => content !== undefined);
    const done = await commit(deps, key, { head, kept: { entries, fresh, result } });
    if (done !== 'moved') return done;
  }
  throw new ToolError('retryable_error', 'Other calls keep changing the work folder.');
}

function withFiles(
  before: FolderEntries,
  files: FolderChange<Json>['files'],
  at: number,
): FolderEntries {
  const entries = new Map(before);
  for (const [path, content] of files) {
    const old = before.get(path);
    if (content === undefined) {
      entries.delete(path);
      continue;
    }
    for (const folder of foldersAbove(path))
      if (entries.get(folder)?.kind === 'folder') entries.delete(folder);
    const runs = old?.kind === 'file' && old.runs === true;
    const hash = sha256OfBytes(content);
    entries.set(path, { kind: 'file', hash, bytes: content.length, at, ...(runs && { runs }) });
  }
  return entries;
}

async function runCommand(
  deps: Deps,
  site: SandboxSite,
  command: SandboxedCommand,
): Promise<CommandResult> {
  const found = deps.isolation ?? findIsolation();
  if (found.kind === 'missing')
    throw new ToolError(UNAVAILABLE, `This worker can isolate nothing: ${found.because}.`);
  const key = keyOf(await ownerOf(deps, site), site);
  const { keep: isKept = true } = command;
  if (isKept && (await deps.store.folderCommit(key))?.state === 'made')
    return spent(deps.store, key);
  const { head, view } = await stateOf(deps, key);
  const contents = await contentsOf(view);
  const { command: argv, stdin, env, hosts, limits } = command;
  const ran = await runInSandbox(
    found.isolation,
    { entries: view.entries, contents },
    {
      argv,
      ...(stdin !== undefined && { stdin }),
      ...(env !== undefined && { env }),
      ...(hosts !== undefined && { hosts }),
      ...(limits !== undefined && { limits }),
      signal: site.signal,
    },
  ).catch((error: unknown) => {
    // Without hosts the folder is all that it could have changed.
    const isHarmless = error instanceof SandboxBroken && (hosts ?? []).length === 0;
    throw isHarmless ? new ToolError(`${error.message} Nothing was kept.`) : error;
  });
  return isKept ? keep(deps, key, { head, view, ran }) : resultOf(ran, view.entries);
}

interface Ended {
  readonly head: FolderHead;
  readonly view: FolderView;
  readonly ran: CommandRan;
}

/** What the command made of the folder; where that cannot be, the folder as it is, and why. */
async function keep(deps: Deps, key: CommitKey, { head, view, ran }: Ended) {
  const { refused, entries, fresh } = ran;
  if (refused === undefined) {
    const result = resultOf(ran, view.entries);
    const kept = { entries, fresh: fresh.values(), result };
    const done = await commit(deps, key, { head, kept });
    if (done !== 'moved') return done;
  }
  const notKept = refused ?? 'Another call changed the work folder meanwhile.';
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const state = await stateOf(deps, key);
    const result = { ...resultOf(ran, entries), changed: [], removed: [], notKept };
    const kept = { entries: state.view.entries, fresh: [], result };
    const done = await commit(deps, key, { head: state.head, kept });
    if (done !== 'moved') return done;
  }
  throw new Error('Other calls keep changing the work folder.');
}

function resultOf({ end, entries, skipped }: CommandRan, before: FolderEntries): CommandResult {
  const changed = [...entries].filter(
    ([path, entry]) => entry.kind !== 'folder' && !isSame(before.get(path), entry),
  );
  const removed = [...before.keys()].filter((path) => !entries.has(path));
  const { endedBy, exitCode, signal, stdout, stderr, durationMs } = end;
  return {
    endedBy,
    exitCode,
    signal,
    stdout: stdout.text,
    stderr: stderr.text,
    durationMs,
    changed: changed.slice(0, PATHS_MAX).map(([path]) => path),
    removed: removed.slice(0, PATHS_MAX),
    skipped,
  };
}

function isSame(one: FolderEntry | undefined, other: FolderEntry): boolean {
  if (one?.kind === 'file' && other.kind === 'file')
    return one.hash === other.hash && one.runs === other.runs;
  return JSON.stringify(one) === JSON.stringify(other);
}

async function contentsOf({ entries, contents }: FolderView) {
  const hashes = [...entries.values()].flatMap((one) => (one.kind === 'file' ? [one.hash] : []));
  const found = await contents(hashes);
  const lost = hashes.find((hash) => !found.has(hash));
  if (lost === undefined) return found;
  throw new ToolError(UNAVAILABLE, `The store has lost a content of the work folder: ${lost}.`);
}
