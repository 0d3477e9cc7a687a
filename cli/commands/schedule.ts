/** `holdfast schedule`: runs and goals at times, by Temporal's own schedules. */
import type { Command } from 'commander';
import {
  OVERLAPS,
  type Overlap,
  type ScheduleOptions,
  type Ticks,
} from '../../client/schedules/check-schedule.js';
import type { ScheduleHandle, ScheduleSummary, ScheduleView } from '../../client/index.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { tenantOf, withTenant, type TenantOptions } from '../desk/actor.js';
import { parseBudgetOptions, parseSettingOptions } from '../desk/assignments.js';
import { dateTimeText, durationText, inert, relativeText, table } from '../render/index.js';
import type { Session } from '../session.js';
import { parseDuration } from '../terminal/duration.js';
import type { Output } from '../terminal/output.js';
import { readTaskInput } from '../terminal/task-input.js';
import { collect, usage } from '../usage.js';
import { readGoal, startBudget } from './goal/goal-input.js';

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

const OVERLAP_HELP = `while what an earlier tick started is still open: ${OVERLAPS.join(', ')}`;

export function addSchedule(program: Command, cli: Cli): void {
  const schedule = program
    .command('schedule')
    .description(
      "Start runs or goals at times, by Temporal's schedules. What a tick starts has the id SCHEDULE-TIME, as nightly-2026-11-23T09:00:00Z: each tick once, however often it is backfilled.",
    );
  addCreate(schedule, cli);
  addList(schedule, cli);
  addShow(schedule, cli);
  addNoted(schedule, cli, 'pause', 'No tick starts anything until the schedule is resumed.');
  addNoted(schedule, cli, 'resume', 'Let a paused schedule go on.');
  addTrigger(schedule, cli);
  addBackfill(schedule, cli);
  addDelete(schedule, cli);
}

function addCreate(schedule: Command, cli: Cli): void {
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
        output.line(`Made. See it: holdfast schedule show ${scheduleId}`);
      }),
    );
}

interface Asked {
  readonly id: string;
  readonly words: readonly string[];
  readonly options: CreateOptions;
}

/** Everything that can be wrong is found before the server is asked, as far as this side knows it. */
async function wantedOf(
  cli: Cli,
  session: Session,
  { id, words, options }: Asked,
): Promise<ScheduleOptions> {
  const { agent, goal, overlap, catchup, paused, note } = options;
  if ((agent === undefined) === (goal === undefined)) {
    throw usage('A schedule starts runs (--agent) or goals (--goal): give one of the two.');
  }
  const ticks = ticksOf(options);
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
  { words, options }: Pick<Asked, 'words' | 'options'>,
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

function timeOf(name: string, text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw usage(`${name} must be a time such as 90s, 6h or 1d, not "${text.slice(0, 40)}".`);
}

function overlapOf(text: string): Overlap {
  const known = OVERLAPS.find((one) => one === text);
  if (known !== undefined) return known;
  throw usage(`There is no policy "${text.slice(0, 40)}".`, `Known: ${OVERLAPS.join(', ')}.`);
}

/** ISO 8601 with its zone, so that nobody is surprised. */
function momentOf(name: string) {
  return (text: string): number => {
    const at = /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(at)) return at;
    throw usage(`${name} must be a time such as 2026-11-01T00:00:00Z, not "${text.slice(0, 40)}".`);
  };
}

function addList(schedule: Command, cli: Cli): void {
  const command = schedule.command('list').description('List the schedules.');
  withJson(withPlace(withTenant(command)), '{schedules: […]}')
    .addHelpText('after', examples('holdfast schedule list'))
    .action((options: Options) =>
      runCommand(cli, options, async (session, output) => {
        const client = (await session.clientWithoutStore()).forTenant(tenantOf(options));
        const schedules = await client.listSchedules();
        output.data({ schedules });
        if (schedules.length === 0) return output.line('No schedules.');
        const now = Date.now();
        output.line(
          table({
            head: ['schedule', 'starts', 'when', 'next', 'wanted'],
            rows: schedules.map((one) => rowOf(one, now)),
            paint: output.paint,
          }),
        );
      }),
    );
}

function rowOf(schedule: ScheduleSummary, now: number): readonly string[] {
  const { scheduleId, starts, agent, ticks, paused, next, summary } = schedule;
  const [first] = next;
  const when = first === undefined ? 'never' : relativeText(first, now);
  const shown = paused ? 'paused' : when;
  return [scheduleId, `${starts} of ${agent}`, ticksText(ticks), shown, summary.slice(0, 80)];
}

function ticksText(ticks: Ticks): string {
  if ('everyMs' in ticks) return `every ${durationText(ticks.everyMs)}`;
  return `${ticks.cron} (${ticks.timezone})`;
}

function addShow(schedule: Command, cli: Cli): void {
  const command = schedule
    .command('show')
    .description('Show a schedule: when it starts what, and what it has started last.')
    .argument('<schedule>', 'id of the schedule');
  withJson(withPlace(withTenant(command)), '{scheduleId, starts, ticks, paused, next, started, …}')
    .addHelpText('after', examples('holdfast schedule show nightly'))
    .action((id: string, options: Options) =>
      runCommand(cli, options, async (session, output) => {
        const view = await (await scheduleAt(session, id, options)).show();
        output.data(view);
        if (!output.json) print(view, output);
      }),
    );
}

