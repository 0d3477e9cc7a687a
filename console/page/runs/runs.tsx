/** Runs, newest first, with filters. */
import type { VNode } from 'preact';
import { agentPathText } from '../../../pure/agent-path.js';
import { now } from '../data/connection.js';
import type { Person, Run } from '../data/api-types.js';
import { cost, duration } from '../parts/format.js';
import { ListPage, ListRow } from '../parts/list-page.js';
import { diffPath, runPath } from '../parts/paths.js';
import { useKept } from '../parts/use-kept.js';
import { useTitle } from '../parts/use-title.js';
import { RunFilterFields } from './run-filters.js';
import { isFiltered } from './known-runs.js';
import { useRuns } from './use-runs.js';

const COLUMNS = ['Status', 'Run', 'Agent', 'Started', 'Took', 'Cost', 'Compare'];

export function Runs({ me }: { readonly me: Person }): VNode {
  useTitle('Runs');
  const { runs, next, isFetched, filters, filter, fetchOlder } = useRuns();
  const [chosen, setChosen] = useKept<readonly string[]>('chosen', []);
  const choose = (runId: string): void =>
    // The third takes the place of the first.
    setChosen(
      chosen.includes(runId) ? chosen.filter((one) => one !== runId) : [...chosen, runId].slice(-2),
    );
  const [a, b] = chosen;
  return (
    <ListPage
      title="Runs"
      tenant={me.tenant}
      filters={
        <>
          <p>
            <a href="/failures">Runs that failed, in groups</a>
          </p>
          <p role="status" hidden={a === undefined}>
            {b === undefined || a === undefined ? (
              'Choose another run to compare with.'
            ) : (
              <a href={diffPath(a, b)}>Compare the two chosen runs</a>
            )}
          </p>
          <RunFilterFields filters={filters} filter={filter} />
        </>
      }
      columns={COLUMNS}
      rows={() =>
        runs.map((run) => (
          <RunRow key={run.runId} run={run} isChosen={chosen.includes(run.runId)} choose={choose} />
        ))
      }
      none={<NoRuns isFiltered={isFiltered(filters)} />}
      isFetched={isFetched}
      older={next === undefined ? undefined : { label: 'Show older runs', fetch: fetchOlder }}
    />
  );
}

interface RunRowProps {
  readonly run: Run;
  readonly isChosen: boolean;
  readonly choose: (runId: string) => void;
}

function RunRow({ run, isChosen, choose }: RunRowProps): VNode {
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
      <td>
        <input
          type="checkbox"
          aria-label={`Compare ${runId}`}
          checked={isChosen}
          onChange={() => choose(runId)}
        />
      </td>
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
