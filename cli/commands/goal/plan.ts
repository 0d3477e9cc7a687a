/** `holdfast goal plan`: shows a goal's plan, or puts another in its place. */
import type { Command } from 'commander';
import { parseDataText } from '../../../authoring/goal/goal-file.js';
import { HoldfastError } from '../../../core/state/errors.js';
import type { ProposedStep } from '../../../core/state/goal/proposal.js';
import { tenantOf, withActor, withTenant, type TenantOptions } from '../../desk/actor.js';
import { examples, runCommand, withJson, withPlace, type Cli } from '../../command.js';
import { REQUEST_ID } from '../../desk/request-id.js';
import { planLines } from '../../render/index.js';
import { wholeNumber } from '../../usage.js';
import { readSmallFile } from './goal-input.js';
import { sayTo, type TellOptions } from './tell.js';

interface PlanOptions extends TellOptions, TenantOptions {
  readonly set?: string;
  readonly revision?: number;
}

export function addGoalPlan(goal: Command, cli: Cli): void {
  const command = goal
    .command('plan')
    .description("Show a goal's plan with what proves each step, or set another one (--set).")
    .argument('<goal>', 'goal id')
    .option(
      '--set <file>',
      'steps {id, title, status?, note?, evidence?} as JSON or YAML, or {steps: […]}',
    )
    .option(
      '--revision <number>',
      'with --set: of the plan that you looked at; refused when it has changed since',
      wholeNumber('--revision', [0, Number.MAX_SAFE_INTEGER]),
    )
    .option('--id <id>', `with --set: the same id again is ignored; over a desk ${REQUEST_ID}`);
  withJson(
    withPlace(withTenant(withActor(command, 'who sets the plan'))),
    '{goalId, plan}, with --set {goalId, id, delivered}',
  )
    .addHelpText(
      'after',
      examples(
        'holdfast goal plan march',
        'holdfast goal plan march --set plan.yaml --revision 4 --as mia',
      ),
    )
    .action((goalId: string, options: PlanOptions) =>
      runCommand(cli, options, async (session, output) => {
        const { set, revision } = options;
        if (set === undefined) {
          const client = (await session.client()).forTenant(tenantOf(options));
          const { plan } = await client.goal(goalId).record();
          output.data({ goalId, plan });
          for (const line of planLines(plan, output.paint)) output.line(line);
          return;
        }
        const steps = await readSteps(cli.environment.folder, set);
        const said = {
          type: 'setPlan',
          steps,
          ...(revision !== undefined && { revision }),
        } as const;
        await sayTo(cli, { session, output, goalId, options, said });
      }),
    );
}

/** Errors: InvalidTask. What a step may be is checked where it is sent. */
export async function readSteps(folder: string, file: string): Promise<readonly ProposedStep[]> {
  const value = parseDataText(await readSmallFile(folder, file), file);
  const steps = Array.isArray(value)
    ? value
    : (value as { readonly steps?: unknown } | null)?.steps;
  if (Array.isArray(steps)) return steps as readonly ProposedStep[];
  throw new HoldfastError(
    'InvalidTask',
    `The plan in ${file} cannot be used: it is no list of steps.`,
    {
      hint: 'Write a list of {id, title}, or {steps: […]}.',
    },
  );
}
