/**
 * The way of a run from one agent to the next (G66). The call was granted (call/hand-over.ts); here its turn is over.
 * Invariants: nothing is in flight and every message is stored when the segment ends; budgets, counters, evidence, state and
 * what the start says go on; nothing that people allowed the agent before is left to the next one; the run is announced
 * once, so that the next agent is told by the event `handoff`.
 */
import { previewOf } from '../json/json.js';
import type { Arrival } from '../state/arrival.js';
import type { OpenRunOutput } from '../state/effect.js';
import type { Failure } from '../state/failure.js';
import type { Frozen } from '../state/frozen.js';
import { isOpen, type OpenRun, type Run } from '../state/run.js';
import type { Ruling } from '../step/advance.js';
import { appendUser, contextAtFirst, inBytes } from '../step/conversation.js';
import { flying, only, WORK } from '../step/inflight.js';
import { emit } from '../step/outbox.js';
import { stop } from '../step/stop.js';
import { storeSome } from '../turn/store-messages.js';
import { startHandedRun, summaryOf } from './handed-run.js';
import { supervised, supervisorAfter } from './supervised.js';

/** Openings by workers that know no handoffs; then no worker serves the other agent. */
const MISSED_MAX = 10;

/** Rule: the turn of a granted handoff is over. */
export function handOver(run: OpenRun): Ruling<Run> {
  const { handoff } = run;
  if (handoff === undefined) return undefined;
  if (handoff.failed !== undefined) return only(notTakenOver(run, handoff.failed));
  if (handoff.starts !== undefined)
    return startHandedRun(run, { ...handoff, starts: handoff.starts });
  // A person's pause is over when they have said something.
  if (run.paused !== undefined && !handoff.due) return undefined;
  if (handoff.due || flying(run, [...WORK, 'flush'])) return 'hold';
  if (run.pending.length > 0) return storeSome(run);
  return only({
    ...run,
    handoff: { ...handoff, due: true },
    segment: { ...run.segment, full: true },
  });
}

/** Its code was waited for as long as the run allows, or its definition cannot be used. */
function notTakenOver(run: OpenRun, { code, message }: Failure): OpenRun {
  const unserved = code === 'UnknownAgent' || code === 'NotServed';
  const reason = unserved ? 'tool_unavailable' : 'failed';
  return stop(run, reason, { detail: 'handoff_failed', nextSafeAction: message });
}

/** `open_run` could not open the other agent; undefined: no handoff was due. One that a person cancelled is due again later. */
export function handoffFailed(run: Run, failure: Failure): Run | undefined {
  const { handoff } = run;
  if (handoff?.due !== true) return undefined;
  const { due: _, ...granted } = handoff;
  return {
    ...run,
    handoff: failure.cancelled ? granted : { ...granted, failed: failure },
    segment: { ...run.segment, opened: true },
  };
}

/**
 * A worker of a release without handoffs has opened the segment under the agent before: another segment asks again, a
 * bounded number of times. Undefined: no handoff was due.
 */
export function handoffMissed(run: Run): Run | undefined {
  const { handoff } = run;
  if (handoff?.due !== true) return undefined;
  const missed = (handoff.missed ?? 0) + 1;
  if (missed >= MISSED_MAX) {
    const message = `No worker opens the run under ${handoff.to}: ${missed} openings knew no handoffs. Deploy the newer release on every worker, then start again.`;
    return handoffFailed(run, { code: 'NotServed', message, attempts: missed });
  }
  const { due: _, ...granted } = handoff;
  return { ...run, handoff: { ...granted, missed } };
}

/** The run under the other agent, which is not announced yet; undefined: the segment goes on as before. */
export function takenOver(run: Run, output: OpenRunOutput): Run | undefined {
  const { frozen, handedOver, head, denied } = output;
  const { handoff } = run;
  if (handoff?.due !== true || frozen === undefined || handedOver === undefined || !isOpen(run))
    return undefined;
  const next = { ...withBudgetOf(run.frozen, frozen), ...supervisorAfter(run, frozen) };
  return {
    ...withoutWhatWasBefore(run),
    ...(run.pinned !== undefined && handoff.filter === 'all' && { pinned: run.pinned }),
    frozen: next,
    ...supervised(run, next),
    head: head ?? frozen.prompt.hash,
    context: inBytes(contextAtFirst(handedOver.bytes, handedOver.media)),
    phase: 'checking_limits',
    arrival: {
      goal: { text: previewOf({ text: run.start.task.goal }) },
      context: [],
      ...(denied !== undefined && { denied }),
      handedOver: { handoff, message: handedOver.message },
    },
  };
}

/**
 * Leave that people gave, models and schemas that were chosen, and tools that were stopped were about the agent before. Of
 * the permission modes only `plan` goes on, because every agent allows less with it.
 */
function withoutWhatWasBefore(run: OpenRun): OpenRun {
  const {
    handoff: _,
    grants: _grants,
    modelChoice: _choice,
    schemas: _schemas,
    changedTools: _changed,
    pinned: _pinned,
    permissionMode,
    ...goesOn
  } = run;
  return { ...goesOn, ...(permissionMode === 'plan' && { permissionMode }) };
}

/** What was promised to whoever started the run holds for every agent of it. */
function withBudgetOf(before: Frozen, next: Frozen): Frozen {
  const { turnCounting, timeoutCounts, persistSession, afterAnswer, requireProof } =
    before.settings;
  const { onBudget, budgetRoles } = before.settings;
  const { maxTokensPerResponse, compactionThreshold } = next.budget;
  return {
    ...next,
    ...(before.outputSchema !== undefined && { outputSchema: before.outputSchema }),
    ...(before.treeLimits !== undefined && { treeLimits: before.treeLimits }),
    budget: { ...before.budget, maxTokensPerResponse, compactionThreshold },
    settings: {
      ...next.settings,
      turnCounting,
      timeoutCounts,
      persistSession,
      afterAnswer,
      onBudget,
      budgetRoles,
      requireProof: requireProof || next.settings.requireProof,
    },
  };
}

/** In place of `session_init`: the next agent, and what it is told. */
export function announceNext(
  run: OpenRun,
  { handoff, message }: NonNullable<Arrival['handedOver']>,
  tools: readonly string[],
): OpenRun {
  const { n, callId, from, to, filter, args } = handoff;
  const told = emit(run, {
    type: 'handoff',
    to,
    by: from,
    because: summaryOf(args),
    run: {
      n,
      callId,
      from,
      filter,
      model: run.frozen.route.name,
      tools,
      versions: run.frozen.versions,
    },
  });
  return appendUser(told, message, { synthetic: true });
}
