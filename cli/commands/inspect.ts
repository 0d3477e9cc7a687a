/** `holdfast inspect`: a run as it was after any of its steps, from what was recorded of it. */
import type { Command } from 'commander';
import type { Fold } from '../../recording/fold.js';
import type { FoldStep } from '../../recording/steps.js';
import type { Bundle } from '../../replay/bundle.js';
import type { OpenRecord } from '../../replay/open-record.js';
import type { ToldMember } from '../../replay/told-tree.js';
import type { RunRow } from '../../store/runs.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { oneRecordedOf, treeRowsOf } from '../desk/recorded.js';
import { neededStore, type Session } from '../session.js';
import { dateTimeText, inert, table, usdText } from '../render/index.js';
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

const WORDS_CHARS_MAX = 60;

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
    '{runId, kind, source, steps: […], divergences, redactions, tree?: [{runId, parent, agent, status, …}]}, with --at {step, view, calls, request, why, next, state, …}, with --desk {console, token}',
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
    .action((subject: string, options: InspectOptions) =>
      runCommand(cli, options, async (session, output) => {
        if (options.port !== undefined && options.desk !== true) {
          throw usage('--port is that of the page of --desk.', 'Add --desk, or leave it out.');
        }
        const { run: member } = options;
        const { bundle, source } = await oneRecordedOf(cli, session, { subject, member });
        const { recordOfBundle } = await import('../../replay/open-record.js');
        const record = await recordOfBundle(bundle, source);
        if (options.desk === true) return showDesk(record, { subject, options, output });
        const { secretFree } = await import('../terminal/secret-free.js');
        const shown = secretFree(output, cli.environment.variables);
        if (options.at === undefined) {
          const tree = await treeOf(session, bundle, source);
          return index(record, { options, tree, output: shown });
        }
        return moment(record, { step: stepOf(options.at, record.fold), output: shown });
      }),
    );
}

function stepOf(text: string, { steps }: Fold): number {
  if (text === 'last') return steps.length;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw usage(
    `--at takes the number of a step, not "${text.slice(0, 40)}".`,
    'List the steps with `holdfast inspect` without --at; the newest is "last".',
  );
}

/** Of a bundle, or of what the store knows of a run; nothing of a run with none below it. */
async function treeOf(
  session: Session,
  bundle: Bundle,
  source: 'file' | 'run',
): Promise<readonly ToldMember[]> {
  const { memberTold, toldRows, toldTree } = await import('../../replay/told-tree.js');
  if (source === 'file') return toldTree(bundle);
  const { tenant, runId } = bundle.run;
  const { rows } = await treeRowsOf(session, runId);
  if (rows.length === 0) return [];
  const store = await neededStore(session);
  const known = new Map<string, RunRow>();
  for (const { child } of rows) {
    const run = await store.getRun(tenant, child);
    if (run !== undefined) known.set(child, run);
  }
  return toldRows(memberTold(bundle), rows, known);
}

interface Indexing {
  readonly options: InspectOptions;
  readonly tree: readonly ToldMember[];
  readonly output: Output;
}

async function index(record: OpenRecord, { options, tree, output }: Indexing): Promise<void> {
  const { toldIndex } = await import('../../replay/told-moment.js');
  const told = toldIndex(record);
  const { steps, divergences, redactions } = told;
  const { kind: wanted } = options;
  const shown = wanted === undefined ? steps : steps.filter((step) => isOfKind(step, wanted));
  output.data({ ...told, steps: shown, ...(tree.length > 0 && { tree }) });
  if (output.json) return;
  for (const line of tree.map(treeLine)) output.line(line);
  if (tree.length > 0) output.line('');
  if (shown.length === 0) {
    output.line(
      steps.length === 0
        ? 'The run has decided nothing yet.'
        : `No step is of that kind. Kinds of this run: ${kindsOf(steps).join(', ')}.`,
    );
  } else {
    output.line(
      table({
        head: ['step', 'time', 'received', 'rules', 'began'],
        rows: shown.map(rowOf),
        paint: output.paint,
      }),
    );
  }
  for (const { step, segment, reason } of divergences) {
    output.remark(`Segment ${segment} cannot be shown from step ${step} on: ${inert(reason, 400)}`);
  }
  for (const { rule, count } of redactions) {
    output.remark(`The rule ${inert(rule)} of its redaction hides ${count} place(s).`);
  }
}

/** Indented by generations; `--run` takes the id. */
function treeLine({ runId, depth, agent, status, costMicroUsd, absent }: ToldMember): string {
  const cost = costMicroUsd === undefined ? '' : `, ${usdText(costMicroUsd)}`;
  const what =
    absent === undefined ? `${inert(status, 60)}${cost}` : `absent: ${inert(absent, 200)}`;
  const name = agent === '' ? '' : `${inert(agent, 60)}: `;
  return `${'  '.repeat(depth)}${inert(runId, 200)}  ${name}${what}`;
}

function isOfKind(step: FoldStep, kind: string): boolean {
  return kindsOf([step]).includes(kind);
}

function kindsOf(steps: readonly FoldStep[]): readonly string[] {
  const all = steps.flatMap(({ inputs, rules, effects }) => [
    ...inputs.map(({ type }) => type),
    ...rules,
    ...effects.map(({ kind }) => kind),
  ]);
  return [...new Set<string>(all)];
}

function rowOf(step: FoldStep): readonly string[] {
  const began = step.effects
    .filter(({ kind }) => kind !== 'status')
    .map(({ kind, tool, id }) => tool ?? (kind === 'cancel' ? `cancel ${id}` : kind));
  return [
    String(step.step),
    dateTimeText(step.at),
    words(step.inputs.map(({ type }) => type)),
    words(step.rules),
    words(began),
  ];
}

function words(all: readonly string[]): string {
  const [...counted] = all.reduce(
    (seen, one) => seen.set(one, (seen.get(one) ?? 0) + 1),
    new Map<string, number>(),
  );
  const text = counted.map(([one, times]) => (times === 1 ? one : `${one} ×${times}`)).join(', ');
  return inert(text, WORDS_CHARS_MAX);
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
