/** A run and the sub-agents below it: where each stands and what it cost, and what all of them paid by route. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { agentPathText } from '../../../pure/agent-path.js';
import { get, pathOf, wordsOf } from '../data/api.js';
import type { RunTree, TreeRun } from '../data/api-types.js';
import { usePoll } from '../data/use-poll.js';
import { cost, whole, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { goalPath, runPath } from '../parts/paths.js';
import { StatusBadge } from '../parts/status-badge.js';
import { TableHead } from '../parts/table-head.js';

const LOOK_MS = 5_000;
const RUNS = ['Run', 'Agent', 'Status', 'Cost', 'Paid to models itself'];
const ROUTES = ['Model', 'Replies', 'Tokens in', 'Tokens out', 'Cost'];

export interface TreePanelProps {
  readonly runId: string;
  readonly isOpen: boolean;
}

export function TreePanel({ runId, isOpen }: TreePanelProps): VNode {
  const [tree, setTree] = useState<RunTree>();
  const [fault, setFault] = useState<string>();
  usePoll(
    async (signal) => {
      if (tree !== undefined && (!isOpen || isOver(tree))) return;
      try {
        const found = await get<RunTree>(pathOf('runs', runId, 'tree'), signal);
        if (signal.aborted) return;
        setTree(found);
        setFault(undefined);
      } catch (error) {
        if (!signal.aborted) setFault(wordsOf(error));
        throw error;
      }
    },
    { everyMs: LOOK_MS, name: runId },
  );
  if (tree === undefined) {
    return (
      <p class="empty quiet" role="status">
        {fault ?? 'Fetching the tree …'}
      </p>
    );
  }
  return (
    <div class="goal-panel">
      <table class="panel goal-table" aria-label="Runs of the tree">
        <TableHead columns={RUNS} />
        <tbody>
          {tree.runs.map((run) => (
            <TreeRow key={run.runId} run={run} isShown={run.runId === runId} />
          ))}
        </tbody>
      </table>
      {tree.leftOut === true && <p class="help">More runs are below than are listed here.</p>}
      <table class="panel goal-table" aria-label="Costs by route of the tree">
        <TableHead columns={ROUTES} />
        <tbody>
          {tree.routes.map(({ model, calls, usage, costMicroUsd }) => (
            <tr key={model}>
              <th scope="row">
                <InertLine text={model} max={100} />
              </th>
              <td class="figure">{whole(calls)}</td>
              <td class="figure">{whole(usage.input + usage.cacheRead + usage.cacheWrite)}</td>
              <td class="figure">{whole(usage.output)}</td>
              <td class="figure">{cost(costMicroUsd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function TreeRow({ run, isShown }: { readonly run: TreeRun; readonly isShown: boolean }): VNode {
  const { runId, depth, kind, agent, agentPath, status, stopReason, costMicroUsd, routes } = run;
  const path = kind === 'goal' ? goalPath(runId) : runPath(runId);
  const paid = routes.reduce((sum, route) => sum + route.costMicroUsd, 0);
  return (
    <tr>
      <th scope="row" style={`padding-left:${Math.min(depth, 8) * 1.2 + 0.8}rem`}>
        {isShown ? (
          <InertLine text={runId} max={140} />
        ) : (
          <a href={path}>
            <InertLine text={runId} max={140} />
          </a>
        )}
      </th>
      <td>
        <InertLine text={agentPath === undefined ? agent : agentPathText(agentPath)} max={120} />
      </td>
      <td>
        <StatusBadge status={status} />
        {stopReason !== undefined && stopReason !== status && (
          <span class="help">{` ${words(stopReason)}`}</span>
        )}
      </td>
      <td class="figure">{costMicroUsd === undefined ? '–' : cost(costMicroUsd)}</td>
      <td class="figure">{cost(paid)}</td>
    </tr>
  );
}

function isOver({ runs }: RunTree): boolean {
  return runs.every(
    ({ completedAt, status }) => completedAt !== undefined || status === 'not_begun',
  );
}
