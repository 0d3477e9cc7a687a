/** `npm run chaos`: exit code 0 if everything holds, 1 if something does not, 2 for usage, 130 when it was stopped. */
import { CommanderError } from 'commander';
import { HoldfastError } from '../../core/state/errors.js';
import { createClosers } from '../proving/closers.js';
import { writeReportFile } from '../proving/report-file.js';
import { figureLines } from './figures.js';
import { readOptions, type TrialOptions } from './options.js';
import { runTrial } from './trial.js';

const EXIT = { holds: 0, fails: 1, usage: 2, interrupted: 130 } as const;
const FAULTS_SHOWN_MAX = 20;

async function chaos(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv);
  say(`seed ${options.seed}`);
  const stop = new AbortController();
  const onSignal = (): void => {
    // Who asks twice does not want to wait for the closing.
    if (stop.signal.aborted) process.exit(EXIT.interrupted);
    stop.abort();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  const closers = createClosers();
  try {
    const { figures, ends, faults } = await runTrial(
      { options, say, signal: stop.signal },
      closers,
    );
    for (const fault of faults.slice(0, FAULTS_SHOWN_MAX)) say(fault);
    if (faults.length > FAULTS_SHOWN_MAX) say(`… ${faults.length - FAULTS_SHOWN_MAX} more`);
    for (const line of figureLines(figures)) say(line);
    if (options.json !== undefined)
      writeReportFile(options.json, { options, figures, faults, ends });
    if (faults.length > 0) say(`repeat with: ${repeatCommand(argv, options)}`);
    return faults.length === 0 ? EXIT.holds : EXIT.fails;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    say('stopped; everything is closed');
    return EXIT.interrupted;
  } finally {
    await closers.closeAll();
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

function repeatCommand(argv: readonly string[], { seed }: TrialOptions): string {
  const words = argv.slice(2);
  const seeded = words.includes('--seed') ? words : [...words, '--seed', String(seed)];
  return `npm run chaos -- ${seeded.join(' ')}`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.holds : EXIT.usage;
  if (!(error instanceof HoldfastError)) throw error;
  process.stderr.write(`${error.message}${error.hint === undefined ? '' : ` ${error.hint}`}\n`);
  return error.code === 'Usage' ? EXIT.usage : EXIT.fails;
}

chaos(process.argv)
  .catch(exitCodeOf)
  .then(
    (code) => process.exit(code),
    (error: unknown) => {
      console.error(error);
      process.exit(EXIT.fails);
    },
  );
