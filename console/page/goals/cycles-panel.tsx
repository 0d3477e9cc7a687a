/** Cycles with their runs, the newest first. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { now } from '../data/connection.js';
import { Button } from '../parts/button.js';
import { cost, dateTime, duration, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { briefPath, runPath } from '../parts/paths.js';
import { StatusBadge } from '../parts/status-badge.js';
import { TableHead } from '../parts/table-head.js';
import type { CycleShown } from './goal-record.js';

const COLUMNS = ['Cycle', 'Run', 'Agent', 'Started', 'Took', 'Ended', 'Cost of slice', 'Progress'];
const SHOWN_AT_FIRST = 50;

interface CyclesPanelProps {
  readonly goalId: string;
  readonly cycles: readonly CycleShown[];
}

export function CyclesPanel({ goalId, cycles }: CyclesPanelProps): VNode {
  const [shown, setShown] = useState(SHOWN_AT_FIRST);
  if (cycles.length === 0) return <p class="help">No cycle yet.</p>;
  return (
    <div class="goal-panel">
      <table class="panel goal-table">
        <TableHead columns={COLUMNS} />
        <tbody>
          {cycles
            .slice(-shown)
            .reverse()
            .map((cycle) => (
              <CycleRow key={cycle.n} goalId={goalId} cycle={cycle} />
            ))}
        </tbody>
      </table>
      {cycles.length > shown && (
        <Button label="Show older cycles" press={() => setShown(shown + SHOWN_AT_FIRST)} />
      )}
    </div>
  );
}

function CycleRow({
  goalId,
  cycle,
}: {
  readonly goalId: string;
  readonly cycle: CycleShown;
}): VNode {
  const { n, runId, agent, startedAt, budget, ended } = cycle;
  const took = (ended?.at ?? now()) - startedAt;
  return (
    <tr>
      <th scope="row">
        <a href={briefPath(goalId, n)} aria-label={`Brief of cycle ${n}`}>
          {n}
        </a>
      </th>
      <td>
        <a href={runPath(runId)}>
          <InertLine text={runId} max={100} />
        </a>
      </td>
      <td>
        <InertLine text={agent} max={60} />
      </td>
      <td>{dateTime(startedAt)}</td>
      <td class="figure">{duration(Math.max(0, took))}</td>
      <td>
        {ended === undefined ? <StatusBadge status="running" /> : words(ended.stopReason)}
        {ended?.detail !== undefined && <span class="help">{` ${words(ended.detail)}`}</span>}
        {ended?.unconfirmed === true && <span class="help"> not confirmed</span>}
      </td>
      <td class="figure">
        {ended === undefined ? '–' : cost(ended.costMicroUsd)}
        {` of ${cost(budget.maxCostMicroUsd)}`}
      </td>
      <td>
        <InertLine text={progressText(ended?.progress ?? [])} max={200} />
      </td>
    </tr>
  );
}

function progressText(progress: NonNullable<CycleShown['ended']>['progress']): string {
  if (progress.length === 0) return '–';
  return progress
    .map((item) => {
      if (item.kind !== 'measure') return `${item.kind} ${item.id}`;
      return `${item.id} ${item.value}${item.best === undefined ? '' : ` (best ${item.best})`}`;
    })
    .join(', ');
}
