/**
 * `receive(run, input)`: records a fact.
 * Invariants:
 *  F1 Total: an unknown or late input becomes a warning, never an exception.
 *  F2 Decides nothing: what a fact leads to is a rule's business.
 *  F3 Inputs are taken in the order of their arrival.
 */
import { opened } from './arrival.js';
import { recordAnswer } from '../ask/answer.js';
import { record, recordWaiting } from '../ask/decide.js';
import { tellRefusal } from '../ask/told.js';
import { replaceAsk } from '../step/pending.js';
import { withVerdict } from '../step/verdict.js';
import { follows } from '../step/changes.js';
import { type CallFact, type ExecutingStage, baseOf } from '../state/call.js';
import { callChecked, callNotChecked } from '../call/recheck.js';
import { tellRecovery } from '../call/recovered.js';
import { withCall } from '../step/station.js';
import { creditWork, elapse, nearTheEnd } from '../step/clock.js';
import { compacted, notCompacted } from '../context/compacted.js';
import { control, modelNotResolved, modelResolved } from './control.js';
import { sha256Hex } from '../json/digest.js';
import type { CloseRunOutput, RecordOutcomeOutput } from '../state/effect.js';
import type { Failure } from '../state/failure.js';
import { hooksFailed, hooksRan } from '../hooks/ran.js';
import { finish } from '../step/inflight.js';
import type { EffectInput, Input, OutsideInput } from '../state/input.js';
import { ownValue } from '../json/json.js';
import { callAccounted, callNotAccounted } from '../money/failed-call.js';
import { acked, warn } from '../step/outbox.js';
import { metStore } from '../step/own-store.js';
import { fitsBytes } from '../json/payload-size.js';
import { closedResult, resultOf } from './run-result.js';
import { isOpen, UNPROCESSED_MAX, type InFlight, type OpenRun, type Run } from '../state/run.js';
import { sessionSaved } from '../session/carry.js';
import { stop } from '../step/stop.js';
import { recordModelFailure } from '../turn/failed-call.js';
import { recordReply } from '../turn/reply.js';
import { messagesNotStored, messagesStored } from '../turn/store-messages.js';

export const QUEUE_MAX = 100;
/** Of all queued messages together: they are carried over continue-as-new. */
export const QUEUE_BYTES_MAX = 65_536;
/** Longer ids are remembered by their digests. */
const SEEN_ID_CHARS_MAX = 64;
const SEEN_IDS_MAX = 200;

export function receive(run: Run, input: Input): Run {
  const now = elapse(run, input.at);
  if (input.type === 'segment_full') {
    return { ...now, segment: { ...now.segment, full: true } };
  }
  return 'id' in input && input.type !== 'user_message'
    ? ofEffect(now, input)
    : fromOutside(now, input as OutsideInput);
}

function ofEffect(run: Run, input: EffectInput): Run {
  const entry = ownValue(run.inflight, input.id);
  if (entry === undefined) {
    return warn(run, 'late_input', `${input.type} of ${input.id}, which is not in flight`);
  }
  const ended = creditWork(finish(run, input.id), entry, workOf(input));
  const heard = 'output' in input ? acked(ended, input.output.eventsUpTo) : ended;
  if (input.type === 'run_opened') return recordWaiting(opened(heard, input.output));
  if (input.type === 'effect_failed' && entry.kind === 'open_run')
    return notOpened(heard, input.failure);
  if (!isOpen(heard)) {
    return input.type === 'timer_fired'
      ? heard
      : warn(heard, 'early_input', `${input.type} before the run was opened`);
  }
  if (input.type === 'effect_failed') {
    return failed(heard, { id: input.id, kind: entry.kind, failure: input.failure });
  }
  return recordOutcome('output' in input ? metStore(heard, input.output.store) : heard, input);
}

/** An activity that says nothing of its work did none: a cancelled one that no worker had, for instance. */
function workOf(input: EffectInput): number {
  if ('output' in input) return input.output.workedMs ?? 0;
  return input.type === 'effect_failed' ? (input.failure.workedMs ?? 0) : 0;
}

type Outcome = Exclude<EffectInput, { type: 'run_opened' | 'effect_failed' }>;

