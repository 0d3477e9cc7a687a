/**
 * Sends a turn's ready calls along the stations, in the order of C19:
 * lookup → check → hook → permit → approve → grant → settle.
 * Invariants: hooks, permission and approval of a call happen when it is ready to run, not for all up
 * front (HK-22, PA-20); what a station refuses gets its result here.
 */
import { domainReason } from '../gates/domain-reason.js';
import type { Step } from '../step/inflight.js';
import { moneyTrip } from '../money/budget.js';
import { exceed } from '../money/exceed.js';
import type { OpenRun, Turn } from '../state/run.js';
import { stop } from '../step/stop.js';
import { DENIED_CODES } from '../state/tool-result.js';
import { leaveOut } from './leave-out.js';
import { approve } from './approve.js';
import { hear } from './ask-person.js';
import type { Call } from '../state/call.js';
import { check } from './check.js';
import { refuseCircles } from './dataflow/dataflow-edges.js';
import { supersede, unblock } from './dataflow/dataflow.js';
import { resolveDoubt } from './doubt.js';
import { escalate } from './escalate.js';
import { grant } from './grant.js';
import { heed, hook } from './hook.js';
import { lookup } from './lookup.js';
import { toolOf } from '../permission/offered-tools.js';
import { permit } from './permit.js';
import { refusalOf } from '../step/refusal.js';
import { rechecked } from './rechecked.js';
import { ready } from './schedule.js';
import { settle } from './settle.js';
import { settleCall } from './settled.js';
import { withCall, type Verdict } from '../step/station.js';

/** One step of the first call that can move; undefined when all of them wait. */
export function dispatch(run: OpenRun, turn: Turn): Step<OpenRun> | undefined {
  if (!turn.dispatched) return { run: begin(run, turn), effects: [] };
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
  const left = leaveOut(run, call);
  if (left !== undefined) return left;
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

function atStation(run: OpenRun, call: Call): Verdict {
  switch (call.stage) {
    case 'proposed': {
      const found = lookup(run, call);
      if (found.kind !== 'go') return found;
      const unblocked = unblock(run, call);
      return unblocked.kind === 'go' ? check(unblocked.run, call) : unblocked;
    }
    case 'rechecked':
      return rechecked(run, call);
    case 'checked': {
      if (toolOf(run, call.tool)?.kind === 'handoff') {
        return { kind: 'moved', step: { run: escalate(run, call), effects: [] } };
      }
      const hooked = hook(run, call);
      return hooked.kind === 'go' ? permit(hooked.run, call) : hooked;
    }
    case 'hooked':
      return heed(run, call);
    case 'waiting':
      return approve(run, call);
    case 'granted':
      return grant(run, call);
    case 'returned':
      return settle(run, call);
    case 'doubt':
      return resolveDoubt(run, call);
    case 'asking':
      return hear(run, call);
    case 'hooking':
    case 'checking':
    case 'executing':
    case 'settled':
      return { kind: 'wait' };
  }
}

type Refusal = Extract<Verdict, { kind: 'refuse' }>;

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
