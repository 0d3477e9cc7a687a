/** Goals, newest first: how each stands, when it wakes, what it has spent of its budget. */
import type { VNode } from 'preact';
import { now } from '../data/connection.js';
import type { Goal, Person } from '../data/api-types.js';
import { Button } from '../parts/button.js';
import { textIn } from '../parts/form.js';
import { cost, dateTime, exactTime, relative, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { goalPath } from '../parts/paths.js';
import { StatusBadge } from '../parts/status-badge.js';
import { TableHead } from '../parts/table-head.js';
import { useTick } from '../parts/use-tick.js';
import { useTitle } from '../parts/use-title.js';
import { useTyped } from '../parts/use-typed.js';
import { useGoals, type GoalFilters } from './use-goals.js';

const REDRAW_MS = 30_000;
const TYPING_MS = 300;
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
  const isFiltered = filters.status !== '' || filters.agent.trim() !== '';
  return (
    <section class="runs" aria-label="Goals">
      <header class="page-head">
        <h1>Goals</h1>
        <p class="help">
          Tenant <InertLine text={me.tenant} />
        </p>
      </header>
      <Filters filters={filters} filter={filter} />
      <GoalTable goals={goals} />
      <div class="list-end">
        {isFetched && goals.length === 0 && (
          <div class="empty quiet">
            <p class="big">{isFiltered ? 'No goal fits.' : 'No goal yet.'}</p>
            {!isFiltered && (
              <p>
                Start one with <code>holdfast goal start</code>.
              </p>
            )}
          </div>
        )}
        {next !== undefined && <Button label="Show older goals" press={fetchOlder} />}
      </div>
    </section>
  );
}

interface FiltersProps {
  readonly filters: GoalFilters;
  readonly filter: (filters: GoalFilters) => void;
}

function Filters({ filters, filter }: FiltersProps): VNode {
  const agent = useTyped(TYPING_MS, (text) => filter({ ...filters, agent: text }));
  return (
    <search class="run-filters">
      <div class="form-field">
        <label for="goals-status">Status</label>
        <select
          id="goals-status"
          value={filters.status}
          onChange={(event) => filter({ ...filters, status: textIn(event) })}
        >
          <option value="">Every status</option>
          {STATUSES.map((name) => (
            <option key={name} value={name}>
              {words(name)}
            </option>
          ))}
        </select>
      </div>
      <div class="form-field">
        <label for="goals-agent">Agent</label>
        <input
          id="goals-agent"
          type="search"
          autocomplete="off"
          spellcheck={false}
          maxLength={128}
          value={agent.text}
          onInput={(event) => agent.type(textIn(event))}
        />
      </div>
    </search>
  );
}

function GoalTable({ goals }: { readonly goals: readonly Goal[] }): VNode {
  useTick(REDRAW_MS);
  return (
    <table class="panel run-table" hidden={goals.length === 0}>
      <TableHead columns={COLUMNS} />
      <tbody>
        {goals.map((goal) => (
          <GoalRow key={goal.goalId} goal={goal} />
        ))}
      </tbody>
    </table>
  );
}

function GoalRow({ goal }: { readonly goal: Goal }): VNode {
  const { goalId, status, agent, objective, startedAt, nextWake, stopReason, detail } = goal;
  const { spentMicroUsd = 0, budgetMicroUsd } = goal;
  const why = detail ?? (stopReason === 'completed' ? undefined : stopReason);
  const isAsleep = status === 'running' && nextWake !== undefined;
  return (
    <tr>
      <td>
        <StatusBadge status={isAsleep ? 'sleeping' : status} />
        {why !== undefined && <span class="stop-reason">{words(why)}</span>}
      </td>
      <td class="run-cell">
        <a href={goalPath(goalId)}>
          <InertLine text={goalId} max={96} />
        </a>
        <span class="run-goal">
          <InertLine text={objective} max={140} />
        </span>
      </td>
      <td>
        <InertLine text={agent} max={60} />
      </td>
      <td>
        <time title={exactTime(startedAt)}>{dateTime(startedAt)}</time>
      </td>
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
    </tr>
  );
}
