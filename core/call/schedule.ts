/**
 * One scheduler: which calls of a turn may go on now. Modes differ only in the edges that they draw
 * between calls; serial draws one to the previous call.
 * Invariants: a call starts only when all its predecessors are settled; at most `maxParallelToolCalls`
 * execute at once; proposal order decides ties.
 */
import type { OpenRun, Turn } from '../run.js';
import { isOver } from './after.js';
import type { Call } from './call.js';

/** For each call the indices of the calls that must be settled before it. */
type Edges = (turn: Turn) => readonly (readonly number[])[];

const serialEdges: Edges = (turn) =>
  turn.calls.map((call) => (call.index === 0 ? [] : [call.index - 1]));

const EDGES: { readonly [mode in OpenRun['frozen']['settings']['toolExecution']]: Edges } = {
  serial: serialEdges,
  batched: serialEdges,
  dataflow: serialEdges,
};

/** Calls under way or ready, in proposal order. */
export function ready(run: OpenRun, turn: Turn): readonly Call[] {
  const edges = EDGES[run.frozen.settings.toolExecution](turn);
  const free = run.frozen.budget.maxParallelToolCalls - turn.calls.filter(isExecuting).length;
  let started = 0;
  return turn.calls.filter((call) => {
    if (call.stage === 'settled') return false;
    if (call.stage !== 'proposed' && call.stage !== 'granted') return true;
    const unblocked = (edges[call.index] ?? []).every((index) => {
      const before = turn.calls[index];
      return before !== undefined && isOver(run, before);
    });
    if (!unblocked || started >= free) return false;
    started += 1;
    return true;
  });
}

function isExecuting(call: Call): boolean {
  return call.stage === 'executing' || call.stage === 'returned';
}
