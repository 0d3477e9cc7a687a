/** `holdfast eval --from`: recorded runs once more with another model, prompt, tools or policy. */
import { readFile } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import type { Config } from '../../authoring/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import { DEFAULT_GATE, gateIn, violationsOf } from '../../evaluation/past/gate.js';
import { outcomeOf, type NotPlayed, type PastOutcome } from '../../evaluation/past/outcome.js';
import { withoutSecrets } from '../../pure/secret-values.js';
import type { NewTerms } from '../../evaluation/past/play.js';
import { linesOfRun, usd, violationText, type PastReport } from '../../evaluation/past/report.js';
import { summaryOfPast } from '../../evaluation/past/summary.js';
import type { Bundle } from '../../replay/bundle.js';
import type { Cli } from '../command.js';
import { configurationOf, providersFor } from '../desk/model-access.js';
import { oneRecordedOf } from '../desk/recorded.js';
import { foundBy, sourceOf, type RunSource } from '../desk/run-source.js';
import { EXIT } from '../exit-code.js';
import { inert, plural } from '../render/index.js';
import { withSession, type Session } from '../session.js';
import { onInterrupt } from '../terminal/interrupt.js';
import type { Output } from '../terminal/output.js';
import { notRead, usage } from '../usage.js';
import type { PastOptions } from './past-options.js';
import { refuseUnwritable, writeReports } from './past-reports.js';

const GATE_CHARS_MAX = 100_000;
const LINE_CHARS_MAX = 600;

/** Gives the exit code. */
export async function evaluatePast(
  cli: Cli,
  options: PastOptions,
  output: Output,
): Promise<number> {
  const { environment } = cli;
  const { folder } = environment;
  if (options.model === undefined && options.config === undefined) {
    throw usage(
      'Nothing is new.',
      'Name a model with --model, a configuration with --config, or both.',
    );
  }
  if (options.agent !== undefined && options.config === undefined) {
    throw usage(
      '--agent names an agent of a configuration.',
      'Name the configuration with --config.',
    );
  }
  const gate =
    options.gate === undefined ? DEFAULT_GATE : await gateOf(resolve(folder, options.gate));
  await refuseUnwritable(options, folder);
  const source = await sourceOf(folder, options.from ?? '');
  const terms = await termsOf(cli, options);
  const interrupt = onInterrupt();
  try {
    const runs = await withSession(environment, {}, (session) =>
      playAll({ cli, session, source, terms, signal: interrupt.signal }, output),
    );
    if (interrupt.signal.aborted) {
      output.remark(`Interrupted after ${plural(runs.length, 'run')}; no report was written.`);
      return EXIT.interrupted;
    }
    const played = runs.filter((one) => one.kind === 'played');
    const summary = summaryOfPast(runs);
    const violations = violationsOf(gate, summary, played);
    const passed = violations.length === 0 && played.length > 0;
    const report: PastReport = {
      model: options.model ?? null,
      unmatched: terms.unmatched,
      summary,
      gate: { passed, rules: gate, violations },
      runs,
    };
    print(report, output);
    await writeReports(report, options, environment);
    return passed ? EXIT.completed : EXIT.error;
  } finally {
    interrupt.release();
  }
}

async function gateOf(file: string) {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw notRead(`gate ${file.slice(-200)}`, cause);
  });
  if (text.length > GATE_CHARS_MAX)
    throw usage(`The gate ${file.slice(-200)} is too long.`, 'A gate has a few rules.');
  return gateIn(text, file);
}

async function termsOf(cli: Cli, options: PastOptions): Promise<NewTerms> {
  const { folder } = cli.environment;
  const { unmatched = 'stop', at, agent, model } = options;
  const file = options.config === undefined ? undefined : resolve(folder, options.config);
  const config = await configurationOf(folder, file);
  return {
    unmatched,
    ...(at !== undefined && { at }),
    ...(file !== undefined && {
      own: { file, config: config!, ...(agent !== undefined && { agent }) },
    }),
    ...(model !== undefined && { model: await modelOf(cli, model, config) }),
  };
}

