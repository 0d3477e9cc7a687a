/** `npm run bench -- turn|processor|own-work|throughput|history|replay|recovery|parked|approval|coldstart|long|core|stream|asleep|bundles|cache|load|syncs [--json FILE]` */
import { join } from 'node:path';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { HoldfastError } from '../../core/state/errors.js';
import { checkReportFile, writeReportFile } from '../proving/report-file.js';
import { wholeNumber } from '../proving/whole-number.js';
import { benchApproval } from './approval.js';
import { benchAsleep } from './asleep.js';
import { benchCache } from './cache/cache.js';
import { VENDORS } from './cache/vendors.js';
import { benchBundles, COMMANDS, type BundlesOptions } from './bundles.js';
import { benchColdStart } from './coldstart.js';
import { benchCore } from './core.js';
import { benchHistory, type HistoryOptions } from './history.js';
import { benchLoad } from './load.js';
import { benchLong } from './long.js';
import { factLines, type MachineFacts } from './machine.js';
import { messageSizes } from './message-sizes.js';
import { benchOwnWork } from './own-work.js';
import { benchParked } from './parked.js';
import { keepQuiet } from '../../replay/keep-quiet.js';
import { benchProcessor } from './processor.js';
import { benchRecovery, POSITIONS, type Position } from './recovery.js';
import { benchReplay } from './replay.js';
import type { BenchOptions } from './setting.js';
import { benchStream } from './stream.js';
import { benchSyncs } from './syncs.js';
import { benchThroughput } from './throughput.js';
import { benchTurn } from './turn.js';

/** Fewer pairs than these are a trial, no figure. */
const PAIRS = 7;

const NUMBER_MAX = 1_000_000_000;
const count = wholeNumber(1, NUMBER_MAX);
const EXIT = { good: 0, fails: 1, usage: 2 } as const;

function lengthsOf(text: string): readonly number[] {
  return text.split(',').map((word) => count(word));
}

function positionsOf(text: string): readonly Position[] {
  return text.split(',').map((word) => {
    const position = POSITIONS.find((one) => one === word);
    if (position === undefined)
      throw new InvalidArgumentError(`Give some of ${POSITIONS.join(',')}.`);
    return position;
  });
}

function someOf(known: readonly string[]): (text: string) => readonly string[] {
  return (text) => {
    const names = text.split(',');
    if (names.every((name) => known.includes(name))) return names;
    throw new InvalidArgumentError(`Give some of ${known.join(', ')}.`);
  };
}

const VENDOR_NAMES = VENDORS.map(({ name }) => name);

interface Report {
  readonly machine: MachineFacts;
}

// Commands made from it take this over.
const program = new Command('bench')
  .description('Measurements against a bare Temporal loop.')
  .exitOverride();

/** A command of one question: prints what it says, the machine, and writes the report. */
function question(name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .option('--json <file>', 'write the figures to a file');
}

function paired(name: string, description: string): Command {
  return question(name, description).option('--pairs <n>', 'interleaved pairs', count, PAIRS);
}

/** Runs a bench with the options of its command. */
function answering<Options extends BenchOptions, R extends Report>(
  bench: (options: Options) => Promise<R>,
  judge: (report: R) => void = () => undefined,
) {
  return async (given: Omit<Options, keyof BenchOptions> & { readonly json?: string }) => {
    const say = (line: string): void => console.log(line);
    if (given.json !== undefined) checkReportFile(given.json);
    const options = { ...given, environment: process.env, say };
    // What a command does not give is what every bench is given.
    const report = await bench(options as unknown as Options);
    for (const line of factLines(report.machine)) say(line);
    judge(report);
    if (given.json !== undefined) writeReportFile(given.json, report);
  };
}

/** A clone has the material beside it. */
const MATERIAL_BESIDE = join('..', 'shared');

paired('turn', 'B1: overhead of one turn of one model call and one tool call.')
  .option('--turns <n>', 'turns per run', count, 200)
  .option('--warm <n>', 'turns of each side before any is measured', count, 20)
  .option('--ordinary', 'nothing but the time with an ordinary tool')
  .action(answering(benchTurn));
paired('processor', 'B1: processor time of a turn, whatever else the machine does.')
  .option('--turns <n>', 'turns per run', count, 200)
  .option('--at-once <n>', 'runs at once', count, 4)
  .action(answering(benchProcessor));
question('own-work', 'B1: processor time and payloads of a turn, of ours alone, without Temporal.')
  .option('--turns <n>', 'turns per run', count, 300)
  .option('--runs <n>', 'runs that count', count, 5)
  .action(answering(benchOwnWork));
paired('throughput', 'B12: runs at once, runs per second and processor time of a turn.')
  .option('--turns <n>', 'turns per run', count, 10)
  .option('--at-once <n,n,…>', 'runs at once', lengthsOf, [1, 40, 200])
  .option('--parked <n>', 'runs of each side that wait meanwhile', wholeNumber(0, NUMBER_MAX), 0)
  .option('--store <url>', 'an empty database of PostgreSQL; default: a file of SQLite')
  .option('--postgres', 'the store on a PostgreSQL server of its own')
  .action(answering(benchThroughput));
question('history', 'B3: events and bytes of histories at growing lengths.')
  .option('--lengths <n,n,…>', 'turns of the runs', lengthsOf, [10, 100, 1_000])
  .option('--recordings <folder>', 'where the folder material lies', MATERIAL_BESIDE)
  .action(
    answering(
      ({
        recordings,
        ...options
      }: Omit<HistoryOptions, 'sizes'> & { readonly recordings: string }) =>
        benchHistory({ ...options, sizes: messageSizes([recordings]) }),
    ),
  );
