/**
 * Station 6: the last check before a call is handed to an executor (C7, CI-2).
 * Invariant: `execute_tool` starts only here, from a granted call, within every budget.
 */
import { workLimits } from '../step/effect-limits.js';
import { refOf, type ActivityEffect, type ToolCallRef } from '../state/effect.js';
import { INLINE_BYTES_MAX } from '../json/json.js';
import { proofsFrom } from '../gates/evidence.js';
import { type Proof } from '../state/task.js';
import { start } from '../step/inflight.js';
import { trip } from '../money/budget.js';
import { exceed } from '../money/exceed.js';
import { emit } from '../step/outbox.js';
import type { OpenRun } from '../state/run.js';
import { codeOf } from '../step/served-code.js';
import { retryFor, type ToolRecord } from '../state/tool.js';
import { askPerson } from './ask-person.js';
import { baseOf, wasHandedOver, type Call, type GrantedStage } from '../state/call.js';
import { keyOf } from '../step/call-key.js';
import { isReferredTo, STATE_INLINE_BYTES_MAX } from '../dataflow/state.js';
import { toolOf } from '../permission/offered-tools.js';
import { refuse, withCall, type Verdict } from '../step/station.js';

/** Deliveries of repeatable work under rules without `workedTime`. */
const TOOL_ATTEMPTS_MAX = 20;
/** What an activity may need beyond the tool's own timeout: claim, grace after a cancel, record. */
const ACTIVITY_MARGIN_MS = 20_000;
/** All results of one turn together stay below this inline. */
const INLINE_BYTES_PER_TURN = 16_384;

export function grant(run: OpenRun, call: GrantedStage): Verdict {
  const tool = toolOf(run, call.tool);
  if (tool === undefined) return refuse('unknown_tool', `The tool ${call.tool} is gone.`);
  // A question to a person is no tool call, so their number does not limit it.
  const asks = tool.kind === 'human_input';
  const tripped = trip(run, asks || wasHandedOver(call) ? 'before_restart' : 'before_call');
  if (tripped !== undefined) {
    return { kind: 'moved', step: { run: exceed(run, tripped), effects: [] } };
  }
  return { kind: 'moved', step: asks ? askPerson(run, call) : execute(run, call, tool) };
}

function execute(run: OpenRun, call: GrantedStage, tool: ToolRecord) {
  const announced = emit(run, {
    type: 'tool_started',
    callId: call.id,
    tool: call.tool,
    key: keyOf(run, call),
    args: call.args,
  });
  const counted: OpenRun = wasHandedOver(call)
    ? announced
    : { ...announced, tally: { ...run.tally, toolCalls: run.tally.toolCalls + 1 } };
  const repeatable = retryFor(tool) !== 'single';
  const { limits, workMs, byRun } = workLimits(run, {
    attemptMs: tool.timeoutMs + ACTIVITY_MARGIN_MS,
    ownMs: 'unlimited',
    heartbeatMs: run.frozen.settings.heartbeatMs[repeatable ? 'repeatable' : 'single'],
    deliveriesMax: TOOL_ATTEMPTS_MAX,
    once: !repeatable,
  });
  const started = start(counted, 'execute_tool', (id, events): ActivityEffect => ({
    kind: 'execute_tool',
    id,
    input: {
      v: 1,
      run: refOf(run),
      call: callRef(run, call),
      grant: call.grant,
      timeoutMs: tool.timeoutMs,
      ...(workMs !== undefined && { workMs }),
      ...codeOf(run, call.tool),
      inlineBytesMax: inlineBytesFor(run, call),
      ...(isReferredTo(call) && { typed: true }),
      maxRetries: run.frozen.budget.maxRetriesPerToolCall,
      ...proofsFor(run, call),
      events,
    },
    limits,
    summary: call.tool,
  }));
  const effectId = `execute_tool-${counted.nextEffect}`;
  const executing: Call = {
    ...baseOf(call),
    stage: 'executing',
    handedOver: true,
    grant: call.grant,
    effectId,
    doing: 'execute',
    startedAt: run.now,
    boundByRun: byRun,
  };
  return { run: withCall(started.run, executing), effects: started.effects };
}

/** Proofs that only the activity can judge when the result is large. */
export function proofsFor(run: OpenRun, { tool, flow }: Call): { proofs?: readonly Proof[] } {
  const proofs = proofsFrom(run, { tool, path: flow?.outputPath });
  return proofs.length === 0 ? {} : { proofs };
}

/** The call as activities get it. */
export function callRef(run: OpenRun, call: Call): ToolCallRef {
  return {
    callId: call.id,
    callKey: call.callKey,
    key: keyOf(run, call),
    tool: call.tool,
    toolVersion: call.toolVersion,
    args: call.args,
    digest: call.digest,
    attempt: call.attempt,
    ...(call.inDoubt !== undefined && { inDoubt: call.inDoubt }),
  };
}

/** The more calls a turn has, the less of each result lies in the run (R1). */
export function inlineBytesFor(run: OpenRun, call: Call): number {
  const calls = run.turn?.calls.length ?? 1;
  const fair = Math.max(64, Math.min(INLINE_BYTES_MAX, Math.floor(INLINE_BYTES_PER_TURN / calls)));
  return isReferredTo(call) ? Math.min(fair, STATE_INLINE_BYTES_MAX) : fair;
}
