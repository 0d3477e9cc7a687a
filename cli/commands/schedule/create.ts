/** `holdfast schedule create`. */
import type { Command } from 'commander';
import {
  checkTicks,
  OVERLAPS,
  type Overlap,
  type ScheduleOptions,
  type Ticks,
} from '../../../client/schedules/check-schedule.js';
import { HoldfastError } from '../../../core/state/errors.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../../command.js';
import { tenantOf, withTenant, type TenantOptions } from '../../desk/actor.js';
import { parseBudgetOptions, parseSettingOptions } from '../../desk/assignments.js';
import type { Session } from '../../session.js';
import { parseDuration } from '../../terminal/duration.js';
import { readTaskInput } from '../../terminal/task-input.js';
import { collect, oneOf, usage } from '../../usage.js';
import { readGoal, startBudget } from '../goal/goal-input.js';

type Options = CommonOptions & TenantOptions;

interface CreateOptions extends Options {
  readonly agent?: string;
  readonly file?: string;
  readonly goal?: string;
  readonly cron?: string;
  readonly timezone?: string;
  readonly every?: string;
  readonly overlap?: Overlap;
  readonly catchup?: string;
  readonly paused?: boolean;
  readonly note?: string;
  readonly caller?: string;
  readonly model?: string;
  readonly budget?: readonly string[];
  readonly setting?: readonly string[];
}

export const OVERLAP_HELP = `while what an earlier tick started is still open: ${OVERLAPS.join(', ')}`;

export function addCreate(schedule: Command, cli: Cli): void {
  const command = schedule
    .command('create')
    .description('Make a schedule for runs of an agent (--agent) or for goals (--goal).')
    .argument('<schedule>', 'id of the schedule, at most 75 characters')
    .argument('[task...]', 'with --agent: what each run is to achieve')
    .option('--agent <name>', 'start runs of this agent')
    .option('--file <file>', 'with --agent: the task as JSON or text; - is standard input')
    .option(
      '--goal <goal>',
      'start goals: a name of the configuration, a .json or .yaml file, or -',
    )
    .option('--cron <line>', "five fields, such as '0 9 * * 1-5'")
    .option('--timezone <zone>', 'with --cron: an IANA time zone, such as Europe/Zurich')
    .option('--every <time>', 'in place of --cron: 90s, 6h, 1d')
    .option('--overlap <policy>', `${OVERLAP_HELP} (default skip)`, overlapOf)
    .option('--catchup <time>', 'how late a tick is taken up when the server was away (default 1h)')
    .option('--paused', 'make it paused')
    .option('--note <text>', 'why it is there, or paused')
    .option('--caller <name>', 'who asks; never counts as an approver')
    .option('--model <route>', "with --agent: a model in place of the agent's own")
    .option('--budget <name=value>', 'limit of each run or goal; repeatable', collect)
    .option('--setting <name=value>', 'with --agent: setting of each run; repeatable', collect);
  withJson(withPlace(withTenant(command)), '{scheduleId}')
    .addHelpText(
      'after',
      examples(
        "holdfast schedule create nightly --agent clerk 'Close the open tickets' --cron '0 3 * * *' --timezone UTC",
        'holdfast schedule create dunning --goal goal.yaml --every 7d --overlap buffer_one',
      ),
    )
    .action((id: string, words: readonly string[], options: CreateOptions) =>
      runCommand(cli, options, async (session, output) => {
        const wanted = await wantedOf(cli, session, { id, words, options });
        const client = (await session.client()).forTenant(tenantOf(options));
        const { scheduleId } = await client.createSchedule(wanted);
        output.data({ scheduleId });
        output.line(output.paint.own(`Made. See it: holdfast schedule show ${scheduleId}`));
      }),
    );
}

interface ScheduleWords {
  readonly id: string;
  readonly words: readonly string[];
  readonly options: CreateOptions;
}

/** Everything that can be wrong is found before the server is asked, as far as this side knows it. */
async function wantedOf(
  cli: Cli,
  session: Session,
  { id, words, options }: ScheduleWords,
): Promise<ScheduleOptions> {
  const { agent, goal, overlap, catchup, paused, note } = options;
  if ((agent === undefined) === (goal === undefined)) {
    throw usage('A schedule starts runs (--agent) or goals (--goal): give one of the two.');
  }
  const ticks = checked(ticksOf(options));
  const starts =
    goal === undefined
      ? await runOf(cli, words, options)
      : await goalOf(cli, session, { words, options });
  return {
    scheduleId: id,
    ticks,
    ...starts,
    ...(overlap !== undefined && { overlap }),
    ...(catchup !== undefined && { catchupMs: timeOf('--catchup', catchup) }),
    ...(paused !== undefined && { paused }),
    ...(note !== undefined && { note }),
  };
}

async function runOf(
  { environment }: Cli,
  words: readonly string[],
  options: CreateOptions,
): Promise<Pick<ScheduleOptions, 'run'>> {
  const { agent = '', file, caller, model, budget, setting } = options;
  const source = { words, folder: environment.folder, ...(file !== undefined && { file }) };
  const input = await readTaskInput(source);
  const task = caller === undefined ? input.task : { ...input.task, caller };
  return {
    run: {
      agent,
      task,
      budget: { ...input.budget, ...parseBudgetOptions(budget) },
      settings: { ...input.settings, ...parseSettingOptions(setting) },
      ...(model !== undefined && { model }),
    },
  };
}

async function goalOf(
  { environment, input }: Cli,
  session: Session,
  { words, options }: Pick<ScheduleWords, 'words' | 'options'>,
): Promise<Pick<ScheduleOptions, 'goal'>> {
  const { goal = '', caller, budget, file, model, setting } = options;
  if (words.length > 0 || file !== undefined || model !== undefined || setting !== undefined) {
    throw usage('A task, --file, --model and --setting go with --agent; a goal says all of it.');
  }
  const { folder } = environment;
  const source = { named: goal, folder, input, budget: startBudget(budget) };
  const definition = await readGoal(session, source);
  return { goal: { definition, ...(caller !== undefined && { caller }) } };
}

function ticksOf({ cron, timezone, every }: CreateOptions): Ticks {
  if ((cron === undefined) === (every === undefined)) {
    throw usage('Say when: --cron with --timezone, or --every.');
  }
  if (every !== undefined) {
    if (timezone !== undefined) throw usage('--timezone goes with --cron.');
    return { everyMs: timeOf('--every', every) };
  }
  if (timezone === undefined) {
    throw usage('A cron line needs a time zone.', 'Add --timezone, such as Europe/Zurich or UTC.');
  }
  return { cron: cron ?? '', timezone };
}

const RIGHT: { readonly [field: string]: readonly [option: string, hint: string] } = {
  everyMs: ['--every', 'Write it as 90s, 6h or 1d.'],
  cron: ['--cron', "Write five fields, such as '0 9 * * 1-5'."],
  timezone: ['--timezone', 'Write an IANA time zone, such as Europe/Zurich or UTC.'],
};

/** A mistake is told of the option that has it. */
function checked(ticks: Ticks): Ticks {
  try {
    return checkTicks(ticks);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const field = String(error.details?.['path']).split('.').at(-1) ?? '';
    const [option, hint] = RIGHT[field] ?? [];
    if (option === undefined) throw error;
    throw usage(error.message.replace(/^The schedule: \S+ /, `${option} `), hint);
  }
}

function timeOf(name: string, text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw usage(`${name} must be a time such as 90s, 6h or 1d, not "${text.slice(0, 40)}".`);
}

export const overlapOf = oneOf('policy', OVERLAPS);
