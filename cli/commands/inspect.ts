/** `holdfast inspect`: a run as it was after any of its steps, from what was recorded of it. */
import type { Command } from 'commander';
import type { Fold } from '../../recording/fold.js';
import type { OpenRecord } from '../../replay/open-record.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import type { IndexBeside } from '../../replay/stream/index-beside.js';
import { fileOf, oneRecordedOf } from '../desk/recorded.js';
import type { Session } from '../session.js';
import { momentLines } from '../render/moment.js';
import type { Output } from '../terminal/output.js';
import { showDesk } from '../desk/bundle-desk.js';
import { someText } from '../desk/paging.js';
import { usage, wholeNumber } from '../usage.js';

interface InspectOptions extends CommonOptions {
  readonly at?: string;
  readonly kind?: string;
  readonly run?: string;
  readonly desk?: boolean;
  readonly port?: number;
}

export function addInspect(program: Command, cli: Cli): void {
  const command = program
    .command('inspect')
    .description(
      'Show a recorded run as it was after any step: its state, the request that the model saw, the rule that fired next and why. Made from the record alone: no model and no tool is called, and a file needs no server. Without --at, the index of its steps.',
    )
    .argument('<run-or-file>', 'run id, or a bundle that `holdfast export` wrote')
    .option('--at <step>', 'number of a step, or "last"', someText('--at'))
    .option(
      '--run <id>',
      'a run below it, by its id or the end of that, such as a1 or c2:a1; the index lists them',
      someText('--run'),
    )
    .option(
      '--kind <kind>',
      'of the index, only steps that received, fired or began this: for example call_model, execute_tool, decision, "close"',
      someText('--kind'),
    )
    .option('--desk', 'show a bundle on a page of this machine alone, read-only; Ctrl-C ends it')
    .option(
      '--port <number>',
      'with --desk: port of the page (default: a free one)',
      wholeNumber('A port', [0, 65_535]),
    );
  withJson(
    withPlace(command),
    '{runId, kind, source, steps: […], divergences, redactions, tree?: [{runId, parent, agent, status, …}]}, with --at {step, view, calls, request, reply?, why, next, state, …}, with --desk {console, token}',
  )
    .addHelpText(
      'after',
      examples(
        'holdfast inspect run_01J…',
        'holdfast inspect failure.json --kind execute_tool',
        'holdfast inspect failure.json --at 7',
        'holdfast inspect failure.json --run a1 --at 7',
        'holdfast inspect failure.json --at last --json',
        'holdfast inspect failure.json --desk',
      ),
    )
    .action(async (subject: string, options: InspectOptions) => {
      const beside = await begunBeside(cli, subject, options);
      try {
        await runCommand(cli, options, (session, output) =>
          inspect(cli, { session, subject, options, beside }, output),
        );
      } finally {
        await beside?.close();
      }
    });
}

/** Before anything else is loaded. Which run of a file is a member of it, the file says in its end. */
async function begunBeside(
  cli: Cli,
  subject: string,
  { at, run, desk }: InspectOptions,
): Promise<IndexBeside | undefined> {
  const file = at === undefined && run === undefined && desk !== true && fileOf(cli, subject);
  if (file === undefined || file === false) return undefined;
  const { indexBeside } = await import('../../replay/stream/index-beside.js');
  return indexBeside(file);
}

interface Inspecting {
  readonly session: Session;
  readonly subject: string;
  readonly options: InspectOptions;
  readonly beside: IndexBeside | undefined;
}

async function inspect(
  cli: Cli,
  { session, subject, options, beside }: Inspecting,
  output: Output,
): Promise<void> {
  const { run: member, desk, at, kind, port } = options;
  if (port !== undefined && desk !== true) {
    throw usage('--port is that of the page of --desk.', 'Add --desk, or leave it out.');
  }
  if (kind !== undefined && at !== undefined) {
    throw usage('--kind chooses steps of the index.', 'Leave out --kind, or --at.');
  }
  const { secretFree } = await import('../terminal/secret-free.js');
  const shown = secretFree(output, cli.environment.variables);
  if (at === undefined && desk !== true) {
    const { showIndex } = await import('./inspect-index.js');
    return showIndex(cli, { session, subject, member, kind, beside }, shown);
  }
  const { bundle, source } = await oneRecordedOf(cli, session, { subject, member });
  const { recordOfBundle } = await import('../../replay/open-record.js');
  const record = await recordOfBundle(bundle, source);
  if (desk === true || at === undefined) return showDesk(record, { subject, options, output });
  return moment(record, { step: stepOf(at, record.fold), output: shown });
}

function stepOf(text: string, { steps }: Fold): number {
  if (text === 'last') return steps.length;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw usage(
    `--at takes the number of a step, not "${text.slice(0, 40)}".`,
    'List the steps with `holdfast inspect` without --at; the newest is "last".',
  );
}

interface Looking {
  readonly step: number;
  readonly output: Output;
}

async function moment(record: OpenRecord, { step, output }: Looking): Promise<void> {
  const { toldMoment } = await import('../../replay/told-moment.js');
  const told = await toldMoment(record, step);
  output.data(told);
  if (output.json) return;
  for (const line of momentLines(told, output.paint)) output.line(line);
}
