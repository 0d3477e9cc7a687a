/** `holdfast list`: runs, newest first. */
import type { Command } from 'commander';
import type { RunSummary, StuckRun } from '../../client/index.js';
import { summaryOf, withSpent } from '../../client/read/run-summary.js';
import type { ListQuery } from '../../client/read/joined-page.js';
import { cursorOf } from '../../console/http/cursor.js';
import { HoldfastError } from '../../core/state/errors.js';
import { agentPathText } from '../../pure/agent-path.js';
import type { ListedStatus } from '../../pure/listed-status.js';
import {
  readingDeskOf,
  tenantOf,
  withDesk,
  withTenant,
  type DeskOptions,
  type TenantOptions,
} from '../desk/actor.js';
import { examples, runCommand, withJson, withPlace, type Cli } from '../command.js';
import type { Output } from '../terminal/output.js';
import {
  LIMIT_DEFAULT,
  moreRemark,
  pagesAtDesk,
  someText,
  withPages,
  type Page,
  type PageOptions,
} from '../desk/paging.js';
import { dateTimeText, inert, relativeText, table, usdText } from '../render/index.js';
import {
  isSearch,
  onlyWithStore,
  searchParameters,
  searchRuns,
  withRows,
  withSearch,
  type SearchOptions,
} from '../desk/search-runs.js';
import { joinerIn } from '../desk/joined.js';
import { isFile } from '../desk/recorded.js';
import { restoredIn, restoredRemark } from '../desk/restored.js';
import { unlessStoreAway } from '../desk/run-at-desk.js';
import { storeMissing, storeMissingToo } from '../missing-store.js';
import type { Session } from '../session.js';
import { usage } from '../usage.js';

const STUCK_MAX = 1_000;

interface ListOptions extends DeskOptions, TenantOptions, PageOptions {
  readonly status?: ListedStatus;
  readonly agent?: string;
  readonly root?: string;
  readonly forksOf?: string;
  readonly costFrom?: number;
  readonly costTo?: number;
  readonly stuck?: boolean;
}

type AllOptions = ListOptions & SearchOptions;

export function addList(program: Command, cli: Cli): void {
  const command = program
    .command('list')
    .alias('runs')
    .description('List runs, newest first.')
    .option('--root <run>', 'only the sub-agents below this run', someText('--root'))
    .option('--forks-of <run>', 'only the forks of this run', someText('--forks-of'))
    .option(
      '--stuck',
      'runs that do not get on, or have waited for a worker, the store or the like for more than 60 s since their first try began, once that try has failed: since when, and why (asks the server, not the store)',
    );
  withJson(
    withPlace(withDesk(withTenant(withPages(withSearch(withRows(command)))))),
    '{runs: […], next, partial?, trouble?, restoredAt?}, with --stuck {stuck: […]}',
  )
    .addHelpText(
      'after',
      examples(
        'holdfast list',
        'holdfast list --status awaiting_approval --agent refund',
        'holdfast list --cost-from 0.50usd',
        'holdfast list --since 7d --stop-reason tool_failure --error-code timeout --sort cost',
        'holdfast list --forks-of run_01J…',
        'holdfast list --stuck',
      ),
    )
    .action((options: AllOptions) =>
      runCommand(cli, options, async (session, output) =>
        options.stuck
          ? listStuck(await stuckOf(cli, session, options), output)
          : listAll(cli, session, { options, output }),
      ),
    );
}

async function listAll(
  cli: Cli,
  session: Session,
  { options, output }: { readonly options: AllOptions; readonly output: Output },
): Promise<void> {
  const page = await runsOf(cli, session, options).catch(storeMissingToo(cli.environment, options));
  const isOfDesk = readingDeskOf(cli, options) !== undefined;
  const restoredAt = isOfDesk ? page.restoredAt : await restoredIn(session);
  list({ ...page, ...(restoredAt !== undefined && { restoredAt }) }, output);
  if (restoredAt !== undefined) output.remark(restoredRemark(restoredAt));
}

function filterOf({ status: wanted, agent, root, forksOf, costFrom, costTo }: ListOptions) {
  return {
    ...(wanted !== undefined && { status: wanted }),
    ...(agent !== undefined && { agent }),
    ...(root !== undefined && { root }),
    ...(forksOf !== undefined && { forksOf }),
    ...(costFrom !== undefined && { costFrom }),
    ...(costTo !== undefined && { costTo }),
  };
}

type Listed = Page<RunSummary> & {
  /** There is nothing of the store in it. */
  readonly isTemporals?: true;
};

async function runsOf(cli: Cli, session: Session, options: AllOptions): Promise<Listed> {
  const { limit = LIMIT_DEFAULT, cursor } = options;
  const api = readingDeskOf(cli, options);
  const searched = isSearch(options);
  if (searched && api === undefined) return searchRuns(cli, session, { ...options, limit });
  if (api !== undefined) {
    const { differsFrom } = options;
    if (differsFrom !== undefined && isFile(cli.environment.folder, differsFrom))
      throw onlyWithStore();
    const wanted = {
      ...searchParameters(options),
      ...filterOf(options),
      limit,
      ...(cursor !== undefined && { cursor }),
    };
    return pagesAtDesk<RunSummary>(api, '/v1/runs', wanted);
  }
  const tenant = tenantOf(options);
  const store = await session.store().catch(unlessStoreAway);
  const query: ListQuery = {
    ...filterOf(options),
    limit,
    ...(cursor !== undefined && { before: { startedAt: cursor.at, runId: cursor.id } }),
  };
  if (store === undefined || typeof store === 'string') {
    if (options.forksOf !== undefined) throw noForksWithout(store);
    const client = await session.clientWithoutStore();
    const items = await client.forTenant(tenant).listRuns(query);
    const trouble = store ?? storeMissing(cli.environment, options);
    return { items, isTemporals: true, ...(trouble !== undefined && { trouble }) };
  }
  const { rows, next, trouble } = await joinerIn(session, store, tenant).joinedRuns(query);
  return {
    items: await withSpent(store, tenant, rows.map(summaryOf)),
    ...(next && { next: cursorOf(next.startedAt, next.runId) }),
    ...(trouble !== undefined && { trouble }),
  };
}

