/** `holdfast list`: runs, newest first. */
import type { Command } from 'commander';
import type { RunSummary, StuckRun } from '../../client/index.js';
import { summaryOf } from '../../client/run-summary.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import type { Output } from '../output.js';
import { dateTimeText, relativeText, table, usdText } from '../render/index.js';
import type { Session } from '../session.js';
import type { StoredRunStatus } from '../../store/run-status.js';
import { usage, wholeNumber } from '../usage.js';

const TENANT = 'default';
const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 1_000;
const STATUSES: readonly StoredRunStatus[] = [
  'running',
  'awaiting_approval',
  'awaiting_input',
  'awaiting_outcome',
  'awaiting_budget',
  'awaiting_user',
  'completed',
  'stopped',
  'failed',
  'cancelled',
];

interface ListOptions extends CommonOptions {
  readonly status?: StoredRunStatus;
  readonly agent?: string;
  readonly stuck?: boolean;
  readonly limit?: number;
}

export function addList(program: Command, cli: Cli): void {
  const command = program
    .command('list')
    .description('List runs, newest first.')
    .option('--status <status>', `only these: ${STATUSES.join(', ')}`, status)
    .option('--agent <name>', 'only runs of this agent')
    .option('--stuck', 'runs that do not get on: since when, and why (asks the server)')
    .option('--limit <count>', `at most this many (default ${LIMIT_DEFAULT})`, limit);
  withJson(withPlace(command), '{runs: […]}, with --stuck {stuck: […]}')
    .addHelpText(
      'after',
      examples(
        'holdfast list',
        'holdfast list --status awaiting_approval',
        'holdfast list --stuck',
      ),
    )
    .action((options: ListOptions) =>
      runCommand(cli, options, (session, output) =>
        options.stuck ? listStuck(session, output, options) : list(session, output, options),
      ),
    );
}

function status(text: string): StoredRunStatus {
  const known = STATUSES.find((one) => one === text);
  if (known !== undefined) return known;
  throw usage(`There is no status "${text.slice(0, 40)}".`, `Known: ${STATUSES.join(', ')}.`);
}

function limit(text: string): number {
  return wholeNumber('--limit', [1, LIMIT_MAX])(text);
}

async function list(session: Session, output: Output, options: ListOptions): Promise<void> {
  const query = {
    limit: options.limit ?? LIMIT_DEFAULT,
    ...(options.status !== undefined && { status: options.status }),
    ...(options.agent !== undefined && { agent: options.agent }),
  };
  const store = await session.store();
  const runs =
    store === undefined
      ? await (await session.client()).listRuns(query)
      : (await store.listRuns(TENANT, query)).map(summaryOf);
  output.data({ runs });
  if (runs.length === 0) return output.line('No runs.');
  output.line(
    table({
      head: ['run', 'agent', 'status', 'cost', 'started', 'goal'],
      rows: runs.map(rowOf),
      paint: output.paint,
    }),
  );
  if (runs.length === query.limit) output.remark(`The first ${query.limit}; more with --limit.`);
}

function rowOf(run: RunSummary): readonly string[] {
  const ended = run.stopReason !== undefined && run.stopReason !== run.status;
  return [
    run.runId,
    run.agent,
    ended ? `${run.status}: ${run.stopReason ?? ''}` : run.status,
    run.costMicroUsd === undefined ? '' : usdText(run.costMicroUsd),
    dateTimeText(run.startedAt),
    (run.goal ?? '').slice(0, 80),
  ];
}

async function listStuck(session: Session, output: Output, options: ListOptions): Promise<void> {
  const client = await session.client();
  const stuck = await client.stuckRuns(options.limit ?? LIMIT_MAX);
  output.data({ stuck });
  if (stuck.length === 0) return output.line('No run is stuck.');
  output.line(
    table({
      head: ['run', 'what fails', 'attempt', 'since', 'why'],
      rows: stuck.map(stuckRow),
      paint: output.paint,
    }),
  );
}

function stuckRow(run: StuckRun): readonly string[] {
  return [
    run.runId,
    run.kind === 'workflow_task' ? 'workflow task' : (run.activity ?? 'activity'),
    String(run.attempt),
    run.since === undefined ? '' : relativeText(run.since, Date.now()),
    run.reason,
  ];
}
