/**
 * Offline check of the tools: replays every recorded call directly on them and compares each
 * output and the records left behind. Exit code 0 only if all are equal.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { HoldfastError } from '../core/errors.js';
import { matchOutcomes, readExpectedOutcomes } from './expected-outcomes.js';
import { replayRecording, type ReplayFigures } from './offline-replay.js';
import { readRecording } from './recording.js';
import { loadDatabase } from './retail/database.js';

const DIFFERENCES_SHOWN_MAX = 10;
const TEXT_SHOWN_CHARS_MAX = 300;

/** Where the test material lies: beside the project's folder. */
export function materialFolder(): string {
  let folder = __dirname;
  // From the sources it is one folder up, from the build two; nothing is nested deeper than that.
  for (let level = 0; level < 3 && !existsSync(join(folder, 'package.json')); level += 1) {
    folder = dirname(folder);
  }
  return join(dirname(folder), 'shared', 'material');
}

interface Options {
  readonly recording: string;
  readonly expected: string;
  readonly database: string[];
}

function main(argv: readonly string[]): void {
  const tau2 = join(materialFolder(), 'tau2-bench');
  const command = new Command('verify-tools')
    .description('Replays every recorded call on the retail tools and compares.')
    .option(
      '--recording <file>',
      'recorded runs',
      join(tau2, 'trajectories/retail/gpt-4.1_40.json'),
    )
    .option('--expected <file>', 'expected outcomes', join(tau2, 'expected/retail/gpt-4.1_40.json'))
    .option('--database <path...>', 'database file or folder', [join(tau2, 'retail/db.json')])
    .parse([...argv]);
  const options = command.opts<Options>();
  const recording = readRecording(options.recording);
  const outcomes = matchOutcomes(recording, readExpectedOutcomes(options.expected));
  const figures = replayRecording(loadDatabase(options.database), recording, outcomes);
  process.stdout.write(`${report(figures)}\n`);
  process.exitCode = holds(figures) ? 0 : 1;
}

function holds(figures: ReplayFigures): boolean {
  return (
    figures.differences.length === 0 && figures.wrongRecords.length === 0 && figures.writesEqual
  );
}

function report(figures: ReplayFigures): string {
  const shown = figures.differences
    .slice(0, DIFFERENCES_SHOWN_MAX)
    .map(
      (entry) =>
        `${entry.run} ${entry.call}\n  recorded ${shorten(entry.recorded)}\n  replayed ${shorten(entry.replayed)}`,
    );
  const wrong = figures.wrongRecords
    .slice(0, DIFFERENCES_SHOWN_MAX)
    .map((run) => `${run}: other records`);
  const summary =
    `runs ${figures.runs}, equal outputs ${figures.outputsEqual}/${figures.outputs}, ` +
    `changed records equal ${figures.recordsEqual}/${figures.runs}, ` +
    `successful writes ${figures.writes}${figures.writesEqual ? '' : ' (not as expected)'}, ` +
    `writes without a yes ${figures.writesWithoutConsent}`;
  return [...shown, ...wrong, summary].join('\n');
}

function shorten(text: string): string {
  return JSON.stringify(text.slice(0, TEXT_SHOWN_CHARS_MAX));
}

if (require.main === module) {
  try {
    main(process.argv);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    process.stderr.write(`${error.message}${error.hint === undefined ? '' : ` ${error.hint}`}\n`);
    process.exitCode = 2;
  }
}