/** Temporal knows of no fork what it is a fork of. */
function noForksWithout(trouble: string | undefined): HoldfastError {
  return new HoldfastError('StoreUnavailable', trouble ?? 'There is no store here.', {
    hint: 'Forks of a run are known to the store of its workers: set HOLDFAST_STORE.',
  });
}

const BY_TEMPORAL = 'Temporal tells this list.';
const BY_STORE =
  'This list has what the store knows: not how Temporal ended runs, and no run that no worker has opened.';

function list(page: Listed, output: Output): void {
  const { items: runs, next, trouble, left, restoredAt, isTemporals = false } = page;
  output.data({
    runs,
    ...(next !== undefined && { next }),
    ...(trouble !== undefined && { trouble }),
    ...(restoredAt !== undefined && { restoredAt }),
    ...(left !== undefined && { partial: true }),
  });
  if (trouble !== undefined)
    output.remark(`${inert(trouble, 1_000)} ${isTemporals ? BY_TEMPORAL : BY_STORE}`);
  if (runs.length === 0) output.line('No runs.');
  else tell(runs, output);
  const rest = moreRemark(page);
  if (rest !== undefined) output.remark(rest);
}

function tell(runs: readonly RunSummary[], output: Output): void {
  const hasForks = runs.some(({ forked }) => forked !== undefined);
  const fork = (run: RunSummary): readonly string[] => (hasForks ? [forkText(run)] : []);
  output.line(
    table({
      head: ['run', 'agent', 'status', 'cost', 'started', ...(hasForks ? ['fork of'] : []), 'goal'],
      rows: runs.map((run) => rowOf(run, fork(run))),
      paint: output.paint,
    }),
  );
  for (const { runId, alarm } of runs) {
    if (alarm !== undefined) output.remark(`${inert(runId)}: ${inert(alarm, 500)}.`);
  }
}

function forkText({ forked }: RunSummary): string {
  return forked === undefined ? '' : `${forked.runId} step ${forked.step}`;
}

function rowOf(run: RunSummary, fork: readonly string[]): readonly string[] {
  const ended = run.stopReason !== undefined && run.stopReason !== run.status;
  return [
    run.runId,
    run.agentPath === undefined ? run.agent : agentPathText(run.agentPath),
    ended ? `${run.status}: ${run.stopReason ?? ''}` : statusText(run),
    costText(run),
    dateTimeText(run.startedAt),
    ...fork,
    (run.goal ?? '').slice(0, 80),
  ];
}

function costText({ costMicroUsd, spentMicroUsd = 0 }: RunSummary): string {
  if (costMicroUsd !== undefined) return usdText(costMicroUsd);
  return spentMicroUsd === 0 ? '' : `${usdText(spentMicroUsd)} so far`;
}

function statusText({ status: shown, closing, unknown, notStored }: RunSummary): string {
  if (notStored === true) return `${shown}; its record is not in the store`;
  if (unknown === true) return `${shown}; Temporal does not know it`;
  return closing === true ? `${shown}; its record is not stored yet` : shown;
}

async function stuckOf(
  cli: Cli,
  session: Session,
  options: AllOptions,
): Promise<readonly StuckRun[]> {
  const { cursor } = options;
  if (isSearch(options) || Object.keys(filterOf(options)).length > 0 || cursor !== undefined) {
    throw usage('--stuck takes no other condition.', 'Leave out the others: --limit may stay.');
  }
  if (readingDeskOf(cli, options) !== undefined) {
    throw usage(
      'The desk does not know which runs are stuck: Temporal does.',
      'Ask on a host that reaches Temporal, without a token.',
    );
  }
  const client = (await session.clientWithoutStore()).forTenant(tenantOf(options));
  return client.stuckRuns({ limit: options.limit ?? STUCK_MAX });
}

function listStuck(stuck: readonly StuckRun[], output: Output): void {
  output.data({ stuck });
  if (stuck.length === 0) output.line('No run is stuck.');
  else output.line(stuckTable(stuck, output));
  output.remark(NOT_YET_STUCK);
}

const NOT_YET_STUCK =
  'Runs that have waited for at most 60 s, or whose first try is still under way, are not listed; holdfast show RUN tells of one.';

function stuckTable(stuck: readonly StuckRun[], output: Output): string {
  return table({
    head: ['run', 'what fails, or is waited for', 'attempt', 'since', 'why'],
    rows: stuck.map(stuckRow),
    paint: output.paint,
  });
}

function stuckRow(run: StuckRun): readonly string[] {
  return [
    run.runId,
    stuckWith(run),
    String(run.attempt),
    run.since === undefined ? '' : relativeText(run.since, Date.now()),
    run.reason,
  ];
}

function stuckWith({ kind, activity, summary, waitsFor }: StuckRun): string {
  if (kind === 'workflow_task') return 'workflow task';
  if (kind === 'activity')
    return `${activity ?? 'activity'}${summary === undefined ? '' : ` (${summary})`}`;
  return `waits for ${waitsFor ?? 'something'}${activity === undefined ? '' : ` (${activity})`}`;
}
