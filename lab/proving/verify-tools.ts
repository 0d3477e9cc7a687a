/**
 * Offline check of the tools: replays every recorded call directly on them and compares each
 * output and the records left behind. Exit code 0 only if all are equal.
 */
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { HoldfastError } from '../../core/state/errors.js';
import { matchOutcomes, readExpectedOutcomes } from './expected-outcomes.js';
import { replayRecording, type ReplayFigures } from './offline-replay.js';
import { readRecording } from './recording.js';
import { loadDatabase } from './domains/database.js';
import { domainNamed, DOMAIN_NAMES } from './domains/domains.js';
import { findDatabase, materialFolder } from './find-database.js';

const DIFFERENCES_SHOWN_MAX = 10;
const TEXT_SHOWN_CHARS_MAX = 300;

interface Options {
  readonly domain: string;
  readonly recording?: string;
  readonly expected?: string;
  readonly database?: string[];
}

/** The recordings beside the project. */
const MATERIAL: Readonly<Record<string, { recording: string; expected: string }>> = {
  retail: {
    recording: 'tau2-bench/trajectories/retail/gpt-4.1_40.json',
    expected: 'tau2-bench/expected/retail/gpt-4.1_40.json',
  },
  airline: {
    recording: 'tau-bench/trajectories/gpt-4o-airline.json',
    expected: 'tau-bench/expected/gpt-4o-airline.json',
  },
};

function main(argv: readonly string[]): void {
  const command = new Command('verify-tools')
    .description('Replays every recorded call on the tools of a domain and compares.')
    .addOption(new Option('--domain <name>', 'whose tools').choices(DOMAIN_NAMES).default('retail'))
    .option('--recording <file>', 'recorded runs; default: those beside the project')
    .option('--expected <file>', 'expected outcomes')
    .option('--database <path...>', 'database file or folder; default: found by the recording')
    .parse([...argv]);
  const options = command.opts<Options>();
  const domain = domainNamed(options.domain);
  const material = MATERIAL[domain.name];
  const file = options.recording ?? join(materialFolder(), material?.recording ?? '');
  const recording = readRecording(file);
  const expected = options.expected ?? join(materialFolder(), material?.expected ?? '');
  const outcomes = matchOutcomes(recording, readExpectedOutcomes(expected));
  const paths = options.database ?? findDatabase(domain, recording, file).paths;
  const database = loadDatabase(domain, paths);
  const figures = replayRecording({ domain, database }, recording, outcomes);
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
    .map(({ run, records }) => [run, ...records.map((record) => `  record ${record}`)].join('\n'));
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
