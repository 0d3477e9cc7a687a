/**
 * What becomes of a call whose effect is in doubt: reconcile first, then ask a person (G82).
 * Invariant: nothing of the call runs again before somebody, or the ledger, has said that it did not happen.
 */
import { openAsk, closeAsk } from '../ask/open-ask.js';
import {
  askById,
  attemptKeyOf,
  parentKeyOf,
  withCall,
  cardOf,
  type StationResult,
  baseOf,
  outcomeOf,
} from '../step/open-work.js';
import type { Ask } from '../state/ask.js';
import { signaturesOf } from '../ask/verify.js';
import { storeWork } from '../step/clock.js';
import { refOf, type ActivityEffect, type ToolCallRef } from '../state/effect.js';
import { start } from '../step/inflight.js';
import type { Json, StoredText } from '../json/json.js';
import { follows } from '../step/changes.js';
import { precedesStore, saidClaimed } from '../step/own-store.js';
import type { NeedsTool } from '../state/payloads/payload.js';
import type { OpenRun, Step } from '../state/run.js';
import { codeOf, onQueueOf } from '../step/route.js';
import { type Call, type DoubtStage, type ReturnedStage } from '../state/call.js';
import { callRef, inlineBytesFor } from './execution.js';
import { proofsFor } from './proofs.js';
import { toolOf } from '../permission/permission.js';
import { givenText, isReferredTo } from '../dataflow/state.js';
import { settleCall, stopUnknown, unknownResult } from './result.js';

const DEFAULT_TOOL_TIMEOUT_MS = 30_000;
const RECONCILE_MARGIN_MS = 30_000;
/** Deliveries under rules without `workedTime`. */
const RECONCILE_ATTEMPTS_MAX = 20;

/** Starts finding out what became of an attempt. */
export function reconcile(run: OpenRun, call: ReturnedStage): Step<OpenRun> {
  const timeoutMs = toolOf(run, call.tool)?.timeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS;
  const effectId = `reconcile_tool-${run.nextEffect}`;
  const limits = {
    // It may wait until the claim has run out, and then lets the tool's probe answer.
    attemptMs: 2 * timeoutMs + RECONCILE_MARGIN_MS,
    heartbeatMs: run.frozen.settings.heartbeatMs.repeatable,
    maximumAttempts: follows(run, 'workedTime') ? 0 : RECONCILE_ATTEMPTS_MAX,
  };
  const started = start(run, 'reconcile_tool', (id, events): ActivityEffect => ({
    kind: 'reconcile_tool',
    id,
    input: {
      v: 1,
      run: refOf(run),
      call: lostRef(run, call),
      inlineBytesMax: inlineBytesFor(run, call),
      ...(isReferredTo(call) && { typed: true }),
      timeoutMs,
      ...(call.unserved ? { ledgerOnly: true as const } : codeToFindOut(run, call)),
      ...(run.start.task.requiredEvidence !== undefined && proofsFor(run, call)),
      events,
    },
    ...(call.unserved ? { limits } : onQueueOf(run, limits, placeOf(run, call))),
    summary: `what became of ${call.tool}`,
  }));
  return {
    run: withCall(started.run, working(call, effectId, 'reconcile')),
    effects: started.effects,
  };
}

/** Where the call went. */
function placeOf(run: OpenRun, { tool, grant }: ReturnedStage) {
  return follows(run, 'sandboxQueues') ? { tool, grant } : { tool };
}

/** With what is known of the attempt beside the ledger. */
function lostRef(run: OpenRun, call: ReturnedStage): ToolCallRef {
  return {
    ...callRef(run, call),
    ...(precedesStore(run, call) && { inDoubt: true }),
    ...(saidClaimed(run, call) && { claimed: true }),
  };
}

/** A tool that can neither tell nor be called again with its key is of no use here: a person is asked at once. */
function codeToFindOut(run: OpenRun, { tool: name }: Call): NeedsTool {
  const tool = toolOf(run, name);
  const { probes = false, onLost = probes ? 'probe' : 'ask' } = tool ?? {};
  return onLost === 'ask' ? {} : codeOf(run, name);
}

function working(
  call: ReturnedStage | DoubtStage,
  effectId: string,
  doing: 'reconcile' | 'record',
): Extract<Call, { stage: 'executing' }> {
  return {
    ...baseOf(call),
    ...parentKeyOf(call),
    stage: 'executing',
    grant: call.grant,
    effectId,
    doing,
    startedAt: call.startedAt,
    boundByRun: false,
  };
}

