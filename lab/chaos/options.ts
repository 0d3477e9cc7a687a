/** The command line of `npm run chaos`. */
import { Command, Option } from 'commander';
import { newSeed } from '../exploration/options.js';
import { checkReportFile } from '../proving/report-file.js';
import { wholeNumber } from '../proving/whole-number.js';

export const TOOLS = ['repeat', 'probe', 'ask'] as const;

/** What may become of a payment of which nobody heard: repeated with its key, probed, or left to a person. */
export type ToolKind = (typeof TOOLS)[number];

export interface TrialOptions {
  readonly runs: number;
  readonly seed: number;
  /** Seconds between two kills of a worker; 0: none. */
  readonly workerKillEvery: number;
  readonly serverKills: number;
  readonly databaseKills: number;
  /** Seconds for which one worker is cut off from the server and the store; 0: never. */
  readonly partition: number;
  readonly besideBase: boolean;
  readonly restored: boolean;
  /** The store lies in PostgreSQL, not in a file. */
  readonly postgres: boolean;
  readonly tools: readonly ToolKind[];
  /** Seconds. A run that makes no progress for longer fails the trial. */
  readonly stallMax: number;
  /** Seconds until the trial gives up. */
  readonly limit: number;
  readonly json?: string;
}

const RUNS_MAX = 2_000;
const KILLS_MAX = 100;
const SECONDS_MAX = 3_600;

const TEXT = `200 runs at once, each with one payment that a person approves and that the payment service recognises by
its key, while workers, the Temporal server or the database are killed. Every payment must be made exactly once, none
without its approval, and every run must complete. The longest time without progress is told from Temporal's history.`;

export function command(): Command {
  return new Command('chaos')
    .description(TEXT.replaceAll('\n', ' '))
    .exitOverride()
    .option('--runs <n>', 'runs at once', wholeNumber(1, RUNS_MAX), 200)
    .option('--seed <n>', 'when things die, and how long payments take; default: a new one', seed)
    .option('--worker-kill-every <s>', 'SIGKILL of a worker; 0: never', seconds, 3)
    .option('--server-kills <n>', 'kills of the Temporal server', kills, 0)
    .option('--database-kills <n>', 'crashes of PostgreSQL, which then has the store', kills, 0)
    .option('--partition [s]', 'one worker is cut off by a proxy; default 60 s', seconds)
    .option('--beside-base', 'one worker is the package of histories/BASE')
    .option('--restored', 'an older copy of the store takes its place')
    .option('--postgres', 'the store lies in PostgreSQL')
    .addOption(
      new Option('--tools <kind...>', 'what becomes of payments of which nobody heard')
        .choices(TOOLS)
        .default([...TOOLS]),
    )
    .option('--stall-max <s>', 'longest time without progress', seconds, STALL_MAX)
    .option('--limit <s>', 'longest time for the whole trial', seconds, 900)
    .option('--json <file>', 'write all figures there');
}

/** One lost heartbeat timeout of each kind that a run here has, and room for a busy machine; s. */
const STALL_MAX = 90;
const PARTITION_S = 60;

type Given = Omit<TrialOptions, 'seed' | 'partition' | 'besideBase' | 'restored' | 'postgres'> & {
  readonly seed?: number;
  readonly partition?: number | true;
  readonly besideBase?: true;
  readonly restored?: true;
  readonly postgres?: true;
};

/** Errors: commander's own, `Usage` for a report file that cannot be written. */
export function readOptions(argv: readonly string[]): TrialOptions {
  const given = command()
    .parse([...argv])
    .opts<Given>();
  if (given.json !== undefined) checkReportFile(given.json);
  const partition = given.partition === true ? PARTITION_S : (given.partition ?? 0);
  return {
    ...given,
    seed: given.seed ?? newSeed(),
    partition,
    besideBase: given.besideBase === true,
    restored: given.restored === true,
    postgres: given.postgres === true || given.databaseKills > 0,
  };
}

function seed(text: string): number {
  return wholeNumber(0, 1_000_000_000)(text);
}

function seconds(text: string): number {
  return wholeNumber(0, SECONDS_MAX)(text);
}

function kills(text: string): number {
  return wholeNumber(0, KILLS_MAX)(text);
}
