/** What `inspect`, `diff` and `replay` look at: a bundle of a file, or of a run that a server holds. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Cli } from '../command.js';
import { bundleOf } from '../commands/export.js';
import type { Bundle } from '../../replay/bundle.js';
import type { RunEvent } from '../../core/state/event.js';
import { neededStore, type Session } from '../session.js';
import { lastEvents } from './run-record.js';

export interface Recorded {
  readonly bundle: Bundle;
  readonly source: 'file' | 'run';
}

/** Errors: those of reading a bundle, or of exporting a run. */
export async function recordedOf(cli: Cli, session: Session, subject: string): Promise<Recorded> {
  const file = resolve(cli.environment.folder, subject);
  if (!isFile(subject, file)) return { bundle: await bundleOf(session, subject), source: 'run' };
  const { readBundle } = await import('../../replay/read-bundle.js');
  return { bundle: await readBundle(file), source: 'file' };
}

/** A run id has no slash and seldom ends like a file. */
function isFile(subject: string, file: string): boolean {
  return existsSync(file) || subject.includes('/') || /\.json(\.gz)?$/.test(subject);
}

/** Events of a run that the store has, at most EVENTS_MAX. */
export async function eventsOfRun(
  session: Session,
  run: { readonly tenant: string; readonly runId: string },
): Promise<readonly RunEvent[]> {
  return lastEvents(await neededStore(session), run, { since: 0, count: EVENTS_MAX });
}

const EVENTS_MAX = 100_000;
