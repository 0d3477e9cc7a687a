/** `holdfast fork`: a new run from the state after a step of a recorded one, played dry, or only what it would begin with. */
import type { Command } from 'commander';
import { examples, runCommand, withJson, withPlace, type Cli } from '../command.js';
import { oneRecordedOf } from '../desk/recorded.js';
import type { Session } from '../session.js';
import { usage, wholeNumber } from '../usage.js';
import { changesNamed, meansNothing, withChanges, type ForkOptions } from './fork-options.js';

const STEP_MAX = 10_000_000;

export function addFork(program: Command, cli: Cli): void {
  const command = program
    .command('fork')
    .description(
      'Play a fork of a recorded run: it begins from the state after a step, with the named changes. Played dry, which is the default, the model is asked in earnest, reads run by the code of --config or answer from the record, and effects answer `would_execute` and are listed. --plan only shows what a fork would begin with. --live starts a new run on the server, whose effects happen: a call that the recorded run, a run of its tree, or a fork of one of these handed over asks a person first. A fork of a goal is a new goal that goes on from its checkpoint with what is left of its limits: --plan and --live, --budget and --message.',
    )
    .argument('<run-or-file>', 'run id, or a bundle that `holdfast export` wrote')
    .requiredOption('--at <step>', 'number of a step, or "last"', stepNumber)
    .option(
      '--run <run>',
      'a run below it: its id, or what that has behind the other, such as a1 or c2:a1',
    )
    .option('--plan', 'only show what it would begin with; no model and no tool is called')
    .option('--dry', 'without effects (the default)')
    .option('--live', 'as a new run on the server: its effects happen');
  withJson(
    withPlace(withChanges(command)),
    '{mode: "dry", runId, step, rules, stopReason, detail?, answer?, waitsFor?, wouldExecute: [{tool, callId, args, digest, asks, repeats?}], reads: [{tool, callId, from}], costMicroUsd, totalCostMicroUsd, turns, leftOut}; with --live {mode: "live", runId, forked, messageRead?}; with --plan {runId, step, spentMicroUsd, rules, askedAnew, droppedGrants, notExecuted, inFlight, divergences, handedOver: {before, after, family?: [{key, runId, tool, at, state}], familyMore?, storeProblem?}}',
  )
    .addHelpText(
      'after',
      examples(
        'holdfast fork failure.json --at 7 --plan',
        'holdfast fork failure.json --at 7 --model anthropic/claude-sonnet-5-5 --json',
        'holdfast fork goal.json --run c2 --at 7 --plan',
        "holdfast fork run_01J… --at 7 --dry --config holdfast.config.ts --message 'Look at the order first.'",
      ),
    )
    .action((subject: string, asked: WrittenForkOptions) =>
      runCommand(cli, asked, async (session, output) => {
        refuseWrong(asked);
        const { at: place } = asked;
        const at =
          place === 'last' ? await lastStep(cli, session, { subject, member: asked.run }) : place;
        const options: ForkOptions = { ...asked, at };
        if (options.plan === true) {
          const { showPlan } = await import('./fork-planned.js');
          if (await showPlan(cli, { subject, options, session }, output)) return;
        }
        const recorded = await oneRecordedOf(cli, session, { subject, member: options.run });
        const { bundle } = recorded;
        const { foldOf } = await import('../../recording/fold.js');
        const fold = foldOf(bundle);
        if (fold.kind === 'goal') {
          const { forkOfGoal } = await import('./fork-goal.js');
          return forkOfGoal(cli, { fold, subject, recorded, session, options }, output);
        }
        if (options.live === true) {
          const { forkLive } = await import('./fork-live.js');
          return forkLive(cli, { fold, recorded, options, session }, output);
        }
        const { forkDry } = await import('./fork-dry.js');
        return forkDry(cli, { fold, bundle, options }, output);
      }),
    );
}

type WrittenForkOptions = Omit<ForkOptions, 'at'> & { readonly at: number | 'last' };

function stepNumber(text: string): WrittenForkOptions['at'] {
  return text === 'last' ? text : wholeNumber('--at', [1, STEP_MAX])(text);
}

async function lastStep(
  cli: Cli,
  session: Session,
  recorded: Parameters<typeof oneRecordedOf>[2],
): Promise<number> {
  const { bundle } = await oneRecordedOf(cli, session, recorded);
  const { foldOf } = await import('../../recording/fold.js');
  return foldOf(bundle).steps.length;
}

function refuseWrong(options: WrittenForkOptions): void {
  if (options.live === true && (options.dry === true || options.plan === true)) {
    throw usage('--live means nothing with --dry or --plan.', 'Name one of them.');
  }
  // The plan of a goal says what is left of its limits.
  const [named] = changesNamed(options).filter((name) => name !== 'budget');
  if (options.plan === true && (options.dry === true || named !== undefined)) {
    throw meansNothing(named ?? 'dry');
  }
  if (options.rules !== undefined && options.rules !== 'newest') {
    throw usage(
      '--rules knows one word: newest.',
      'Leave it out to follow the rules of the recorded run.',
    );
  }
}
