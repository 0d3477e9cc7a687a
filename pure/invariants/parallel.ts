/**
 * What must hold of calls that run side by side, after every step (C17, C49): a part of the invariants.
 */
import type { ExecutingStage } from '../../core/state/call.js';
import { toolOf } from '../../core/permission/permission.js';
import { overlaps } from '../../core/dataflow/state-path.js';
import { isOpen, type Run, type Step } from '../../core/state/run.js';
import { isMutating } from '../../core/state/tool.js';
import type { StepPredicate } from './step.js';

/** Calls that are with an executor now. */
function executing(run: Run): readonly ExecutingStage[] {
  return (run.turn?.calls ?? []).filter(
    (call): call is ExecutingStage => call.stage === 'executing' && call.doing === 'execute',
  );
}

function parallelCallsAreBounded(_before: Run, { run }: Step): string | undefined {
  if (!isOpen(run)) return undefined;
  const { maxParallelToolCalls } = run.frozen.budget;
  const limit = run.frozen.settings.toolExecution === 'serial' ? 1 : maxParallelToolCalls;
  const calls = executing(run);
  return calls.length <= limit
    ? undefined
    : `${calls.length} calls execute at once, the limit is ${limit}`;
}

function effectsHaveTheLane(_before: Run, { run }: Step): string | undefined {
  const calls = executing(run);
  if (!isOpen(run) || calls.length < 2) return undefined;
  const effect = calls.find((call) => {
    const tool = toolOf(run, call.tool);
    return tool === undefined || isMutating(tool) || !tool.concurrencySafe;
  });
  return effect && `${effect.id} executes beside another call and is no safe read`;
}

function executedCallsAreWhole(_before: Run, { run }: Step): string | undefined {
  const call = executing(run).find(({ flow }) => flow !== undefined && flow.refs.length > 0);
  return call && `${call.id} executes with references that nobody resolved`;
}

function pathsAreReserved(_before: Run, { run }: Step): string | undefined {
  const paths = executing(run).flatMap(({ flow }) => flow?.outputPath ?? []);
  const twice = paths.find((path, index) => paths.slice(0, index).some((p) => overlaps(p, path)));
  return twice && `two calls for ${twice} execute at once`;
}

function stateOnlyGrows(before: Run, { run }: Step): string | undefined {
  if (run.state === before.state) return undefined;
  const changed = Object.entries(before.state ?? {}).find(
    ([path, value]) => JSON.stringify(run.state?.[path]) !== JSON.stringify(value),
  );
  if (changed !== undefined) return `${changed[0]} was written before and has changed`;
  const paths = Object.keys(run.state ?? {});
  return paths
    .map((path, index) => pathIsNew(paths.slice(0, index), path))
    .find((violation) => violation !== undefined);
}

/** A path is written once, and nothing above or below it either. */
export function pathIsNew(written: readonly string[], path: string): string | undefined {
  const old = written.find((one) => overlaps(one, path));
  return old === undefined ? undefined : `${path} is written although ${old} was`;
}

export const PARALLEL_PREDICATES: readonly StepPredicate[] = [
  parallelCallsAreBounded,
  effectsHaveTheLane,
  executedCallsAreWhole,
  pathsAreReserved,
  stateOnlyGrows,
];
