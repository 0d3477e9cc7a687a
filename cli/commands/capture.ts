/** `holdfast capture`: a recorded run as a case of `holdfast eval`. */
import { dirname, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Difference } from '../../evaluation/compare.js';
import type { HoldfastError } from '../../core/state/errors.js';
import type { FixtureDocument } from '../../evaluation/format/document.js';
import type { Bundle } from '../../replay/bundle.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { exactJson, inert, inertInline, plural, shellWord } from '../render/index.js';
import { oneRecordedOf, recordedOf } from '../desk/recorded.js';
import { someText } from '../desk/paging.js';
import { writeNewFile } from '../new-file.js';
import type { Output } from '../terminal/output.js';
import { usage, wholeNumber } from '../usage.js';
import { goalNotEnded, notAsRecorded, openIn } from './capture-refused.js';
import { fileNameOf, nothingToMatch, rulesIn } from './export.js';
import { redacted } from './exported.js';

const STEP_MAX = 10_000_000;
const LEFT_OUT_SHOWN = 10;

interface CaptureOptions extends CommonOptions {
  readonly output?: string;
  readonly until?: number;
  readonly run?: string;
  readonly expect?: readonly string[];
  readonly agent?: string;
  readonly redact?: string;
  readonly allowUnmatched?: boolean;
}

const HELP = `
The model of the case and its tools answer from the record; people say what they said, at the moment at
which they said it. A tool that is asked something that was never recorded refuses in words that say so.
The case has passed in the simulation as it was recorded, or no file is written.
Of a goal the case has every cycle, check, review and judgement; --run takes one cycle alone.
With --expect the case expects that alone: it fails until the code is mended, then it passes. The option may
be repeated; its keys are those of \`expected\` (docs/reference/cases.md in the package holdfast), dotted, its values JSON or text.
--redact hides texts as \`holdfast export --redact\` does.`;

export function addCapture(program: Command, cli: Cli): void {
  const command = program
    .command('capture')
    .description(
      'Make a recorded run into a case of `holdfast eval`: a test that needs neither server nor model. The file holds what the run has seen; --redact hides texts.',
    )
    .argument(
      '<run-or-file>',
      'the id of a run or a goal, or a bundle that `holdfast export` wrote',
    )
    .option('-o, --output <file>', 'where to (default RUN.case.json in the working directory)')
    .option(
      '--run <id>',
      'one run below it, by its id or the end of that, such as c2: a cycle of a goal',
      someText('--run'),
    )
    .option('--until <step>', 'only what had happened after this step', stepNumber)
    .option('--expect <key=value>', 'what the case expects in place of the record', collected)
    .option('--config <file>', 'the case is about the agent of this configuration, as it is then')
    .option('--agent <name>', 'agent of the configuration (default: the name of the recorded one)')
    .option('--redact <file>', 'rules for texts to hide')
    .option('--allow-unmatched', 'write the file also when a rule of --redact finds nothing');
  withJson(
    withPlace(command),
    '{runId, file, bytes, passes, differences, leftOut, redactions, needs?: [keys of the case]}',
  )
    .addHelpText(
      'after',
      `${HELP}\n${examples(
        'holdfast capture run_01J… -o cases/refund.json',
        "holdfast capture failure.json --expect 'stop_reason=completed'",
        'holdfast capture failure.json --until 14',
        'holdfast capture goal_01J… -o cases/march.json',
        'holdfast capture goal.json --run c2',
        'holdfast capture failure.json --config holdfast.config.ts --expect effects.issue_refund=0',
      )}`,
    )
    .action((subject: string, options: CaptureOptions) =>
      runCommand(cli, options, async (session, output) => {
        const { folder, variables } = cli.environment;
        const { redact, allowUnmatched = false } = options;
        if (options.output?.endsWith('.gz') === true)
          throw usage('A case is not packed.', 'Choose a name with .json.');
        const rules = redact === undefined ? undefined : await rulesIn(resolve(folder, redact));
        if (allowUnmatched && rules === undefined) throw nothingToMatch();
        const recorded =
          options.run === undefined
            ? await recordedOf(cli, session, subject)
            : await oneRecordedOf(cli, session, { subject, member: options.run });
        const bundle = await redacted(recorded.bundle, rules, allowUnmatched);
        const file = resolve(folder, options.output ?? fileNameOf(bundle.run.runId, 'case'));
        const captured = await captureOf(bundle, options, { file, folder });
        const text = `${exactJson(captured.document, 2)}\n`;
        const { refuseSecrets } = await import('../../evaluation/capture/secrets.js');
        refuseSecrets(text, variables);
        await writeNewFile(text, { file, what: 'case' });
        print({ ...captured, bundle, file, bytes: Buffer.byteLength(text) }, output);
      }),
    );
}

