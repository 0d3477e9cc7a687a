/** The command line of `npm run proving`. */
import { Command, Option } from 'commander';
import { HoldfastError } from '../../core/state/errors.js';
import { refuseUnknownPlace } from '../../store/place.js';
import { DOMAIN_NAMES } from './domains/domains.js';
import { addFaultOptions, type FaultOptions } from './fault-options.js';
import { checkReportFile } from './report-file.js';
import { MODES, type Mode } from './tool-store.js';
import { wholeNumber } from './whole-number.js';

export interface Options extends FaultOptions {
  readonly domain: string;
  readonly mode: Mode;
  readonly recording: string;
  readonly expected: string;
  readonly runs?: number;
  readonly only?: string;
  readonly seed?: number;
  readonly concurrency: number;
  readonly database?: string[];
  readonly store?: string;
  readonly json?: string;
  readonly quickReads?: true;
  readonly bundles?: string;
}

export const SEED_MAX = 2 ** 31 - 1;
const CONCURRENCY_MAX = 16;
const REQUIRED = ['domain', 'recording', 'expected'] as const;

function command(): Command {
  const program = new Command('proving')
    .description('Replays recorded customer conversations through the real workflow.')
    .addOption(new Option('--domain <name>', 'whose tools (required)').choices(DOMAIN_NAMES))
    .addOption(
      new Option('--mode <mode>', 'the tool service honours idempotency keys, or ignores them')
        .choices(MODES)
        .default('keys'),
    )
    .option('--recording <file>', 'recorded runs, of tau2-bench or tau-bench (required)')
    .option('--expected <file>', 'expected outcomes of the same runs (required)')
    .option('--runs <number>', 'only the first so many runs', wholeNumber(1, 1_000_000))
    .option('--only <id>', 'only the run of this id');
  return addFaultOptions(program)
    .option('--quick-reads', 'reads are tried within the tasks that decide')
    .option('--seed <number>', 'for the same faults again', wholeNumber(0, SEED_MAX))
    .option('--concurrency <number>', 'runs at once', wholeNumber(1, CONCURRENCY_MAX), 4)
    .option('--database <path...>', 'recorded database; default: found by the recording')
    .option('--store <url>', 'an empty database postgres://…; default: a file of its own')
    .option('--bundles <folder>', 'write the bundle of each run there')
    .option('--json <file>', 'write all figures there')
    .exitOverride();
}

/** Errors: commander's own, `Usage`, `InvalidConfig` for a store that cannot be. */
export function readOptions(argv: readonly string[]): Options {
  const given = command()
    .parse([...argv])
    .opts<Partial<Options>>();
  // Commander would ask for one after the other.
  const missing = REQUIRED.filter((name) => given[name] === undefined).map((name) => `--${name}`);
  if (missing.length > 0) {
    throw new HoldfastError('Usage', `Missing: ${missing.join(', ')}.`, {
      hint: 'Give a recording, its expected outcomes and their domain; see --help and docs/reference/guarantees.md.',
    });
  }
  if (given.store !== undefined) refuseUnknownPlace(given.store);
  if (given.json !== undefined) checkReportFile(given.json);
  return given as Options;
}
