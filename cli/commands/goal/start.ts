/** `holdfast goal start`, `restart` and `check`. */
import type { Command } from 'commander';
import { checkGoalId } from '../../../client/goals/check-goal.js';
import type { GoalHandle } from '../../../client/index.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../../command.js';
import { commandHints } from '../../desk/actor.js';
import { followGoal } from '../../terminal/follow-goal.js';
import { heldUpRemarks } from '../../terminal/held-up.js';
import type { Output } from '../../terminal/output.js';
import { inert, inertJson, plural, shellWord, usdText } from '../../render/index.js';
import type { Session } from '../../session.js';
import { collect, usage } from '../../usage.js';
import { readGoal, startBudget } from './goal-input.js';
import { readSteps } from './plan.js';

interface FollowOptions extends CommonOptions {
  readonly id?: string;
  readonly caller?: string;
  readonly budget?: readonly string[];
  readonly wait?: boolean;
  readonly detach?: boolean;
  readonly watch?: boolean;
}

const SHAPE =
  '{goalId, status, result} or {goalId, status, runId, asks}; with --watch one event per line';

function withFollowing(command: Command): Command {
  return command
    .option('--caller <name>', 'who starts it: decides nothing in it')
    .option(
      '--budget <name=value>',
      "limit in place of the definition's, e.g. maxCostUsd=5, maxCycles=20, deadlineMs=30d; repeatable",
      collect,
    )
    .option('--watch', "print the goal's events as they happen, and go on through approvals")
    .option('--detach', 'return when the goal is open')
    .option('--wait', 'start also when no worker serves the agent, and wait for one')
    .option('--no-wait', 'return at once, without waiting for a worker to open it');
}

export function addGoalStart(goal: Command, cli: Cli): void {
  const command = goal
    .command('start')
    .description(
      'Start a goal and follow it: progress goes to standard error. When a person is needed, the command says how to answer and exits with 4; the goal itself goes on, also after Ctrl-C.',
    )
    .argument('<goal>', 'name of a goal of the configuration, a .json or .yaml file, or -')
    .option(
      '--id <id>',
      'id of the goal (at most 96 characters); the same id with the same definition gives the goal that exists',
    );
  withJson(withPlace(withFollowing(command)), SHAPE)
    .addHelpText(
      'after',
      examples(
        "holdfast goal start invoices                 # goals: [defineGoal({name: 'invoices', …})]",
        'holdfast goal start goal.yaml --id march --detach',
        'holdfast goal start goal.yaml --budget maxCostUsd=5 --budget deadlineMs=30d --watch',
      ),
    )
    .action((named: string, options: FollowOptions) =>
      runCommand(cli, options, async (session, output) => {
        checkFollowing(options);
        const { id, caller, wait } = options;
        const goalId = id === undefined ? undefined : checkGoalId(id);
        const definition = await readGoal(session, {
          named,
          folder: cli.environment.folder,
          input: cli.input,
          budget: startBudget(options.budget),
        });
        const client = await session.client();
        const started = await client.startGoal({
          definition,
          ...(goalId !== undefined && { goalId }),
          ...(caller !== undefined && { caller }),
          ...(wait !== undefined && { wait }),
          onHeldUp: heldUpRemarks(output),
        });
        return follow(started, { cli, session, output, options });
      }),
    );
}

interface RestartOptions extends FollowOptions {
  readonly from?: string;
  readonly plan?: string;
}

export function addGoalRestart(goal: Command, cli: Cli): void {
  const command = goal
    .command('restart')
    .description(
      'Go on with a goal as a new one: plan, state and measurements are carried over, money and counts begin from zero.',
    )
    .argument('<goal>', 'id of the goal to go on with')
    .option('--id <id>', 'id of the new goal')
    .option('--from <checkpoint>', 'id of a checkpoint; default: the newest')
    .option('--plan <file>', 'steps in place of the plan, as JSON or YAML');
  withJson(withPlace(withFollowing(command)), SHAPE)
    .addHelpText(
      'after',
      examples(
        'holdfast goal restart march --id april --budget maxCostUsd=5 --detach',
        'holdfast goal restart march --plan plan.yaml --watch',
      ),
    )
    .action((goalId: string, options: RestartOptions) =>
      runCommand(cli, options, async (session, output) => {
        checkFollowing(options);
        const { id, from, plan, caller, wait } = options;
        const budget = startBudget(options.budget);
        const steps = plan && (await readSteps(cli.environment.folder, plan));
        const client = await session.client();
        const started = await client.restartGoal(checkGoalId(goalId), {
          budget,
          ...(id !== undefined && { goalId: checkGoalId(id) }),
          ...(from !== undefined && { from }),
          ...(steps && { plan: steps }),
          ...(caller !== undefined && { caller }),
          ...(wait !== undefined && { wait }),
          onHeldUp: heldUpRemarks(output),
        });
        return follow(started, { cli, session, output, options });
      }),
    );
}

export function addGoalCheck(goal: Command, cli: Cli): void {
  const command = goal
    .command('check')
    .description(
      "Check a goal's definition without starting it, and show it with every default. Left for the start is what only a worker knows: agents, tools, models and what a request costs.",
    )
    .argument('<goal>', 'name of a goal of the configuration, a .json or .yaml file, or -');
  withJson(withPlace(command), '{definition}')
    .addHelpText(
      'after',
      examples('holdfast goal check goal.yaml', 'holdfast goal check - < goal.json'),
    )
    .action((named: string, options: CommonOptions) =>
      runCommand(cli, options, async (session, output) => {
        const { folder } = cli.environment;
        const definition = await readGoal(session, { named, folder, input: cli.input });
        output.data({ definition });
        const { objective, agent, budget, cycle } = definition;
        output.line(`“${inert(objective)}”`);
        output.line(
          `Agent ${inert(agent)}; ${usdText(budget.maxCostMicroUsd)} in all, ${usdText(cycle.maxCostMicroUsd)} a cycle, at most ${plural(budget.maxCycles, 'cycle')}.`,
        );
        for (const line of inertJson(definition, 200_000)) output.line(line);
        output.remark(
          'The definition is complete. Agents, tools, models and what a request costs are looked at by the start.',
        );
      }),
    );
}

function checkFollowing({ watch, detach, wait }: FollowOptions): void {
  if (watch && (detach || wait === false)) {
    throw usage('--watch follows the goal; it does not go with --detach or --no-wait.');
  }
}

interface Started {
  readonly cli: Cli;
  readonly session: Session;
  readonly output: Output;
  readonly options: FollowOptions;
}

function follow(
  goal: GoalHandle,
  { cli, session, output, options }: Started,
): Promise<number> | undefined {
  const { goalId } = goal;
  if (!output.json) output.remark(starterRemark(options.caller));
  if (options.wait === false || options.detach) {
    output.data({ goalId, status: options.wait === false ? 'started' : 'open' });
    output.line(goalId);
    return undefined;
  }
  output.remark(`goal ${goalId}`);
  output.remark(
    `Following; Ctrl-C leaves it running. Later: holdfast goal watch ${shellWord(goalId)}`,
  );
  const following = { output, hints: commandHints(cli, session) };
  return followGoal(goal, following, { everything: options.watch === true });
}

/** Whoever starts a goal decides nothing in it, if the goal knows who that is. */
function starterRemark(caller: string | undefined): string {
  return caller === undefined
    ? 'No starter is named (--caller NAME): whoever started this goal may decide in it as well.'
    : `Started by ${inert(caller)}, who decides nothing in it.`;
}
