/**
 * `npm run proving`: replays recorded customer conversations through the real workflow, if wanted while
 * its workers are killed. Exit code 0 only if everything holds, 1 if something does not, 2 for usage.
 */
import { randomInt } from 'node:crypto';
import { CommanderError } from 'commander';
import { HoldfastError } from '../../core/state/errors.js';
import { readOptions, SEED_MAX, type Options } from './command-line.js';
import type { Domain } from './domains/domain.js';
import { domainNamed } from './domains/domains.js';
import { DECISION_TIMEOUT_MS } from './drive-run.js';
import { matchOutcomes, readExpectedOutcomes } from './expected-outcomes.js';
import { describeFaults, faultsOf, faultWords } from './fault-options.js';
import { findDatabase } from './find-database.js';
import { prove, type RunReport } from './prove.js';
import { readRecording, type Recording } from './recording.js';
import { writeReportFile } from './report-file.js';
import { HEARTBEAT_MS, TOOL_TIMEOUT_MS } from './agent-config.js';
import { parkedLine, runLine, summarise, summaryLine, type Summary } from './summary.js';
import { STICKY_TIMEOUT_MS } from './theatre.js';

const EXIT = { holds: 0, fails: 1, usage: 2, interrupted: 130 } as const;
const FAILURES_SHOWN_MAX = 20;

async function run(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv);
  const faults = faultsOf(options);
  const seed = options.seed ?? randomInt(SEED_MAX);
  say(`seed ${seed}`);
  const recording = readRecording(options.recording);
  const outcomes = matchOutcomes(recording, readExpectedOutcomes(options.expected));
  const domain = domainNamed(options.domain);
  const databaseFiles = options.database ?? databaseOf(domain, recording, options.recording);
  say(conditions(options));
  let serverKills = 0;
  const stop = new AbortController();
  const onSignal = (): void => {
    // Who asks twice does not want to wait for the closing.
    if (stop.signal.aborted) process.exit(EXIT.interrupted);
    stop.abort();
  };
  // Not `once`: the guard of the server's process takes a signal that nobody else hears as the end.
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  const { mode, concurrency, runs, only, store, bundles, quickReads = false } = options;
  try {
    const reports = await prove({
      domain,
      mode,
      recording,
      outcomes,
      databaseFiles,
      ...faults,
      quickReads,
      seed,
      concurrency,
      ...(store !== undefined && { storePlace: store }),
      ...(bundles !== undefined && { bundles }),
      ...(runs !== undefined && { runsMax: runs }),
      ...(only !== undefined && { choose: (run) => run.id === only }),
      say,
      onServerKill: () => void (serverKills += 1),
      onRun: (report) => say(runLine(report)),
      signal: stop.signal,
    });
    return conclude(summarise(reports, serverKills), reports, { ...options, seed });
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    say('stopped; everything is closed');
    return EXIT.interrupted;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

function databaseOf(domain: Domain, recording: Recording, file: string): readonly string[] {
  const { paths, outputs, outputsEqual } = findDatabase(domain, recording, file);
  say(`database ${paths.join(' + ')} (${outputsEqual} of ${outputs} recorded outputs equal)`);
  return paths;
}

function conditions(options: Options): string {
  const own = options.kill !== 'none' || options.pause === true;
  const workers = own ? ', one worker and task queue each' : '';
  return (
    `mode ${options.mode}; ${describeFaults(faultsOf(options))}; ${options.concurrency} runs at once${workers}; short times: tools time out after ${TOOL_TIMEOUT_MS} ms, ` +
    `a dead worker is noticed after ${HEARTBEAT_MS.repeatable} ms (effects ${HEARTBEAT_MS.single} ms), ` +
    `its runs are free after ${STICKY_TIMEOUT_MS} ms, its decisions after ${DECISION_TIMEOUT_MS} ms`
  );
}

type Seeded = Options & { readonly seed: number };

function conclude(summary: Summary, reports: readonly RunReport[], options: Seeded): number {
  const { seed } = options;
  const failures = reports.flatMap((report) =>
    report.failures.map((failure) => `${report.id}: ${failure}`),
  );
  for (const failure of failures.slice(0, FAILURES_SHOWN_MAX)) say(failure);
  if (failures.length > FAILURES_SHOWN_MAX) say(`… ${failures.length - FAILURES_SHOWN_MAX} more`);
  if (!summary.holds) say(`repeat with: ${repeatCommand(reports, options)}`);
  say(
    `kills ${summary.kills}, model requests ${summary.modelRequests} for ${summary.turns} replies`,
  );
  if (options.mode === 'nokeys') say(parkedLine(summary));
  say(summaryLine(summary));
  if (options.json !== undefined) writeReportFile(options.json, { seed, summary, runs: reports });
  return summary.holds ? EXIT.holds : EXIT.fails;
}

function repeatCommand(reports: readonly RunReport[], options: Seeded): string {
  const { domain, mode, recording, expected, runs, seed, concurrency, database } = options;
  const failed = reports.filter((report) => report.failures.length > 0);
  const faults = faultsOf(options);
  // When the server dies is counted over all runs.
  const only = failed.length === 1 && faults.serverKills === undefined ? failed[0] : undefined;
  const single = only?.id ?? options.only;
  const boundary = only?.killPlan?.kind === 'boundary' ? only.killPlan.boundary : undefined;
  const kill = faults.kill === 'every' && boundary !== undefined ? boundary : faults.kill;
  const words = [
    '--domain',
    domain,
    '--mode',
    mode,
    '--recording',
    recording,
    '--expected',
    expected,
    ...(database === undefined ? [] : ['--database', ...database]),
    ...(single !== undefined ? ['--only', single] : []),
    ...(single === undefined && runs !== undefined ? ['--runs', String(runs)] : []),
    ...faultWords({ ...faults, kill }),
    '--seed',
    String(seed),
    '--concurrency',
    String(concurrency),
  ];
  return `npm run proving -- ${words.map(quoted).join(' ')}`;
}

function quoted(word: string): string {
  return /^[\w./:@=+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function exitCodeOf(error: unknown): number {
  // Commander has said it already; help is not an error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.holds : EXIT.usage;
  if (!(error instanceof HoldfastError)) throw error;
  process.stderr.write(`${error.message}${error.hint === undefined ? '' : ` ${error.hint}`}\n`);
  const refused = error.code === 'InvalidTask' || error.code === 'Usage';
  return refused ? EXIT.usage : EXIT.fails;
}

/** The whole command; gives its exit code. */
export function proving(argv: readonly string[]): Promise<number> {
  return run(argv).catch(exitCodeOf);
}

if (require.main === module) {
  proving(process.argv).then(
    (code) => process.exit(code),
    (error: unknown) => {
      console.error(error);
      process.exit(EXIT.fails);
    },
  );
}
