/** `holdfast fork`: what a new run from the state after a step of a recorded one would begin with. */
import { Option, type Command } from 'commander';
import type { ForkPlan } from '../../recording/fork-plan.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { recordedOf } from '../desk/recorded.js';
import { inert } from '../render/index.js';
import { usd } from '../../evaluation/past/report.js';
import { usage, wholeNumber } from '../usage.js';

const STEP_MAX = 10_000_000;

/** Of a fork that is played, which this release cannot. */
const NOT_BUILT = [
  'dry',
  'live',
  'model <name>',
  'instructions <file>',
  'tool <name@version>',
  'policy <file>',
  'message <text>',
  'budget <key=value>',
  'result <call=json>',
  'config <file>',
  'rules <which>',
] as const;

interface ForkOptions extends CommonOptions {
  readonly at: number;
  readonly plan?: boolean;
}

export function addFork(program: Command, cli: Cli): void {
  const command = program
    .command('fork')
    .description(
      'Show what a fork of a recorded run would begin with after a step: which questions are asked anew, which approvals are dropped, what becomes of work in flight, and which calls with effects would ask a person before they are repeated. This release plays no fork: --plan is needed.',
    )
    .argument('<run-or-file>', 'run id, or a bundle that `holdfast export` wrote')
    .requiredOption('--at <step>', 'number of the step', wholeNumber('--at', [1, STEP_MAX]))
    .option('--plan', 'only show it; no run is started, no model and no tool is called');
  for (const one of NOT_BUILT) command.addOption(new Option(`--${one}`).hideHelp());
  withJson(
    withPlace(command),
    '{runId, step, spentMicroUsd, rules, askedAnew, droppedGrants, notExecuted, inFlight, divergences, handedOver: {before, after}}',
  )
    .addHelpText('after', examples('holdfast fork failure.json --at 7 --plan'))
    .action((subject: string, options: ForkOptions) =>
      runCommand(cli, options, async (session, output) => {
        refuseNotBuilt(options);
        const { bundle } = await recordedOf(cli, session, subject);
        const { foldOf } = await import('../../recording/fold.js');
        const { forkPlanAt } = await import('../../recording/fork-plan.js');
        const fold = foldOf(bundle);
        if (fold.kind === 'goal') {
          throw usage('Forks of goals are not built.', 'Name the run of one of its cycles.');
        }
        const plan = forkPlanAt(fold, bundle.events, options.at);
        output.data({ runId: fold.run.runId, ...plan });
        if (output.json) return;
        for (const line of linesOf(plan)) output.line(inert(line, LINE_CHARS_MAX));
        for (const { segment, step } of plan.divergences) {
          output.remark(
            `Calls of segment ${segment} from step ${step} on are not listed: the record differs there.`,
          );
        }
      }),
    );
}

const LINE_CHARS_MAX = 400;

function refuseNotBuilt(options: ForkOptions): void {
  const given = NOT_BUILT.map((one) => one.split(' ')[0]!).find((name) => name in options);
  if (given !== undefined) {
    throw usage(
      `--${given} is not built: this release plays no fork.`,
      'See what a fork would begin with by --plan; play the run with another model or configuration by `holdfast eval --from FOLDER --at STEP`.',
    );
  }
  if (options.plan === true) return;
  throw usage('This release plays no fork.', 'See what a fork would begin with by --plan.');
}

function linesOf(plan: ForkPlan): readonly string[] {
  const { step, spentMicroUsd, rules, handedOver } = plan;
  return [
    `After step ${step}: ${usd(spentMicroUsd)} spent, rules ${rules}`,
    ...plan.askedAnew.map(({ id, kind, tool }) => `asked anew       ${id} ${kind} ${tool ?? ''}`),
    ...plan.droppedGrants.map(({ id, tool }) => `grant dropped    ${id} ${tool}`),
    ...plan.notExecuted.map(({ name, n }) => `not executed     sub-agent ${n} ${name}`),
    ...plan.inFlight.map(
      ({ effectId, tool, becomes }) => `in flight        ${effectId} ${tool ?? ''}: ${becomes}`,
    ),
    ...[...handedOver.before, ...handedOver.after].map(
      (one) => `asks to repeat   ${one.tool} ${one.callId} (handed over in step ${one.step})`,
    ),
  ];
}
