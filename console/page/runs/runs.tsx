/** Runs, newest first, with filters. */
import type { VNode } from 'preact';
import { now } from '../data/connection.js';
import type { Person, Run } from '../data/api-types.js';
import { Button } from '../parts/button.js';
import { cost, dateTime, duration, exactTime, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { StatusBadge } from '../parts/status-badge.js';
import { TableHead } from '../parts/table-head.js';
import { useTick } from '../parts/use-tick.js';
import { useTitle } from '../parts/use-title.js';
import { runPath } from '../parts/paths.js';
import { RunFilterFields } from './run-filters.js';
import { isFiltered } from './known-runs.js';
import { useRuns } from './use-runs.js';

const REDRAW_MS = 30_000;
const COLUMNS = ['Status', 'Run', 'Agent', 'Started', 'Took', 'Cost'];

export function Runs({ me }: { readonly me: Person }): VNode {
  useTitle('Runs');
  const { runs, next, isFetched, filters, filter, fetchOlder } = useRuns();
  return (
    <section class="runs" aria-label="Runs">
      <header class="page-head">
        <h1>Runs</h1>
        <p class="help">
          Tenant <InertLine text={me.tenant} />
        </p>
      </header>
      <RunFilterFields filters={filters} filter={filter} />
      <RunTable runs={runs} />
      <div class="list-end">
        {isFetched && runs.length === 0 && <NoRuns isFiltered={isFiltered(filters)} />}
        {next !== undefined && <Button label="Show older runs" press={fetchOlder} />}
      </div>
    </section>
  );
}

function RunTable({ runs }: { readonly runs: readonly Run[] }): VNode {
  // What an open run has taken so far changes with the time, but not every second.
  useTick(REDRAW_MS);
  return (
    <table class="panel run-table" hidden={runs.length === 0}>
      <TableHead columns={COLUMNS} />
      <tbody>
        {runs.map((run) => (
          <RunRow key={run.runId} run={run} />
        ))}
      </tbody>
    </table>
  );
}

function RunRow({ run }: { readonly run: Run }): VNode {
  const { runId, status, agent, goal, startedAt, completedAt, costMicroUsd, stopReason } = run;
  const took = (completedAt ?? now()) - startedAt;
  const why = stopReason === 'completed' ? undefined : stopReason;
  return (
    <tr>
      <td>
        <StatusBadge status={status} />
        {why !== undefined && <span class="stop-reason">{words(why)}</span>}
      </td>
      <td class="run-cell">
        <a href={runPath(runId)}>
          <InertLine text={runId} max={80} />
        </a>
        <span class="run-goal">
          <InertLine text={goal} max={140} />
        </span>
      </td>
      <td>
        <InertLine text={agent} max={60} />
      </td>
      <td>
        <time title={exactTime(startedAt)}>{dateTime(startedAt)}</time>
      </td>
      <td class="figure">{duration(Math.max(0, took))}</td>
      <td class="figure">{costMicroUsd === undefined ? '–' : cost(costMicroUsd)}</td>
    </tr>
  );
}

function NoRuns(props: { readonly isFiltered: boolean }): VNode {
  return (
    <div class="empty quiet">
      <p class="big">{props.isFiltered ? 'No run fits.' : 'No run yet.'}</p>
      {!props.isFiltered && (
        <p>
          Start one with <code>holdfast start</code>.
        </p>
      )}
    </div>
  );
}