function recordOutcome(run: OpenRun, input: Outcome): Run {
  switch (input.type) {
    case 'model_replied':
      return recordReply(run, input.id, input.output);
    case 'tool_returned':
      return returned(run, input.id, {
        fact: { kind: 'outcome', outcome: input.output.outcome },
        attempts: input.output.attempts,
      });
    case 'tool_reconciled': {
      const { finding, steps } = input.output;
      const told = tellRecovery(run, input.id, { steps, finding: finding.kind });
      return returned(told, input.id, { fact: { kind: 'finding', finding }, attempts: 0 });
    }
    case 'outcome_recorded':
      return outcomeRecorded(run, input.id, input.output);
    case 'call_checked':
      return callChecked(run, input.id, input.output);
    case 'hooks_ran':
      return hooksRan(run, input.id, input.output);
    case 'compacted':
      return compacted(run, input.id, input.output);
    case 'model_resolved':
      return modelResolved(run, input.output);
    case 'call_accounted':
      return callAccounted(run, input.output);
    case 'flushed':
      return messagesStored(run, input.id, input.output);
    case 'run_closed':
      return ended(closed(run, input.output));
    case 'timer_fired':
      return timedOut(run, input.id);
  }
}

function notOpened(run: Run, failure: Failure): Run {
  if (isOpen(run)) {
    const warned = warn(run, 'segment_not_archived', failure.message);
    return { ...warned, segment: { ...run.segment, opened: true } };
  }
  if (failure.cancelled && run.interrupt !== undefined) {
    const reason = run.interrupt === 'interrupt' ? 'interrupted' : 'aborted';
    const stopped = stop(run, reason, { phase: 'before_model' });
    const result = resultOf(stopped, stopped.stopping!);
    return { ...stopped, final: { kind: 'result', result, cancelled: reason === 'aborted' } };
  }
  return { ...run, final: { kind: 'refused', code: failure.code, message: failure.message } };
}

/** A key was revoked after the run had believed it: from now on the run knows, and asks again (settle.ts). */
function outcomeRecorded(
  before: OpenRun,
  id: string,
  { unproven, finding, steps }: RecordOutcomeOutput,
): Run {
  const run = tellRecovery(before, id, { steps, finding: finding?.kind });
  if (finding !== undefined) {
    return returned(run, id, { fact: { kind: 'finding', finding }, attempts: 0 });
  }
  if (unproven === undefined) return returned(run, id, { attempts: 0 });
  const told = { ...run, deskKeys: unproven.deskKeys };
  return returned(told, id, { fact: { kind: 'unproven' }, attempts: 0 });
}

interface Return {
  /** undefined: what the executing stage says was being recorded. */
  readonly fact?: CallFact;
  readonly attempts: number;
}

