/**
 * Sends a turn's calls along the stations, in the order of C19: lookup → check → hook → permit → approve → grant →
 * settle. One scheduler decides which calls may go on now; modes differ only in the edges that they draw between calls
 * (C17): serial to the previous one, batched to the last that needs the lane for itself, dataflow by what a call needs.
 * Invariants: a call moves only when all its predecessors are settled; hooks, permission and approval happen when a call
 * is ready to run, not for all up front; at most `maxParallelToolCalls` execute at once; what is not a
 * concurrency-safe read executes alone; proposal order decides ties; what a station refuses gets its result here.
 */
import { only } from '../step/inflight.js';
import { domainReason } from '../gates/domain-reason.js';
import { moneyTrip } from '../money/budget.js';
import { exceed } from '../money/exceed.js';
import { toolOf } from '../permission/permission.js';
import type { Call } from '../state/call.js';
import type { OpenRun, Turn, Step } from '../state/run.js';
import { DENIED_CODES } from '../state/tool-result.js';
import { isMutating } from '../state/tool.js';
import { refusalOf } from './refusal.js';
import { type StationResult, withCall } from '../step/open-work.js';
import { stop } from '../step/stop.js';
import { isOver, settleCall } from './result.js';
import { approve } from './approve.js';
import { hear } from './ask-person.js';
import { check, heed, hook, leaveOut, lookup, permit } from './admission.js';
import { dataflowEdges, refuseCircles } from './dataflow/dataflow-edges.js';
import { supersede, unblock } from './dataflow/dataflow.js';
import { resolveDoubt } from './doubt.js';
import { follows } from '../step/changes.js';
import { escalate } from './escalate.js';
import { subAgentOf } from './child-slice.js';
import { grant } from './execution.js';
import { leaveToNext } from './hand-over.js';
import { rechecked } from './after-argument-check.js';
import { settle } from './after-return.js';
import { checkAgain } from './argument-check.js';
import { isTrying } from './quick.js';

/** One step of the first call that can move; undefined when all of them wait. */
export function dispatch(run: OpenRun, turn: Turn): Step<OpenRun> | undefined {
  if (!turn.dispatched) return only(begin(run, turn));
  if (run.quick !== undefined && isTrying(run)) return undefined;
  const flows = run.frozen.settings.toolExecution === 'dataflow';
  const superseded = flows ? supersede(run, turn) : undefined;
  if (superseded !== undefined) return superseded;
  for (const call of ready(run, turn)) {
    const step = advanceCall(run, call);
    if (step !== undefined) return step;
  }
  return undefined;
}

/** The budgets are looked at once more between the reply and its first tool (C7); then a step begins. */
function begin(run: OpenRun, turn: Turn): OpenRun {
  const tripped = moneyTrip(run);
  if (tripped !== undefined) return exceed(run, tripped);
  const begun = { ...turn, dispatched: true };
  const flows = run.frozen.settings.toolExecution === 'dataflow';
  return {
    ...run,
    phase: 'dispatching_tools',
    turn: flows ? refuseCircles(run, begun) : begun,
    tally: { ...run.tally, step: run.tally.step + 1 },
  };
}

function advanceCall(run: OpenRun, call: Call): Step<OpenRun> | undefined {
  const left = run.wrapUp === undefined ? undefined : leaveOut(run, call);
  if (left !== undefined) return left;
  const passed = run.handoff && leaveToNext(run, call);
  if (passed !== undefined) return passed;
  const verdict = atStation(run, call);
  switch (verdict.kind) {
    case 'wait':
      return undefined;
    case 'moved':
      return verdict.step;
    case 'go':
      return { run: withCall(verdict.run, verdict.call), effects: verdict.effects ?? [] };
    case 'refuse':
      return { run: refused(verdict.run ?? run, call, verdict), effects: verdict.effects ?? [] };
  }
}

function atStation(run: OpenRun, call: Call): StationResult {
  switch (call.stage) {
    case 'proposed': {
      const found = lookup(run, call);
      if (found.kind !== 'go') return found;
      const unblocked = call.flow === undefined ? found : unblock(run, call);
      return unblocked.kind === 'go' ? check(unblocked.run, call) : unblocked;
    }
    case 'rechecked':
      return rechecked(run, call);
    case 'checked': {
      if (toolOf(run, call.tool)?.kind === 'handoff' && !follows(run, 'grantedHandoffs')) {
        return { kind: 'moved', step: only(escalate(run, call)) };
      }
      const hooked = hook(run, call);
      return hooked.kind === 'go' ? permit(hooked.run, call) : hooked;
    }
    case 'hooked':
      return heed(run, call);
    case 'waiting':
      return approve(run, call);
    case 'granted':
      return call.outdated ? checkAgain(run, call) : grant(run, call);
    case 'returned':
      return settle(run, call);
    case 'doubt':
      return resolveDoubt(run, call);
    case 'asking':
      return hear(run, call);
    case 'hooking':
    case 'checking':
    case 'executing':
    case 'delegated':
    case 'settled':
      return { kind: 'wait' };
  }
}

type Refusal = Extract<StationResult, { kind: 'refuse' }>;

function refused(run: OpenRun, call: Call, refusal: Refusal): OpenRun {
  const { code, terminal } = refusal;
  const settled = settleCall(run, call, refusalOf(run, call, refusal));
  const { onDeny, onInvalid } = run.frozen.settings;
  if (DENIED_CODES.includes(code)) {
    return terminal || onDeny === 'refuse'
      ? stop(settled, 'refused', { detail: domainReason(run, refusal.message) ?? 'denied_action' })
      : settled;
  }
  return onInvalid === 'refuse'
    ? stop(settled, 'refused', {
        detail: code === 'invalid_arguments' ? 'invalid_tool_input' : 'tool_not_allowed',
      })
    : settled;
}

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
  if (call.stage === 'executing') return call.doing !== 'record';
  return call.stage === 'delegated' || call.stage === 'returned';
}

/** Checks and hooks come right before a call runs, so no more of them than calls may run. */
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
  if (tool?.kind === 'subagent') return subAgentOf(run, tool, call.args).agent?.parallel !== true;
  return tool === undefined || isMutating(tool) || !tool.concurrencySafe;
}
