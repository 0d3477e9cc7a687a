/** `holdfast schedule`: runs and goals at times, by Temporal's own schedules. */
import type { Command } from 'commander';
import { type Overlap, type Ticks } from '../../../client/schedules/check-schedule.js';
import type { ScheduleHandle, ScheduleSummary, ScheduleView } from '../../../client/index.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../../command.js';
import { tenantOf, withTenant, type TenantOptions } from '../../desk/actor.js';
import { moment } from '../../desk/times.js';
import {
  dateTimeText,
  durationText,
  inert,
  plural,
  relativeText,
  table,
} from '../../render/index.js';
import type { Session } from '../../session.js';
import type { Output } from '../../terminal/output.js';

import { addCreate, OVERLAP_HELP, overlapOf } from './create.js';

type Options = CommonOptions & TenantOptions;

const NOTED = {
  pause: 'Hold a schedule: no tick starts anything until it is resumed.',
  resume: 'Let a paused schedule go on.',
} as const;

export function addSchedule(program: Command, cli: Cli): void {
  const schedule = program
    .command('schedule')
    .description(
      "Start runs or goals at times, by Temporal's schedules. Runs and goals that a tick starts have the id SCHEDULE-TIME, as nightly-2026-11-23T09:00:00Z: each tick once, however often it is backfilled.",
    );
  addCreate(schedule, cli);
  addList(schedule, cli);
  addShow(schedule, cli);
  addNoted(schedule, cli, 'pause');
  addNoted(schedule, cli, 'resume');
  addTrigger(schedule, cli);
  addBackfill(schedule, cli);
  addDelete(schedule, cli);
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
  const why = note === undefined || note === 'paused' ? '' : ` (${inert(note, 500)})`;
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

function addNoted(schedule: Command, cli: Cli, name: keyof typeof NOTED): void {
  const command = schedule
    .command(name)
    .description(NOTED[name])
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
        output.line(
          output.paint.own(`Asked for. See the started ones: holdfast schedule show ${inert(id)}`),
        );
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
    .requiredOption(
      '--from <time>',
      'how long ago (7d), a date or a time: 2026-11-01',
      moment('--from'),
    )
    .requiredOption('--to <time>', 'the same', moment('--to'))
    .option(
      '--overlap <policy>',
      `${OVERLAP_HELP} (default buffer_all: one after the other)`,
      overlapOf,
    );
  withJson(withPlace(withTenant(command)), '{scheduleId, done, starts: [ids]}')
    .addHelpText(
      'after',
      examples('holdfast schedule backfill nightly --from 2026-11-01 --to 2026-11-08'),
    )
    .action((id: string, options: BackfillOptions) =>
      runCommand(cli, options, async (session, output) => {
        const { from, to, overlap } = options;
        const client = (await session.client()).forTenant(tenantOf(options));
        const { scheduleId, backfill } = client.schedule(id);
        const starts = await backfill({ from, to }, overlap);
        output.data({ scheduleId, done: 'backfill', starts });
        for (const started of starts) output.line(started);
        const taken = `${plural(starts.length, 'tick')} taken up`;
        output.remark(`${taken}; ticks that had started something before start nothing again.`);
      }),
    );
}

function addDelete(schedule: Command, cli: Cli): void {
  const command = schedule
    .command('delete')
    .description('Delete a schedule. Runs and goals that were started go on.')
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
