/** What `inspect`, `diff` and `replay` look at: a bundle of a file, or of a run that a server holds. */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import type { Cli } from '../command.js';
import { bundleOf, exportPlace } from '../commands/exported.js';
import type { Bundle } from '../../replay/bundle.js';
import type { RunHearer, RunTree } from '../../replay/stream/run-tree.js';
import type { RunEvent } from '../../core/state/event.js';
import { neededStore, type Session } from '../session.js';
import type { RowsBelow } from '../../store/rows-below.js';
import { lastEvents, TENANT } from './run-record.js';

export interface Recorded {
  readonly bundle: Bundle;
  readonly source: 'file' | 'run';
  /** Of a file: all of it, where the bundle is of one run in it. */
  readonly file?: Bundle;
}

/** A run with everything below it. Errors: those of reading a bundle, or of exporting a run. */
export async function recordedOf(cli: Cli, session: Session, subject: string): Promise<Recorded> {
  return read(cli, subject, () => bundleOf(session, subject, { alone: false }));
}

/**
 * One run alone: the one that is named, or `member` below it, by its id or what that has behind the other's. Errors: as
 * above; RunNotFound.
 */
export async function oneRecordedOf(
  cli: Cli,
  session: Session,
  { subject, member }: { readonly subject: string; readonly member?: string | undefined },
): Promise<Recorded> {
  const { bundle, source } = await read(cli, subject, async () => {
    const runId = member === undefined ? subject : await idBelow(session, subject, member);
    return bundleOf(session, runId, { alone: true });
  });
  if (member === undefined || source === 'run') return { bundle, source };
  const { memberOf } = await import('../../replay/tree.js');
  return { bundle: memberOf(bundle, member), source, file: bundle };
}

interface Wanted {
  readonly session: Session;
  readonly subject: string;
  /** A run below it; of a file whoever hears it looks for that one. */
  readonly member?: string | undefined;
  /** Of a run that a server holds: nothing of what is below it. */
  readonly alone: boolean;
}

/**
 * The same, heard one event and one history at a time; `close` gives back what it takes of a disk. Errors: as above, and those
 * of who hears it.
 */
export async function treeHeard(
  cli: Cli,
  { session, subject, member, alone }: Wanted,
  hearing: () => RunHearer,
): Promise<RunTree> {
  const { treeOfFile, treeOfRun } = await import('../../replay/stream/run-tree.js');
  const file = fileOf(cli, subject);
  if (file !== undefined) return treeOfFile(file, hearing);
  const runId = member === undefined ? subject : await idBelow(session, subject, member);
  const place = await exportPlace(session);
  const run = { tenant: TENANT, runId };
  return treeOfRun(place, run, { alone, folder: tmpdir(), hearer: hearing() });
}

/** The same of one run: `hearing` is told its place, and hears whatever a file has beside it. Errors: as above; `RunNotFound`. */
export async function oneHeard(
  cli: Cli,
  { session, subject, member }: Omit<Wanted, 'alone'>,
  hearing: (followed: number) => RunHearer,
): Promise<RunTree> {
  const { ROOT } = await import('../../replay/stream/walk-bundle.js');
  // Which run of a file that is, its end tells.
  const isBelow = member !== undefined && fileOf(cli, subject) !== undefined;
  const wanted = { session, subject, member, alone: true };
  const tree = await treeHeard(cli, wanted, () => (isBelow ? {} : hearing(ROOT)));
  if (!isBelow) return tree;
  const { placeOfMember } = await import('../../replay/stream/run-tree.js');
  await tree.again(hearing(placeOfMember(tree.head, member)));
  return tree;
}

async function read(cli: Cli, subject: string, exported: () => Promise<Bundle>): Promise<Recorded> {
  const file = fileOf(cli, subject);
  if (file === undefined) return { bundle: await exported(), source: 'run' };
  const { readBundle } = await import('../../replay/read-bundle.js');
  return { bundle: await readBundle(file), source: 'file' };
}

async function idBelow(session: Session, root: string, name: string): Promise<string> {
  const { isNamed, noSuchMember } = await import('../../replay/tree.js');
  const { rows } = await treeRowsOf(session, root);
  const ids = [root, ...rows.map(({ child }) => child)];
  const found = ids.find((runId) => isNamed(runId, { root, name }));
  if (found === undefined) throw noSuchMember(root, name, ids.slice(1));
  return found;
}

/** Rows of the runs below one that the store knows. */
export async function treeRowsOf(session: Session, runId: string): Promise<RowsBelow> {
  const { rowsBelow } = await import('../../store/rows-below.js');
  const { DEPTH_MAX, MEMBERS_MAX } = await import('../../replay/tree.js');
  const wanted = { depth: DEPTH_MAX, count: MEMBERS_MAX };
  return rowsBelow(await neededStore(session), { tenant: TENANT, runId }, wanted);
}

/** A run id has no slash and seldom ends like a file. */
export function isFile(folder: string, subject: string): boolean {
  return (
    existsSync(resolve(folder, subject)) || subject.includes('/') || /\.json(\.gz)?$/.test(subject)
  );
}

/** The file that is named; undefined: a run is. */
export function fileOf(cli: Cli, subject: string): string | undefined {
  const { folder } = cli.environment;
  return isFile(folder, subject) ? resolve(folder, subject) : undefined;
}

/** Events of a run that the store has, at most EVENTS_MAX. */
export async function eventsOfRun(
  session: Session,
  run: { readonly tenant: string; readonly runId: string },
): Promise<readonly RunEvent[]> {
  return lastEvents(await neededStore(session), run, { since: 0, count: EVENTS_MAX });
}

const EVENTS_MAX = 100_000;