async function modelOf(cli: Cli, name: string, config: Config | undefined) {
  const { resolveRoute } = await import('../../providers/routes.js');
  const route = resolveRoute(name, config);
  const providers = await providersFor(cli, config);
  if (providers.has(route.provider)) return { name, routes: [route], providers };
  throw new HoldfastError(
    'ModelKeyMissing',
    `The model ${name} needs access to ${route.provider}.`,
    {
      hint: 'Set the key of the vendor, for example ANTHROPIC_API_KEY, or an endpoint in the configuration; `holdfast doctor` says what is missing.',
    },
  );
}

interface Playing {
  readonly cli: Cli;
  readonly session: Session;
  readonly source: RunSource;
  readonly terms: NewTerms;
  readonly signal: AbortSignal;
}

async function playAll(
  playing: Playing,
  output: Output,
): Promise<readonly (PastOutcome | NotPlayed)[]> {
  const { cli, session, source, terms, signal } = playing;
  const { playPast } = await import('../../evaluation/past/play.js');
  const { folder, variables } = cli.environment;
  const subjects = 'files' in source ? source.files : await foundBy(source, cli, session);
  const runs: (PastOutcome | NotPlayed)[] = [];
  for (const subject of subjects) {
    if (signal.aborted) break;
    const one = await played(nameOf(subject, folder), async () => {
      const { bundle } = await oneRecordedOf(cli, session, { subject });
      return { bundle, play: await playPast(bundle, terms) };
    });
    runs.push(one);
    const [first, ...rest] = linesOfRun(one).map((line) => withoutSecrets(line, variables));
    output.line(`${inert(one.run_id, 100)}  ${inert(first ?? '', LINE_CHARS_MAX)}`);
    for (const line of rest) output.line(`    ${inert(line, LINE_CHARS_MAX)}`);
  }
  return runs;
}

/** A file is named from the working directory, a run by its id. */
function nameOf(subject: string, folder: string): string {
  return isAbsolute(subject) ? relative(folder, subject) : subject;
}

async function played(
  subject: string,
  play: () => Promise<{ bundle: Bundle; play: Parameters<typeof outcomeOf>[1] }>,
): Promise<PastOutcome | NotPlayed> {
  try {
    const { bundle, play: both } = await play();
    return outcomeOf(bundle.run.runId, both);
  } catch (error) {
    if (!(error instanceof HoldfastError) || !OF_ONE_RUN.includes(error.code)) throw error;
    const why =
      error.code === 'UnknownAgent' ? `${error.message} ${error.hint ?? ''}` : error.message;
    return { run_id: subject, kind: 'not_played', why };
  }
}

/** These are about one recorded run; everything else would come again with the next one. */
const OF_ONE_RUN: readonly string[] = [
  'CaptureRefused',
  'StepNotFound',
  'UnknownAgent',
  'InvalidBundle',
  'InvalidFixture',
  'HistoryMissing',
  'RunNotFound',
  'NetworkTimeout',
];

function print({ summary, gate }: PastReport, output: Output): void {
  const { was, now } = summary;
  output.line('');
  output.line(
    `${summary.played} of ${plural(summary.runs, 'run')} played: ${summary.same_end} with the same end, ${summary.same_effects} with the same effects, ${summary.unmatched} asked something that was never recorded`,
  );
  output.line(
    `completed ${was.completed} → ${now.completed}, calls of tools ${was.calls} → ${now.calls}, denied or invalid ${was.breaches} → ${now.breaches}, cost ${usd(was.cost_micro_usd)} → ${usd(now.cost_micro_usd)}`,
  );
  for (const one of gate.violations) output.line(`regression: ${one.rule}: ${violationText(one)}`);
  if (summary.played === 0) output.line('No run was played, so nothing is shown.');
  else if (gate.passed) output.line('No regression.');
}