/**
 * Somebody has said of all attempts of a call that they did nothing. A fork that does not know the key of
 * each attempt of the recorded run keeps the doubt: nobody was asked about those.
 */
export function withoutDoubt(run: OpenRun, call: ReturnedStage): ReturnedStage {
  const isHeard = run.forked === undefined || run.forked.keysKnown === true;
  if (!isHeard || !follows(run, 'nothingDoneHeard')) return call;
  const { inDoubt: _, ...known } = call;
  return known;
}

/** Parks the call and asks a person what happened. */
export function doubt(run: OpenRun, call: ReturnedStage, message: string): Step<OpenRun> {
  const tool = toolOf(run, call.tool);
  const approval = typeof tool?.approval === 'object' ? tool.approval : { roles: [] };
  const id = askIdOf(run, call);
  const { caller } = run.start.task;
  const asked = openAsk(run, {
    id,
    kind: 'outcome',
    callKey: call.callKey,
    callId: call.id,
    tool: call.tool,
    toolVersion: call.toolVersion,
    args: call.args,
    question: `Did ${call.tool} with key ${attemptKeyOf(run, call)} take effect? ${message}`.slice(
      0,
      500,
    ),
    digest: call.digest,
    ...cardOf(run, tool),
    roles: approval.roles,
    quorum: 1,
    // Their word decides whether it is done again, for them.
    ...(caller !== undefined && follows(run, 'othersWitness') && { requestedBy: caller }),
    expiresInMs: run.frozen.settings.inputTimeoutMs,
    onExpiry: 'stop',
  });
  const parked: DoubtStage = {
    ...baseOf(call),
    ...parentKeyOf(call),
    stage: 'doubt',
    grant: call.grant,
    askId: id,
    startedAt: call.startedAt,
  };
  return { run: withCall(asked.run, parked), effects: asked.effects };
}

/** Each doubt is a question of its own. */
function askIdOf(run: OpenRun, call: ReturnedStage): string {
  const { revision, attempt, unprovenWords } = call;
  const parts = [
    `${run.runId}:${call.callKey}`,
    ...(revision > 0 ? [`r${revision}`] : []),
    'outcome',
    ...(attempt > 1 ? [String(attempt)] : []),
    ...(unprovenWords === undefined ? [] : [`u${unprovenWords}`]),
  ];
  return parts.join(':');
}

/** Station for a parked call: has somebody answered? */
export function resolveDoubt(run: OpenRun, call: DoubtStage): StationResult {
  const ask = askById(run, call.askId);
  if (ask === undefined) return { kind: 'wait' };
  const outcome = outcomeOf(ask);
  if (outcome === 'pending') return { kind: 'wait' };
  if (outcome === 'happened' || outcome === 'not_happened') {
    return { kind: 'moved', step: recordAnswer(run, call, { ask, kind: outcome }) };
  }
  const closed = closeAsk(run, ask.id, { outcome: outcome === 'expired' ? 'expired' : 'stopped' });
  const settled = settleCall(closed.run, call, unknownResult(run, call));
  return { kind: 'moved', step: { run: stopUnknown(settled, call), effects: closed.effects } };
}

interface Answer {
  readonly ask: Ask;
  readonly kind: 'happened' | 'not_happened';
}

/** The ledger learns the person's answer before the run acts on it. */
function recordAnswer(run: OpenRun, call: DoubtStage, answer: Answer): Step<OpenRun> {
  const { ask, kind } = answer;
  const value = ask.votes.at(-1)?.value;
  const closed = closeAsk(run, ask.id, { outcome: kind });
  const effectId = `record_outcome-${closed.run.nextEffect}`;
  const started = start(closed.run, 'record_outcome', (id, events): ActivityEffect => ({
    kind: 'record_outcome',
    id,
    input: {
      v: 1,
      run: refOf(run),
      call: callRef(run, call),
      answer: kind,
      ...(value !== undefined && { value }),
      by: ask.votes.map((vote) => vote.by),
      ...(run.frozen.settings.requireProof && { signed: signaturesOf(ask) }),
      events,
    },
    limits: storeWork(run, { attemptMs: RECONCILE_MARGIN_MS, maximumAttempts: 0 }),
    summary: `${kind}: ${call.tool}`,
  }));
  const recording = {
    ...working(call, effectId, 'record'),
    answer: { kind, content: textOf(call, value) },
  };
  return {
    run: withCall(started.run, recording),
    effects: [...closed.effects, ...started.effects],
  };
}

function textOf(call: Call, value: Json | undefined): StoredText {
  return value === undefined
    ? { text: 'A person confirmed that this took effect.' }
    : givenText(call, value);
}
