/** Runs, newest first, with filters. */
import type { VNode } from 'preact';
import { agentPathText } from '../../../pure/agent-path.js';
import { now } from '../data/connection.js';
import type { Person, Run } from '../data/api-types.js';
import { cost, duration } from '../parts/format.js';
import { ListPage, ListRow } from '../parts/list-page.js';
import { runPath } from '../parts/paths.js';
import { useTitle } from '../parts/use-title.js';
import { RunFilterFields } from './run-filters.js';
import { isFiltered } from './known-runs.js';
import { useRuns } from './use-runs.js';

const COLUMNS = ['Status', 'Run', 'Agent', 'Started', 'Took', 'Cost'];

export function Runs({ me }: { readonly me: Person }): VNode {
  useTitle('Runs');
  const { runs, next, isFetched, filters, filter, fetchOlder } = useRuns();
  return (
    <ListPage
      title="Runs"
      tenant={me.tenant}
      filters={
        <>
          <p>
            <a href="/failures">Runs that failed, in groups</a>
          </p>
          <RunFilterFields filters={filters} filter={filter} />
        </>
      }
      columns={COLUMNS}
      rows={() => runs.map((run) => <RunRow key={run.runId} run={run} />)}
      none={<NoRuns isFiltered={isFiltered(filters)} />}
      isFetched={isFetched}
      older={next === undefined ? undefined : { label: 'Show older runs', fetch: fetchOlder }}
    />
  );
}

function RunRow({ run }: { readonly run: Run }): VNode {
  const { runId, status, agent, goal, startedAt, completedAt, costMicroUsd, stopReason } = run;
  const { agentPath } = run;
  const took = (completedAt ?? now()) - startedAt;
  return (
    <ListRow
      status={status}
      why={stopReason === 'completed' ? undefined : stopReason}
      href={runPath(runId)}
      id={runId}
      idMax={80}
      about={goal}
      agent={agentPath === undefined ? agent : agentPathText(agentPath)}
      startedAt={startedAt}
    >
      <td class="figure">{duration(Math.max(0, took))}</td>
      <td class="figure">{costMicroUsd === undefined ? '–' : cost(costMicroUsd)}</td>
    </ListRow>
  );
}

function NoRuns(props: { readonly isFiltered: boolean }): VNode {
  return (
    <>
      <p class="big">{props.isFiltered ? 'No run fits.' : 'No run yet.'}</p>
      {!props.isFiltered && (
        <p>
          Start one with <code>holdfast start</code>.
        </p>
      )}
    </>
  );
}
