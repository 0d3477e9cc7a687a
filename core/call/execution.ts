/**
 * The last check before a call is handed to an executor (C7, CI-2), and what comes back: its outcome, what became of it,
 * what a person's word was recorded as, or a failure. The call keeps that as a fact; after-return.ts decides what it means.
 * Invariants: `execute_tool` starts only here, from a granted call, within every budget; what comes back is recorded and
 * decides nothing.
 */
import { STATE_INLINE_BYTES_MAX, isReferredTo } from '../dataflow/state.js';
import { INLINE_BYTES_MAX } from '../json/json.js';
import { reserve, trip } from '../money/budget.js';
import { exceed } from '../money/exceed.js';
import { billCall, billLostCall, fitCall, type CallBound } from '../money/tool-cost.js';
import { toolOf } from '../permission/permission.js';
import { type Call, type CallFact, type ExecutingStage, type GrantedStage } from '../state/call.js';
import {
  refOf,
  type ActivityEffect,
  type ExecuteToolOutput,
  type ToolCallRef,
} from '../state/effect.js';
import type { Failure } from '../state/failure.js';
import type { OpenRun } from '../state/run.js';
import { retryFor, type ToolRecord } from '../state/tool.js';
import { follows } from '../step/changes.js';
import { nearTheEnd, workLimits } from '../step/clock.js';
import { start, only } from '../step/inflight.js';
import {
  keyOf,
  parentKeyOf,
  refuse,
  type StationResult,
  withCall,
  baseOf,
  wasHandedOver,
} from '../step/open-work.js';
import { emit, warn } from '../step/outbox.js';
import { codeOf, onQueueOf } from '../step/route.js';
import { askPerson } from './ask-person.js';
import { delegate } from './delegate.js';
import { escalate } from './escalate.js';
import { handOver, isHandOver } from './hand-over.js';
import { proofsFor } from './proofs.js';
import { begun, quickAttempt, ranQuickly, retriesLeft, unheardOutcome } from './quick.js';
import { tellNotes } from './tool-notes.js';

/** Deliveries of repeatable work under rules without `workedTime`. */
const TOOL_ATTEMPTS_MAX = 20;
/** What an activity may need beyond the tool's own timeout: claim, grace after a cancel, record. */
const ACTIVITY_MARGIN_MS = 20_000;
/** All results of one turn together stay below this inline. */
const INLINE_BYTES_PER_TURN = 16_384;

export function grant(run: OpenRun, call: GrantedStage): StationResult {
  const tool = toolOf(run, call.tool);
  if (tool === undefined) return refuse('unknown_tool', `The tool ${call.tool} is gone.`);
  // A question to a person is no tool call, so their number does not limit it; nor is handing over to one.
  const asks = tool.kind === 'human_input' || tool.kind === 'handoff';
  const tripped = trip(run, asks || wasHandedOver(call) ? 'before_restart' : 'before_call');
  if (tripped !== undefined) {
    return { kind: 'moved', step: only(exceed(run, tripped)) };
  }
  if (tool.kind === 'human_input') return { kind: 'moved', step: askPerson(run, call) };
  if (run.frozen.handoffTo !== undefined && isHandOver(run, call)) return handOver(run, call);
  if (tool.kind === 'handoff') return { kind: 'moved', step: only(escalate(run, call)) };
  if (tool.kind === 'subagent') return delegate(run, call, tool);
  if (tool.maxCostMicroUsd === undefined || !follows(run, 'toolCosts')) {
    return { kind: 'moved', step: execute(run, call, { tool }) };
  }
  const cost = fitCall(run, tool);
  if (cost === 'wait') return { kind: 'wait' };
  return cost === 'misfit'
    ? { kind: 'moved', step: only(exceed(run, 'max_cost')) }
    : { kind: 'moved', step: execute(run, call, { tool, cost }) };
}

interface Executor {
  readonly tool: ToolRecord;
  readonly cost?: CallBound;
}

function execute(run: OpenRun, call: GrantedStage, { tool, cost }: Executor) {
  const counted = announce(run, call);
  const repeatable = retryFor(tool) !== 'single';
  const { limits, workMs, byRun } = workLimits(run, {
    attemptMs: tool.timeoutMs + ACTIVITY_MARGIN_MS,
    ownMs: 'unlimited',
    heartbeatMs: run.frozen.settings.heartbeatMs[repeatable ? 'repeatable' : 'single'],
    deliveriesMax: TOOL_ATTEMPTS_MAX,
    once: !repeatable,
  });
  const quick = tool.quick && quickAttempt(run, call, tool);
  const effectId = `execute_tool-${counted.nextEffect}`;
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
      ...(call.flow !== undefined && isReferredTo(call) && { typed: true }),
      maxRetries:
        call.elsewhere === undefined
          ? run.frozen.budget.maxRetriesPerToolCall
          : retriesLeft(run, call),
      ...(run.start.task.requiredEvidence !== undefined && proofsFor(run, call)),
      ...(cost !== undefined && { cost }),
      ...(run.forked !== undefined && { forked: true as const }),
      ...(quick && { quick: { effectId, ms: quick.ms, ...answeredBriefly(run) } }),
      events,
    },
    ...(quick ? { limits: quick.limits, local: true } : onQueueOf(run, limits, call)),
    summary: call.tool,
  }));
  const { elsewhere, ...base } = baseOf(call);
  const executing: Call = {
    ...base,
    stage: 'executing',
    handedOver: true,
    grant: call.grant,
    effectId,
    doing: 'execute',
    startedAt: elsewhere?.startedAt ?? run.now,
    boundByRun: byRun,
  };
  const next = quick ? begun(started.run, effectId) : started.run;
  const handed = withCall(next, executing);
  const reserved = cost === undefined ? handed : reserve(handed, effectId, cost.most);
  return { run: reserved, effects: started.effects };
}

