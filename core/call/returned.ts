/**
 * What comes back of a call that was handed over: its outcome, what became of it, what a person's word was recorded as,
 * or a failure. The call keeps it as a fact; what it means is decided when the call settles (settle.ts).
 * Invariant: decides nothing.
 */
import { baseOf, type CallFact, type ExecutingStage } from '../state/call.js';
import type {
  ExecuteToolOutput,
  ReconcileToolOutput,
  RecordOutcomeOutput,
} from '../state/effect.js';
import type { Failure } from '../state/failure.js';
import { nearTheEnd } from '../step/clock.js';
import { warn } from '../step/outbox.js';
import { withCall } from '../step/station.js';
import type { OpenRun } from '../state/run.js';
import { tellRecovery } from './recovered.js';

export function toolReturned(run: OpenRun, effectId: string, output: ExecuteToolOutput): OpenRun {
  const { outcome, attempts } = output;
  return returned(run, effectId, { fact: { kind: 'outcome', outcome }, attempts });
}

export function toolReconciled(
  run: OpenRun,
  effectId: string,
  { finding, steps }: ReconcileToolOutput,
): OpenRun {
  const told = tellRecovery(run, effectId, { steps, finding: finding.kind });
  return returned(told, effectId, { fact: { kind: 'finding', finding }, attempts: 0 });
}

/** A key was revoked after the run had believed it: from now on the run knows, and asks again (settle.ts). */
export function outcomeRecorded(
  before: OpenRun,
  id: string,
  { unproven, finding, steps }: RecordOutcomeOutput,
): OpenRun {
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
  const call = executing(run, effectId);
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

/** The activity failed; when it was not for a call, nothing follows. */
export function handedOverFailed(run: OpenRun, effectId: string, failure: Failure): OpenRun {
  const call = executing(run, effectId);
  if (call === undefined) return run;
  const outOfTime = call.boundByRun && failure.timedOut === true && nearTheEnd(run);
  return returned(run, effectId, {
    fact: { kind: 'failure', doing: call.doing, failure, outOfTime },
    attempts: call.doing === 'execute' ? (failure.attempts ?? 1) : 0,
  });
}

function executing(run: OpenRun, effectId: string): ExecutingStage | undefined {
  return run.turn?.calls.find(
    (one): one is ExecutingStage => one.stage === 'executing' && one.effectId === effectId,
  );
}
