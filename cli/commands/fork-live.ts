/** `holdfast fork --live`: a fork that runs on the server, with effects. */
import { resolve } from 'node:path';
import { HoldfastError } from '../../core/state/errors.js';
import type { RunFold } from '../../recording/fold.js';
import type { RecordedCall } from '../../recording/handed-over.js';
import type { Cli } from '../command.js';
import { configurationOf } from '../desk/model-access.js';
import type { Recorded } from '../desk/recorded.js';
import { TENANT } from '../desk/run-record.js';
import { inert } from '../render/index.js';
import { neededStore, type Session } from '../session.js';
import type { Output } from '../terminal/output.js';
import { askYesNo, exitCodeOfWord, type Word } from '../terminal/yes-no.js';
import { exportPlace } from './exported.js';
import { changesOf, type ForkOptions } from './fork-options.js';

interface LiveForkWanted {
  readonly fold: RunFold;
  readonly recorded: Recorded;
  readonly options: ForkOptions;
  readonly session: Session;
}

export async function forkLive(
  cli: Cli,
  { fold, recorded, options, session }: LiveForkWanted,
  output: Output,
): Promise<number | void> {
  const { source, bundle } = recorded;
  if (source === 'file') refuseOtherTenant(bundle.run.tenant);
  const { folder } = cli.environment;
  const file = options.config === undefined ? undefined : resolve(folder, options.config);
  const config = await configurationOf(folder, file);
  const changes = await changesOf(cli, options, config);
  const { liveFork, startLive } = await import('../../evaluation/fork/live.js');
  const rules = options.rules as 'newest' | undefined;
  const below = await callsOf(session, recorded);
  const live = await liveFork(
    { fold, bundle, step: options.at },
    { changes, source, rules, below },
  );
  if (source === 'file' && changes.config === undefined) {
    output.remark(
      'Policy, limits and hooks of this fork are those of the file; --config takes yours.',
    );
  }
  const { runId: parent } = bundle.run;
  const word = await wordOnFork(cli, parent);
  if (word !== 'yes') return notStarted(output, word);
  const store = await neededStore(session);
  const client = await session.client();
  const run = await startLive(live, { client, store });
  output.data({ mode: 'live', runId: run.runId, forked: { runId: parent, step: options.at } });
  output.line(run.runId);
}

/** What runs below the recorded one gave to executors. */
export async function callsOf(
  session: Session,
  { source, bundle, file = bundle }: Recorded,
): Promise<readonly RecordedCall[] | undefined> {
  const { callsBelow, callsInFile } = await import('../../evaluation/fork/calls-below.js');
  return source === 'file'
    ? callsInFile(file, bundle.run.runId)
    : callsBelow(await exportPlace(session), bundle);
}

/** Commands start runs of one tenant, and a file says for itself whose it is. */
export function refuseOtherTenant(tenant: string): void {
  if (tenant === TENANT) return;
  throw new HoldfastError('ForkRefused', `The file is of the tenant ${tenant.slice(0, 100)}.`, {
    hint: 'Fork the run over the desk of its tenant, or play the fork dry: leave out --live.',
  });
}

/** At a terminal somebody is asked; elsewhere the option itself is the word. */
export async function wordOnFork(cli: Cli, runId: string): Promise<Word> {
  if (!cli.environment.interactive) return 'yes';
  return askYesNo(
    cli,
    `This starts a new run from the state of ${inert(runId)}, and its effects happen. Start it?`,
  );
}

/** Gives the exit code. */
export function notStarted(output: Output, word: Exclude<Word, 'yes'>): number {
  output.remark('No fork was started.');
  return exitCodeOfWord(word);
}