function answeredBriefly(run: OpenRun): { readonly brief?: true } {
  return follows(run, 'briefPayloads') ? { brief: true } : {};
}

/** Tells of its start, and counts it; a call that was tried quickly was told then, and one that is repeated counted. */
function announce(run: OpenRun, call: GrantedStage): OpenRun {
  if (call.elsewhere !== undefined) return run;
  const announced = emit(run, {
    type: 'tool_started',
    callId: call.id,
    tool: call.tool,
    key: keyOf(run, call),
    args: call.args,
  });
  return wasHandedOver(call)
    ? announced
    : { ...announced, tally: { ...run.tally, toolCalls: run.tally.toolCalls + 1 } };
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
    ...(call.answered !== undefined && { answered: call.answered }),
  };
}

/** The more calls a turn has, the less of each result lies in the run (R1). */
export function inlineBytesFor(run: OpenRun, call: Call): number {
  const calls = run.turn?.calls.length ?? 1;
  const fair = Math.max(64, Math.min(INLINE_BYTES_MAX, Math.floor(INLINE_BYTES_PER_TURN / calls)));
  return call.flow !== undefined && isReferredTo(call)
    ? Math.min(fair, STATE_INLINE_BYTES_MAX)
    : fair;
}

export function toolReturned(was: OpenRun, effectId: string, output: ExecuteToolOutput): OpenRun {
  const { outcome, attempts, warnings = [] } = output;
  const after = was.quick === undefined ? was : ranQuickly(was, effectId, output);
  const noted = output.notes === undefined ? after : tellNotes(after, effectId, output.notes);
  const run = warnings.reduce((next, text) => warn(next, 'evidence_unknown', text), noted);
  const back = { fact: { kind: 'outcome', outcome }, attempts } as const;
  const isCharged = output.costMicroUsd !== undefined || effectId in run.money.reserved;
  if (!isCharged || !follows(run, 'toolCosts')) return returned(run, effectId, back);
  const billed = billCall(run, effectId, output);
  return returned(billed.run, effectId, { ...back, costMicroUsd: billed.costMicroUsd });
}

export interface Return {
  /** undefined: what the executing stage says was being recorded. */
  readonly fact?: CallFact;
  readonly attempts: number;
  readonly costMicroUsd?: number;
}

/** The call that the effect is about, back with a fact. */
export function returned(run: OpenRun, effectId: string, back: Return): OpenRun {
  const call = executing(run, effectId);
  if (call === undefined) return warn(run, 'late_input', `${effectId} belongs to no call`);
  const fact = back.fact ?? recordedFact(call);
  const cost = (call.costMicroUsd ?? 0) + (back.costMicroUsd ?? 0);
  return withCall(run, {
    ...baseOf(call),
    ...parentKeyOf(call),
    attempts: call.attempts + back.attempts,
    ...(cost > 0 && { costMicroUsd: cost }),
    stage: 'returned',
    grant: call.grant,
    startedAt: call.startedAt,
    durationMs: run.now - call.startedAt,
    fact,
  });
}

function recordedFact(call: ExecutingStage): CallFact {
  const { answer } = call;
  return {
    kind: 'recorded',
    answer: answer?.kind ?? 'happened',
    content: answer?.content ?? { text: '' },
  };
}

/** The activity failed; when it was not for a call, nothing follows. */
export function handedOverFailed(run: OpenRun, effectId: string, failure: Failure): OpenRun {
  const call = executing(run, effectId);
  if (call === undefined) return run;
  const outcome = run.quick && unheardOutcome(run, effectId, failure);
  if (outcome !== undefined) {
    const after = ranQuickly(run, effectId, { outcome, durationMs: 0 });
    return returned(after, effectId, { fact: { kind: 'outcome', outcome }, attempts: 1 });
  }
  const outOfTime = call.boundByRun && failure.timedOut === true && nearTheEnd(run);
  const back: Return = {
    fact: { kind: 'failure', doing: call.doing, failure, outOfTime },
    attempts: call.doing === 'execute' ? (failure.attempts ?? 1) : 0,
  };
  if (!(effectId in run.money.reserved)) return returned(run, effectId, back);
  const billed = billLostCall(run, effectId, failure);
  return returned(billed.run, effectId, { ...back, costMicroUsd: billed.costMicroUsd });
}

function executing(run: OpenRun, effectId: string): ExecutingStage | undefined {
  return run.turn?.calls.find(
    (one): one is ExecutingStage => one.stage === 'executing' && one.effectId === effectId,
  );
}
