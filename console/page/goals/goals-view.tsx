/** Goals, newest first: how each stands, when it wakes, what it has spent of its budget. */
import type { VNode } from 'preact';
import { now } from '../data/connection.js';
import type { Goal, Person } from '../data/api-types.js';
import { AgentField, StatusField } from '../parts/filter-fields.js';
import { cost, exactTime, relative } from '../parts/format.js';
import { ListPage, ListRow } from '../parts/list-page.js';
import { goalPath } from '../parts/paths.js';
import { useTitle } from '../parts/use-title.js';
import { useGoals, type GoalFilters } from './use-goals.js';

const COLUMNS = ['Status', 'Goal', 'Agent', 'Started', 'Wakes', 'Spent of budget'];
const STATUSES = [
  'running',
  'awaiting_approval',
  'awaiting_budget',
  'completed',
  'stopped',
  'failed',
  'cancelled',
];

export function GoalsView({ me }: { readonly me: Person }): VNode {
  useTitle('Goals');
  const { goals, next, isFetched, filters, filter, fetchOlder } = useGoals();
  return (
    <ListPage
      title="Goals"
      tenant={me.tenant}
      filters={<Filters filters={filters} filter={filter} />}
      columns={COLUMNS}
      rows={() => goals.map((goal) => <GoalRow key={goal.goalId} goal={goal} />)}
      none={<NoGoals isFiltered={filters.status !== '' || filters.agent.trim() !== ''} />}
      isFetched={isFetched}
      older={next === undefined ? undefined : { label: 'Show older goals', fetch: fetchOlder }}
    />
  );
}

interface FiltersProps {
  readonly filters: GoalFilters;
  readonly filter: (filters: GoalFilters) => void;
}

function Filters({ filters, filter }: FiltersProps): VNode {
  return (
    <search class="run-filters">
      <StatusField
        id="goals-status"
        statuses={STATUSES}
        value={filters.status}
        choose={(status) => filter({ ...filters, status })}
      />
      <AgentField
        id="goals-agent"
        first={filters.agent}
        choose={(agent) => filter({ ...filters, agent })}
      />
    </search>
  );
}

function GoalRow({ goal }: { readonly goal: Goal }): VNode {
  const { goalId, status, agent, objective, startedAt, nextWake, stopReason, detail } = goal;
  const { spentMicroUsd = 0, budgetMicroUsd } = goal;
  const isAsleep = status === 'running' && nextWake !== undefined;
  return (
    <ListRow
      status={isAsleep ? 'sleeping' : status}
      why={detail ?? (stopReason === 'completed' ? undefined : stopReason)}
      href={goalPath(goalId)}
      id={goalId}
      idMax={96}
      about={objective}
      agent={agent}
      startedAt={startedAt}
    >
      <td>
        {nextWake === undefined ? (
          '–'
        ) : (
          <time title={exactTime(nextWake)}>{relative(nextWake, now())}</time>
        )}
      </td>
      <td class="figure">
        {cost(spentMicroUsd)}
        {budgetMicroUsd !== undefined && ` of ${cost(budgetMicroUsd)}`}
      </td>
    </ListRow>
  );
}

function NoGoals(props: { readonly isFiltered: boolean }): VNode {
  return (
    <>
      <p class="big">{props.isFiltered ? 'No goal fits.' : 'No goal yet.'}</p>
      {!props.isFiltered && (
        <p>
          Start one with <code>holdfast goal start</code>.
        </p>
      )}
    </>
  );
}