function print(view: ScheduleView, output: Output): void {
  const { scheduleId, starts, agent, summary, ticks, overlap, paused, note, next, started } = view;
  const { paint } = output;
  output.line(
    `${paint.bold(inert(scheduleId))} ${starts}s of ${inert(agent)}: “${inert(summary)}”`,
  );
  output.line(`${inert(ticksText(ticks))} · overlap ${overlap} · ${view.count} started`);
  const why = note === undefined ? '' : ` (${inert(note, 500)})`;
  if (paused) output.line(paint.yellow(`Paused${why}`));
  for (const at of next.slice(0, 3)) output.line(`next ${dateTimeText(at)}`);
  if (started.length === 0) return;
  const rows = started.map(({ id, at }) => [id, dateTimeText(at)]);
  output.line(table({ head: [starts, 'started'], rows, paint }));
}

async function scheduleAt(session: Session, id: string, options: Options): Promise<ScheduleHandle> {
  const client = await session.clientWithoutStore();
  return client.forTenant(tenantOf(options)).schedule(id);
}

function addNoted(schedule: Command, cli: Cli, name: 'pause' | 'resume', what: string): void {
  const command = schedule
    .command(name)
    .description(what)
    .argument('<schedule>', 'id of the schedule')
    .option('--note <text>', 'why');
  withJson(withPlace(withTenant(command)), '{scheduleId, done}')
    .addHelpText('after', examples(`holdfast schedule ${name} nightly --note 'Maintenance'`))
    .action((id: string, options: Options & { readonly note?: string }) =>
      runCommand(cli, options, async (session, output) => {
        const { note } = options;
        await (await scheduleAt(session, id, options))[name](note);
        output.data({ scheduleId: id, done: name });
        output.line(name === 'pause' ? 'Paused.' : 'Goes on.');
      }),
    );
}

function addTrigger(schedule: Command, cli: Cli): void {
  const command = schedule
    .command('trigger')
    .description('Start one now, beside the ticks.')
    .argument('<schedule>', 'id of the schedule')
    .option('--overlap <policy>', `${OVERLAP_HELP} (default allow_all)`, overlapOf);
  withJson(withPlace(withTenant(command)), '{scheduleId, done}')
    .addHelpText('after', examples('holdfast schedule trigger nightly'))
    .action((id: string, options: Options & { readonly overlap?: Overlap }) =>
      runCommand(cli, options, async (session, output) => {
        await (await scheduleAt(session, id, options)).trigger(options.overlap);
        output.data({ scheduleId: id, done: 'trigger' });
        output.line(`Asked for. What it started: holdfast schedule show ${inert(id)}`);
      }),
    );
}

interface BackfillOptions extends Options {
  readonly from: number;
  readonly to: number;
  readonly overlap?: Overlap;
}

function addBackfill(schedule: Command, cli: Cli): void {
  const command = schedule
    .command('backfill')
    .description(
      'Take up the ticks of a span that has passed, at most 1,000. A tick that has started something starts nothing again.',
    )
    .argument('<schedule>', 'id of the schedule')
    .requiredOption('--from <time>', 'ISO 8601 with its zone', momentOf('--from'))
    .requiredOption('--to <time>', 'the same', momentOf('--to'))
    .option(
      '--overlap <policy>',
      `${OVERLAP_HELP} (default buffer_all: one after the other)`,
      overlapOf,
    );
  withJson(withPlace(withTenant(command)), '{scheduleId, done, starts: [ids]}')
    .addHelpText(
      'after',
      examples(
        'holdfast schedule backfill nightly --from 2026-11-01T00:00:00Z --to 2026-11-08T00:00:00Z',
      ),
    )
    .action((id: string, options: BackfillOptions) =>
      runCommand(cli, options, async (session, output) => {
        const { from, to, overlap } = options;
        const client = (await session.client()).forTenant(tenantOf(options));
        const { scheduleId, backfill } = client.schedule(id);
        const starts = await backfill({ from, to }, overlap);
        output.data({ scheduleId, done: 'backfill', starts });
        for (const started of starts) output.line(started);
        output.remark(`${starts.length} ticks are taken up; the others had started before.`);
      }),
    );
}

function addDelete(schedule: Command, cli: Cli): void {
  const command = schedule
    .command('delete')
    .description('Delete a schedule. What it has started goes on.')
    .argument('<schedule>', 'id of the schedule');
  withJson(withPlace(withTenant(command)), '{scheduleId, done}')
    .addHelpText('after', examples('holdfast schedule delete nightly'))
    .action((id: string, options: Options) =>
      runCommand(cli, options, async (session, output) => {
        await (await scheduleAt(session, id, options)).delete();
        output.data({ scheduleId: id, done: 'delete' });
        output.line('Deleted.');
      }),
    );
}