function returned(run: OpenRun, effectId: string, back: Return): OpenRun {
  const call = run.turn?.calls.find(
    (one): one is ExecutingStage => one.stage === 'executing' && one.effectId === effectId,
  );
  if (call === undefined) return warn(run, 'late_input', `${effectId} belongs to no call`);
  const fact = back.fact ?? recordedFact(call);
  return withCall(run, {
    ...baseOf(call),
    attempts: call.attempts + back.attempts,
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

interface Failed {
  readonly id: string;
  readonly kind: InFlight['kind'];
  readonly failure: Failure;
}

function failed(run: OpenRun, { id: effectId, kind, failure }: Failed): Run {
  const call = run.turn?.calls.find(
    (one): one is ExecutingStage => one.stage === 'executing' && one.effectId === effectId,
  );
  if (call !== undefined) {
    const outOfTime = call.boundByRun && failure.timedOut === true && nearTheEnd(run);
    return returned(run, effectId, {
      fact: { kind: 'failure', doing: call.doing, failure, outOfTime },
      attempts: call.doing === 'execute' ? (failure.attempts ?? 1) : 0,
    });
  }
  if (kind === 'call_model') return recordModelFailure(run, effectId, failure);
  if (kind === 'check_call') return callNotChecked(run, effectId, failure);
  if (kind === 'run_hooks') return hooksFailed(run, effectId, failure);
  if (kind === 'compact') return notCompacted(run, effectId, failure);
  if (kind === 'resolve_model') return modelNotResolved(run, failure);
  if (kind === 'account_call') return callNotAccounted(run);
  if (kind === 'flush') return messagesNotStored(run, effectId, failure);
  // What a cancelled close did not store is stored by the next one.
  if (kind === 'close_run' && !failure.cancelled) return ended(run);
  return run;
}

function closed(run: OpenRun, { head, session, transcript }: CloseRunOutput): OpenRun {
  const { stopping } = run;
  const told = stopping && transcript !== undefined && { stopping: { ...stopping, transcript } };
  return sessionSaved({ ...run, ...told, head, pending: [] }, session);
}

function ended(run: OpenRun): Run {
  const { stopping } = run;
  if (stopping?.result === undefined) return run;
  const cancelled = stopping.reason === 'aborted';
  const result = closedResult(run, stopping.result);
  return { ...run, final: { kind: 'result', result, cancelled } };
}

function timedOut(run: OpenRun, timer: string): Run {
  const escalating = run.asks.find((one) => one.escalation?.timer === timer);
  if (escalating?.escalation !== undefined) {
    const escalation = { ...escalating.escalation, state: 'due' } as const;
    return replaceAsk(run, { ...escalating, escalation });
  }
  const ask = run.asks.find((one) => one.timer === timer);
  return ask === undefined || ask.outcome !== 'pending'
    ? run
    : replaceAsk(run, { ...ask, elapsed: true });
}

function fromOutside(run: Run, input: OutsideInput): Run {
  if (run.stopping !== undefined && input.type !== 'cancel_requested') return tooLate(run, input);
  switch (input.type) {
    case 'decision': {
      const { decision, ticket } = input;
      const recorded = record(run, decision, ticket);
      const { verdict } = recorded;
      return verdict === undefined ? recorded.run : withVerdict(recorded.run, ticket, verdict);
    }
    case 'input_provided':
      return recordAnswer(run, input);
    case 'user_message':
      return queued(run, input);
    case 'interrupt':
      return { ...run, interrupt: 'interrupt' };
    case 'cancel_requested':
      return { ...run, interrupt: run.interrupt ?? 'cancel' };
    case 'close':
      return run.idle
        ? { ...run, closeRequested: true }
        : { ...run, interrupt: run.interrupt ?? 'cancel' };
    case 'set_model':
    case 'set_permission_mode':
    case 'set_max_thinking_tokens':
      return control(run, input);
    case 'input_rejected':
      return warn(run, `rejected_${input.message}`, input.reason);
  }
}

function queued(run: Run, input: Extract<OutsideInput, { type: 'user_message' }>): Run {
  const { id, text } = input;
  const seen = id === undefined ? undefined : seenForm(id);
  if (seen !== undefined && run.seenMessageIds.includes(seen)) return run;
  if (run.queue.length >= QUEUE_MAX || !fitsBytes([...run.queue, { text }], QUEUE_BYTES_MAX)) {
    return warn(run, 'message_dropped', `${run.queue.length} messages are waiting already`);
  }
  const seenMessageIds =
    seen === undefined ? run.seenMessageIds : [...run.seenMessageIds, seen].slice(-SEEN_IDS_MAX);
  return { ...run, seenMessageIds, queue: [...run.queue, { text }] };
}

function seenForm(id: string): string {
  return id.length <= SEEN_ID_CHARS_MAX ? id : `sha256:${sha256Hex(id)}`;
}

/** Closing has begun: the input is named in the result, its sender is told (G98). */
function tooLate(run: Run, input: OutsideInput): Run {
  const unprocessed = [...run.unprocessed, input.type].slice(0, UNPROCESSED_MAX);
  const next = { ...run, unprocessed };
  if (input.type !== 'decision') return next;
  const refusal = { reason: 'run_closing', message: 'the run is ending' } as const;
  const told = follows(run, 'toldDecisions') ? tellRefusal(next, input.decision, refusal) : next;
  return withVerdict(told, input.ticket, { accepted: false, ...refusal });
}
