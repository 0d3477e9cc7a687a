/** `holdfast eval`: plays cases from files and says whether each went as expected. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { HoldfastError } from '../../core/state/errors.js';
import { speechOf } from '../environment.js';
import { collectFixtures } from '../../evaluation/collect.js';
import type { Engine } from '../../evaluation/engine.js';
import { ENGINE_CHOICES, openEngines, type EngineChoice } from '../../evaluation/engines.js';
import { evaluate, type CaseOutcome } from '../../evaluation/evaluate.js';
import type { Fixture } from '../../evaluation/fixture.js';
import { isSuccess, reportOf } from '../../evaluation/report.js';
import { TIME_SKIPPING_VARIABLE } from '../../devserver/index.js';
import { examples, type Cli } from '../command.js';
import { bundleWriter, refuseBundlesOf } from './eval-bundles.js';
import { PAST_HELP, refuseOfPast, withPast, type PastOptions } from './past-options.js';
import { EXIT } from '../exit-code.js';
import { replaceFile } from '../new-file.js';
import { onInterrupt } from '../terminal/interrupt.js';
import { notWritten } from '../terminal/file-error.js';
import { createOutput, type Output } from '../terminal/output.js';
import { caseLine, failureLines, summaryLines } from '../render/evaluation.js';
import { exactJson, plural, shellWord } from '../render/index.js';
import { oneOf, usage, wholeNumber } from '../usage.js';

const PROGRESS_EVERY_MS = 10_000;
const STOP_LIMIT_MS = 30_000;
const DEFAULT_SEED = 1;

const EXAMPLES = examples(
  'holdfast eval test/scenarios',
  'holdfast eval cases/refund.json --engine temporal',
  'holdfast eval cases --filter approval --engine both --json report.json',
  'holdfast eval cases --engine both --no-workflow-cache',
  'holdfast eval cases --engine temporal --bundles bundles',
  'holdfast eval cases --engine both --time-skipping ./temporal-test-server',
  'holdfast eval --from test/bundles --model anthropic/claude-sonnet-5-5 --gate gate.json --junit past.xml',
);

interface EvalOptions extends PastOptions {
  readonly engine?: EngineChoice;
  readonly json?: string;
  readonly filter?: string;
  readonly seed?: number;
  readonly bundles?: string;
  readonly workflowCache: boolean;
  /** True: without a program. */
  readonly timeSkipping?: string | true;
}

export interface Evaluation {
  readonly paths: readonly string[];
  readonly engine: EngineChoice;
  readonly seed: number;
  readonly filter?: string;
  /** File that gets the report. */
  readonly json?: string;
  /** Folder that gets the bundles of runs. */
  readonly bundles?: string;
  readonly folder: string;
  /** Workers of the engine `temporal` keep no run in memory: each replays at every step. */
  readonly withoutCache?: boolean;
  /** As it was written: the program of the server, or true. */
  readonly timeSkipping?: string | true;
}

export function addEval(program: Command, cli: Cli): void {
  const command = program
    .command('eval')
    .description(
      'Play cases (fixtures) with scripted models and tools, and compare what happens with what they expect. Exits with 0 only if at least one case ran and all that ran passed.',
    )
    .argument('[path...]', 'a fixture, or a folder with all *.json below it')
    .option(
      '--engine <name>',
      `${ENGINE_CHOICES.join(', ')} (default simulation)`,
      oneOf('engine', ENGINE_CHOICES),
    )
    .option('--json <file>', 'write the report there: {summary, cases: […]}')
    .option('--filter <text>', 'only cases whose id or title has this text')
    .option('--seed <number>', `what engines choose freely (default ${DEFAULT_SEED})`, seedNumber)
    .option(
      '--bundles <folder>',
      'write there the bundle of each run that the engine temporal plays, for `holdfast replay`; never over another file',
    )
    .option(
      '--no-workflow-cache',
      'workers of the engine temporal keep no run in memory and replay its history at every step',
    )
    .option(
      '--time-skipping [executable]',
      `play the engine temporal on Temporal's test server, which skips time: sleeps and questions of days take no time. Without a program: that of ${TIME_SKIPPING_VARIABLE}, else temporal-test-server on PATH, else the SDK downloads it; docs/guide/cases.md in the package holdfast tells how to get it from Maven Central`,
    )
    .addHelpText('after', `${PAST_HELP}\n${EXAMPLES}`);
  withPast(command).action(async (paths: readonly string[], options: EvalOptions) => {
    const { environment, streams } = cli;
    const output = createOutput(streams, { json: false, ...speechOf(environment) });
    if (options.from !== undefined) {
      if (paths.length > 0) throw casesAndRuns();
      refuseOfCases(options);
      const { evaluatePast } = await import('./eval-past.js');
      cli.exitCode = await evaluatePast(cli, options, output);
      return;
    }
    refuseOfPast(options);
    if (paths.length === 0) throw nothingNamed();
    cli.exitCode = await evaluateCases(environment, { ...options, paths }, output);
  });
}

