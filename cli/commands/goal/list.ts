/** `holdfast goal list`: goals, newest first. */
import type { Command } from 'commander';
import { PAUSED } from '../../../store/goal-projection.js';
import type { GoalSummary } from '../../../client/index.js';
import { goalSummary } from '../../../client/goals/list-goals.js';
import { STORED_STATUSES, type StoredRunStatus } from '../../../core/state/view.js';
import {
  readingDeskOf,
  tenantOf,
  withDesk,
  withTenant,
  type DeskOptions,
  type TenantOptions,
} from '../../desk/actor.js';
import { examples, runCommand, withJson, withPlace, type Cli } from '../../command.js';
import {
  LIMIT_DEFAULT,
  moreRemark,
  pageOf,
  pagesAtDesk,
  someText,
  withPages,
  type Page,
  type PageOptions,
} from '../../desk/paging.js';
import { dateTimeText, relativeText, table, usdText } from '../../render/index.js';
import type { Session } from '../../session.js';
import { oneOf, usage } from '../../usage.js';

interface ListOptions extends DeskOptions, TenantOptions, PageOptions {
  readonly status?: StoredRunStatus;
  readonly agent?: string;
}

export function addGoalList(goal: Command, cli: Cli): void {
  const command = goal
    .command('list')
    .description('List goals, newest first: how they stand, when they wake, what they have spent.')
    .option(
      '--status <status>',
      `only these: ${STORED_STATUSES.join(', ')}; one that sleeps or is paused is running`,
      listedStatus,
    )
    .option('--agent <name>', 'only goals of this agent', someText('--agent'));
  withJson(withPlace(withDesk(withTenant(withPages(command)))), '{goals: […], next}')
    .addHelpText(
      'after',
      examples('holdfast goal list', 'holdfast goal list --status running --json'),
    )
    .action((options: ListOptions) =>
      runCommand(cli, options, async (session, output) => {
        const page = await goalsOf(cli, session, options);
        const { items: goals, next } = page;
        output.data({ goals, ...(next !== undefined && { next }) });
        if (goals.length === 0) return output.line('No goals.');
        output.line(
          table({
            head: ['goal', 'agent', 'status', 'spent', 'next wake', 'started', 'objective'],
            rows: goals.map((one) => rowOf(one, Date.now())),
            paint: output.paint,
          }),
        );
        const rest = moreRemark(page);
        if (rest !== undefined) output.remark(rest);
      }),
    );
}

/** To the lists of the store a goal that sleeps or is paused is running. */
function listedStatus(text: string): StoredRunStatus {
  if (text !== 'sleeping' && text !== 'paused') return oneOf('status', STORED_STATUSES)(text);
  throw usage(
    `--status ${text} is no status of the list: a goal that is ${text} is listed under running.`,
    `Known: ${STORED_STATUSES.join(', ')}. The list says which of the running ones sleep or are paused.`,
  );
}

async function goalsOf(
  cli: Cli,
  session: Session,
  options: ListOptions,
): Promise<Page<GoalSummary>> {
  const { limit = LIMIT_DEFAULT, cursor, status: wanted, agent } = options;
  const filter = {
    ...(wanted !== undefined && { status: wanted }),
    ...(agent !== undefined && { agent }),
  };
  const api = readingDeskOf(cli, options);
  if (api !== undefined) {
    const asked = { ...filter, limit, ...(cursor !== undefined && { cursor }) };
    return pagesAtDesk<GoalSummary>(api, '/v1/goals', asked);
  }
  const tenant = tenantOf(options);
  const query = {
    ...filter,
    limit,
    ...(cursor !== undefined && { before: { startedAt: cursor.at, runId: cursor.id } }),
  };
  const store = await session.store();
  if (store === undefined) {
    const client = await session.clientWithoutStore();
    return { items: await client.forTenant(tenant).listGoals(query) };
  }
  const rows = (await store.listGoals(tenant, query)).map(goalSummary);
  return pageOf(rows, limit, ({ startedAt, goalId }) => ({ at: startedAt, id: goalId }));
}

function rowOf(goal: GoalSummary, now: number): readonly string[] {
  const { stopReason, detail, nextWake, spentMicroUsd, budgetMicroUsd } = goal;
  const isPaused = goal.status === 'running' && detail?.startsWith(PAUSED) === true;
  const why = isPaused ? detail.replace(/^paused /, '') : (detail ?? stopReason);
  const isAsleep = goal.status === 'running' && nextWake !== undefined;
  const status = isPaused ? 'paused' : isAsleep ? 'sleeping' : goal.status;
  const spent = goal.costMicroUsd ?? spentMicroUsd;
  const of = budgetMicroUsd === undefined ? '' : ` of ${usdText(budgetMicroUsd)}`;
  return [
    goal.goalId,
    goal.agent,
    why === undefined || why === status ? status : `${status}: ${why}`,
    spent === undefined ? '' : `${usdText(spent)}${of}`,
    nextWake === undefined ? '' : relativeText(nextWake, now),
    dateTimeText(goal.startedAt),
    (goal.objective ?? '').slice(0, 80),
  ];
}