interface Captured {
  readonly document: FixtureDocument;
  /** In the simulation, now. */
  readonly differences: readonly Difference[];
  /** Keys of what the record has too little of, where the case fails; empty: it passes. */
  readonly needs: readonly string[];
  /** What the reader should know of the expectation. */
  readonly remarks: readonly string[];
}

async function captureOf(
  bundle: Bundle,
  { until, expect = [], config, agent }: CaptureOptions,
  { file, folder }: { readonly file: string; readonly folder: string },
): Promise<Captured> {
  const { capture } = await import('../../evaluation/capture/capture.js');
  const { differencesOf } = await import('../../evaluation/capture/check.js');
  const { neededFurther } = await import('../../evaluation/capture/further.js');
  const { expectationIn } = await import('../../evaluation/capture/expect.js');
  const expected = expect.length === 0 ? undefined : expectationIn(expect);
  const step = until === undefined ? {} : { until };
  const recorded = capture(bundle, step);
  const differences = await differencesOf(recorded, file);
  if (differences.length > 0) {
    const open = until === undefined ? openIn(bundle) : undefined;
    if (open !== undefined) throw goalNotEnded(open);
    throw notAsRecorded(differences, bundle.redactions.length > 0);
  }
  if (config === undefined && agent !== undefined) throw agentOfNothing();
  if (expected === undefined && config === undefined) {
    return { document: recorded, differences, needs: [], remarks: [] };
  }
  const document = capture(bundle, {
    ...step,
    ...(expected !== undefined && { expected }),
    ...(config !== undefined && {
      own: {
        config: relative(dirname(file), resolve(folder, config)),
        ...(agent !== undefined && { agent }),
      },
    }),
  });
  const found = await differencesOf(document, file);
  const { unknownTools } = await import('../../evaluation/capture/unknown-tools.js');
  const remarks = await unknownTools(document, { recorded, file });
  const needs = found.length > 0 ? neededFurther(document, found) : [];
  return { document, differences: found, needs, remarks };
}

function agentOfNothing(): HoldfastError {
  return usage(
    '--agent names an agent of a configuration.',
    'Name the configuration with --config.',
  );
}

interface Written extends Captured {
  readonly bundle: Bundle;
  readonly file: string;
  readonly bytes: number;
}

const FURTHER =
  'A mended run that goes further than the recorded one needs by hand more than the record has:';

function print(
  { document, differences, needs, remarks, bundle, file, bytes }: Written,
  output: Output,
): void {
  const { run, redactions } = bundle;
  const leftOut = document.captured?.leftOut ?? [];
  const passes = differences.length === 0;
  output.data({
    runId: run.runId,
    file,
    bytes,
    passes,
    differences,
    leftOut,
    redactions: redactions.map(({ rule, count }) => ({ rule, count })),
    ...(needs.length > 0 && { needs }),
  });
  output.line(`${run.runId}: a case of ${bytes} bytes in ${file}`);
  for (const { rule, count } of redactions)
    output.line(`  ${rule}: ${plural(count, 'place')} hidden`);
  for (const one of leftOut.slice(0, LEFT_OUT_SHOWN)) output.line(`  left out: ${inert(one, 200)}`);
  const [first] = differences;
  if (first === undefined) output.line('  The case passes in the simulation.');
  else {
    const values = `expected ${inertInline(first.expected, 200)}, observed ${inertInline(first.observed, 200)}`;
    output.line(`  The case fails in the simulation now: ${first.path}: ${values}.`);
    const keys = needs.map((key) => `\`${inert(key, 100)}\``).join(', ');
    const page = output.paint.own('docs/guide/failures.md in the package holdfast');
    output.line(`  ${FURTHER} ${keys} (${page}).`);
  }
  for (const one of remarks) output.remark(inert(one.trimEnd(), 400));
  output.line(output.paint.own(`  holdfast eval ${shellWord(file)} --engine both`));
}

function stepNumber(text: string): number {
  return wholeNumber('--until', [1, STEP_MAX])(text);
}

function collected(one: string, before: readonly string[] = []): readonly string[] {
  return [...before, one];
}