paired('replay', 'B5: replay of a long run.')
  .option('--turns <n>', 'turns of the run', count, 1_000)
  .action(answering(benchReplay));
paired('recovery', 'B8: from SIGKILL of the worker to the next durable step.')
  .option('--positions <p,p,…>', POSITIONS.join(', '), positionsOf, POSITIONS)
  .option('--heartbeat-ms <n>', 'heartbeat timeout of both', count, 10_000)
  .option('--sticky-ms <n>', 'sticky timeout of both', count, 10_000)
  .action(answering(benchRecovery));
paired('parked', 'B6: memory of the worker per waiting run.')
  .option('--runs <n>', 'waiting runs', count, 400)
  .action(answering(benchParked));
paired('approval', 'B7: from the signal to the start of the gated tool.')
  .option('--samples <n>', 'approvals per measurement', count, 10)
  .option('--parked <n>', 'runs of each side that wait meanwhile', wholeNumber(0, NUMBER_MAX), 0)
  .action(answering(benchApproval));
paired('coldstart', 'B10: from the spawn of a worker to its first finished run.').action(
  answering(benchColdStart),
);
question('asleep', 'B11: goals that wake in the same moment, while others sleep on.')
  .option('--goals <n>', 'goals', count, 500)
  .option('--waking <n>', 'of them wake in the same moment', count, 100)
  .option('--sleep-ms <n>', 'least time to start them all', count, 300_000)
  .action(answering(benchAsleep));
question('long', 'B4: time per turn and memory of a very long run; exits 1 when they are not flat.')
  .option('--turns <n>', 'turns of the run', count, 10_000)
  .action(
    answering(benchLong, ({ flat }) => {
      if (!flat) process.exitCode = 1;
    }),
  );
paired(
  'stream',
  'B9: tokens read from a run beside a direct client; exits 1 when a goal is missed.',
)
  .option('--streams <n,n,…>', 'streams at once', lengthsOf, [1, 100])
  .option('--seconds <n>', 'length of a stream', count, 4)
  .action(
    answering(benchStream, ({ good }) => {
      if (!good) process.exitCode = 1;
    }),
  );
question(
  'bundles',
  'B12: time and peak of memory of export, replay and inspection at growing lengths; exits 1 when an export is not flat, or a packed bundle too large.',
)
  .option('--lengths <n,n,…>', 'turns of the runs', lengthsOf, [200, 1_000])
  .option('--rounds <n>', 'of each command', count, 3)
  .option('--heaps', 'look for the smallest heap that each command works with')
  .option('--commands <name,name,…>', COMMANDS.join(', '), someOf(COMMANDS), COMMANDS)
  .option('--recordings <folder>', 'where the folder material lies', MATERIAL_BESIDE)
  .action(
    answering(
      ({
        recordings,
        ...options
      }: Omit<BundlesOptions, 'sizes'> & { readonly recordings: string }) =>
        benchBundles({ ...options, sizes: messageSizes([recordings]) }),
      ({ flat, small }) => {
        if (!flat || !small) process.exitCode = 1;
      },
    ),
  );
paired(
  'syncs',
  'B15: runs at once on a slow disk, with a sync for each commit and with shared ones.',
)
  .option('--turns <n>', 'turns per run', count, 10)
  .option('--at-once <n,n,…>', 'runs at once', lengthsOf, [1, 40])
  .option('--sync-ms <n>', 'what a sync takes longer', count, 5)
  .action(answering(benchSyncs));
question('load', 'B14: from an approval to the tool, of long runs that are not in memory.')
  .option('--turns <n>', 'turns before the question', count, 300)
  .option('--runs <n>', 'runs that wait', count, 20)
  .action(answering(benchLoad));
question(
  'cache',
  'B13: input tokens of recorded conversations that vendors read from their caches, by their rules; exits 1 below 85 % where the rule allows it, or when a restart changes a byte.',
)
  .option('--conversations <n>', 'the longest of each recording', count, 24)
  .option('--vendors <name,name,…>', VENDOR_NAMES.join(', '), someOf(VENDOR_NAMES), VENDOR_NAMES)
  .option('--gap-ms <n>', 'between two requests of a conversation', count, 20_000)
  .option('--recordings <folder>', 'where the folder material lies', MATERIAL_BESIDE)
  .action(
    answering(benchCache, ({ good }) => {
      if (!good) process.exitCode = 1;
    }),
  );
paired('core', 'The core by itself: time per turn beside the bare loop, size of a Run.')
  .option('--turns <n>', 'turns of the run', count, 1_000)
  .action(answering(benchCore));

keepQuiet();
program.parseAsync().then(
  // The native part of the SDK keeps a process alive that has run no worker.
  () => process.exit(),
  (error: unknown) => process.exit(exitCodeOf(error)),
);

function exitCodeOf(error: unknown): number {
  // Commander has said it already; help is not an error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.good : EXIT.usage;
  if (!(error instanceof HoldfastError)) {
    console.error(error);
    return EXIT.fails;
  }
  console.error(error.hint === undefined ? error.message : `${error.message} ${error.hint}`);
  return error.code === 'Usage' ? EXIT.usage : EXIT.fails;
}
