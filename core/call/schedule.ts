/**
 * One scheduler: which calls of a turn may go on now. Modes differ only in the edges that they draw
 * between calls (C17): serial to the previous one, batched to the last that needs the lane for itself,
 * dataflow to what a call says that it needs.
 * Invariants: a call starts only when all its predecessors are settled; at most `maxParallelToolCalls`
 * execute at once; what is not a concurrency-safe read executes alone; proposal order decides ties.
 */
import type { OpenRun, Turn } from '../state/run.js';
import { isMutating } from '../state/tool.js';
import { isOver } from './after.js';
import type { Call } from '../state/call.js';
import { dataflowEdges } from './dataflow/dataflow-edges.js';
import { toolOf } from '../permission/offered-tools.js';

/** For each call the indices of the calls that must be settled before it. */
type Edges = (run: OpenRun, turn: Turn) => readonly (readonly number[])[];

const serialEdges: Edges = (_run, turn) =>
  turn.calls.map((call) => (call.index === 0 ? [] : [call.index - 1]));

/** Reads that come one after the other run together; any other call waits for all before it. */
const batchedEdges: Edges = (run, turn) => {
  let lastAlone: number | undefined;
  let since: number[] = [];
  return turn.calls.map((call) => {
    const barrier = lastAlone === undefined ? [] : [lastAlone];
    if (!isAlone(run, call)) {
      since.push(call.index);
      return barrier;
    }
    const before = [...barrier, ...since];
    lastAlone = call.index;
    since = [];
    return before;
  });
};

const EDGES: { readonly [mode in OpenRun['frozen']['settings']['toolExecution']]: Edges } = {
  serial: serialEdges,
  batched: batchedEdges,
  dataflow: dataflowEdges,
};

/** Calls under way or ready, in proposal order. */
export function ready(run: OpenRun, turn: Turn): readonly Call[] {
  const edges = EDGES[run.frozen.settings.toolExecution](run, turn);
  const executing = turn.calls.filter(isExecuting);
  const free = run.frozen.budget.maxParallelToolCalls - turn.calls.filter(takesPlace).length;
  let started = 0;
  return turn.calls.filter((call) => {
    if (call.stage === 'settled') return false;
    if (call.stage !== 'proposed' && call.stage !== 'granted') return true;
    const unblocked = (edges[call.index] ?? []).every((index) => {
      const before = turn.calls[index];
      return before !== undefined && isOver(run, before);
    });
    if (!unblocked || started >= free) return false;
    if (call.stage === 'granted' && !hasLane(run, call, executing)) return false;
    started += 1;
    return true;
  });
}

/** Its tool is at work, or has just come back. */
function isExecuting(call: Call): boolean {
  return (call.stage === 'executing' && call.doing !== 'record') || call.stage === 'returned';
}

/** Checks and hooks come right before a call runs (HK-22), so no more of them than calls may run. */
const PREPARED: readonly Call['stage'][] = ['checking', 'rechecked', 'hooking', 'hooked'];

function takesPlace(call: Call): boolean {
  return isExecuting(call) || call.stage === 'executing' || PREPARED.includes(call.stage);
}

/** Only concurrency-safe reads execute side by side (C17); a question to a person executes nothing. */
function hasLane(run: OpenRun, call: Call, executing: readonly Call[]): boolean {
  if (executing.length === 0 || toolOf(run, call.tool)?.kind === 'human_input') return true;
  return !isAlone(run, call) && !executing.some((other) => isAlone(run, other));
}

function isAlone(run: OpenRun, call: Call): boolean {
  const tool = toolOf(run, call.tool);
  return tool === undefined || isMutating(tool) || !tool.concurrencySafe;
}