/** Gives the exit code. */
function evaluateCases(
  { folder, variables }: Cli['environment'],
  options: EvalOptions & { readonly paths: readonly string[] },
  output: Output,
): Promise<number> {
  const { paths, engine = 'simulation', seed = DEFAULT_SEED, filter, json, bundles } = options;
  const { timeSkipping } = options;
  const withoutCache = !options.workflowCache;
  if (engine === 'simulation') refuseOfServers(options);
  const evaluation = {
    paths,
    engine,
    seed,
    ...(filter !== undefined && { filter }),
    ...(json !== undefined && { json }),
    ...(bundles !== undefined && { bundles: resolve(folder, bundles) }),
    folder,
    withoutCache,
    ...(timeSkipping !== undefined && { timeSkipping }),
  };
  return runEvaluation(evaluation, output, () =>
    openEngines(engine, {
      environment: variables,
      onProgress: (text) => output.remark(text),
      ...(withoutCache && { maxCachedWorkflows: 0 }),
      ...(timeSkipping !== undefined && { timeSkipping: serverProgram(timeSkipping, folder) }),
      ...(bundles !== undefined && { onEnded: bundleWriter(resolve(folder, bundles)) }),
    }),
  );
}

function casesAndRuns(): HoldfastError {
  return usage('Cases and recorded runs are two evaluations.', 'Leave out the paths, or --from.');
}

/** Options that mean nothing for recorded runs: taken as said they would choose other runs, and models cost money. */
function refuseOfCases(options: EvalOptions): void {
  const names = ['engine', 'filter', 'seed', 'bundles', 'timeSkipping'] as const;
  const given = names.find((name) => options[name] !== undefined);
  if (given === undefined && options.workflowCache) return;
  const name = given === 'timeSkipping' ? 'time-skipping' : (given ?? 'no-workflow-cache');
  throw usage(`--${name} is for cases.`, 'Leave it out, or leave out --from.');
}

function nothingNamed(): HoldfastError {
  return usage(
    'No case is named.',
    'Name fixtures or a folder of them, or recorded runs with --from.',
  );
}

/** Options that mean nothing without a server. */
function refuseOfServers({ workflowCache, bundles, timeSkipping }: EvalOptions): void {
  if (!workflowCache) throw nothingToForget();
  if (bundles !== undefined) throw noHistories();
  if (timeSkipping !== undefined) throw noServerToSkip();
}

/** A run of the simulation has no history. */
function noHistories(): HoldfastError {
  return usage(
    'Only runs on a server have histories to bundle.',
    'Use --bundles with --engine temporal or --engine both.',
  );
}

/** Taken as said it would prove nothing and look as if it did. */
function nothingToForget(): HoldfastError {
  return usage(
    'The simulation has no workflow cache.',
    'Use --no-workflow-cache with --engine temporal or --engine both.',
  );
}

function noServerToSkip(): HoldfastError {
  return usage(
    'The simulation has virtual time without a server.',
    'Use --time-skipping with --engine temporal or --engine both.',
  );
}

function serverProgram(written: string | true, folder: string): { readonly executable?: string } {
  return written === true ? {} : { executable: resolve(folder, written) };
}

function seedNumber(text: string): number {
  return wholeNumber('--seed', [0, Number.MAX_SAFE_INTEGER])(text);
}

/** Gives the exit code. */
export async function runEvaluation(
  evaluation: Evaluation,
  output: Output,
  open: () => Promise<readonly Engine[]>,
): Promise<number> {
  const { paths, folder, filter, json, bundles } = evaluation;
  if (json !== undefined) {
    const { refuseUnwritable } = await import('./past-reports.js');
    await refuseUnwritable({ json }, folder);
  }
  const fixtures = await collectFixtures({
    paths,
    folder,
    ...(filter !== undefined && { filter }),
  });
  if (bundles !== undefined) refuseBundlesOf(fixtures, bundles);
  if (fixtures.length === 0) throw nothingRan(`No case has "${filter ?? ''}" in its id or title.`);
  const interrupt = onInterrupt();
  try {
    const outcomes = await play({ evaluation, fixtures, signal: interrupt.signal }, output, open);
    if (!interrupt.signal.aborted) return await conclude(evaluation, outcomes, output);
    output.remark(`Interrupted after ${plural(outcomes.length, 'case')}; no report was written.`);
    return EXIT.interrupted;
  } finally {
    interrupt.release();
  }
}

interface Playing {
  readonly evaluation: Evaluation;
  readonly fixtures: readonly Fixture[];
  readonly signal: AbortSignal;
}

async function play(
  { evaluation, fixtures, signal }: Playing,
  output: Output,
  open: () => Promise<readonly Engine[]>,
): Promise<readonly CaseOutcome[]> {
  const outcomes: CaseOutcome[] = [];
  const engines = await open();
  const all = fixtures.length * engines.length;
  const progress = setInterval(() => {
    output.remark(`… ${outcomes.length} of ${plural(all, 'case')}`);
  }, PROGRESS_EVERY_MS);
  try {
    for await (const outcome of evaluate(fixtures, { engines, seed: evaluation.seed, signal })) {
      outcomes.push(outcome);
      print(outcome, evaluation, output);
    }
    return outcomes;
  } finally {
    clearInterval(progress);
    await stopAll(engines, output);
  }
}

/** What engines have started ends with them; one that does not come to an end is left behind, and said. */
async function stopAll(engines: readonly Engine[], output: Output): Promise<void> {
  const stopped = Promise.allSettled(engines.map((engine) => engine.stop())).then(() => true);
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<boolean>((settle) => {
    timer = setTimeout(() => settle(false), STOP_LIMIT_MS);
  });
  if (!(await Promise.race([stopped, timeUp]))) output.remark('An engine did not stop in time.');
  clearTimeout(timer);
}

function print(outcome: CaseOutcome, evaluation: Evaluation, output: Output): void {
  const { paint } = output;
  output.line(caseLine(outcome, paint));
  if (outcome.outcome !== 'failed') return;
  const again = paint.own(againCommand(outcome.fixture.file, evaluation));
  for (const line of failureLines(outcome, again, paint)) output.line(line);
}

function againCommand(file: string, evaluation: Evaluation): string {
  const { engine, seed, withoutCache = false, timeSkipping } = evaluation;
  const cache = withoutCache ? ' --no-workflow-cache' : '';
  const program = typeof timeSkipping === 'string' ? ` ${shellWord(timeSkipping)}` : '';
  const skipping = timeSkipping === undefined ? '' : ` --time-skipping${program}`;
  return `holdfast eval ${shellWord(file)} --engine ${engine} --seed ${seed}${cache}${skipping}`;
}

async function conclude(
  { folder, json }: Evaluation,
  outcomes: readonly CaseOutcome[],
  output: Output,
): Promise<number> {
  const report = reportOf(outcomes);
  const { summary } = report;
  output.line('');
  for (const line of summaryLines(summary)) output.line(line);
  if (json !== undefined) await writeReport(resolve(folder, json), report);
  if (summary.passed + summary.failed === 0) {
    throw nothingRan(
      `${plural(summary.skipped, 'case was', 'cases were')} skipped, and none was played.`,
    );
  }
  return isSuccess(summary) ? EXIT.completed : EXIT.error;
}

async function writeReport(file: string, report: unknown): Promise<void> {
  await replaceFile(file, `${exactJson(report, 2)}\n`).catch((cause: unknown) => {
    throw notWritten({ what: 'report', place: file, option: '--json' }, cause);
  });
}

function nothingRan(why: string): HoldfastError {
  return new HoldfastError('InvalidFixture', `Nothing ran. ${why}`, {
    hint: 'An evaluation that ran nothing has shown nothing, so it counts as failed.',
  });
}
